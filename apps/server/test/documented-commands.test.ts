/** Runs the commands in the pages on submitting runs and on other agents. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { ServerProcess } from './server-process.ts'

const SUBMIT_RUNS = readPage('docs/how-to/submit-runs.md')
const OTHER_AGENTS = readPage('docs/how-to/other-agents.md')

describe('the commands of the documentation', () => {
  const home = mkdtempSync(join(tmpdir(), 'tutti-readme-'))
  let server: ServerProcess

  beforeAll(async () => {
    server = await ServerProcess.start({ TUTTI_DATA_DIR: home })
  })

  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    rmSync(home, { recursive: true })
  })

  it('The documented commands submit a run, which completes', async () => {
    const [, path = '', body = ''] =
      /localhost:7329(\/api\/runs\S*?)'? -H [^{]*?-d '([^']+)'/s.exec(SUBMIT_RUNS) ?? []
    const address = new URL(path, server.url)
    address.searchParams.set('wait', '60')
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { status, tasks } = await response.json()
    expect([response.status, status]).toEqual([200, 'COMPLETED'])
    expect(tasks.at(-1).output).toContain('AI safety: a brief\n\n- ')
  })

  it('The documented commands call the server like another agent', async () => {
    const [, path = '', body = ''] =
      /localhost:7329(\/tasks\/send) -H [^{]*?-d '([^']+)'/.exec(OTHER_AGENTS) ?? []
    const headers = { 'content-type': 'application/json' }
    const asked = await fetch(new URL(path, server.url), { method: 'POST', headers, body })
    expect(await asked.json()).toMatchObject({
      status: 'completed',
      output: expect.stringContaining('AI safety: a brief'),
    })
    const card = await fetch(new URL('/.well-known/agent-card.json', server.url))
    expect(await card.json()).toMatchObject({
      skills: expect.arrayContaining([expect.objectContaining({ id: expect.any(String) })]),
    })
  })
})

function readPage(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
}
