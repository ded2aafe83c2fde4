/** The commands of the README of the repository, as a reader sends them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { ServerProcess } from './server-process.ts'

const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')

const SUBMITS = [
  ...README.matchAll(/localhost:7329(\/api\/runs\S*?)'? -H [^{]*?-d '([^']+)'/gs),
].map(([, path = '', body = '']) => ({ path, body }))

describe('what the README has its reader submit', () => {
  const home = mkdtempSync(join(tmpdir(), 'tutti-readme-'))
  let server: ServerProcess

  beforeAll(async () => {
    server = await ServerProcess.start({ TUTTI_DATA_DIR: home })
  })

  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    rmSync(home, { recursive: true })
  })

  it('is found in it', () => {
    expect(SUBMITS).toHaveLength(2)
  })

  it.each(SUBMITS)('is taken and comes to something: $path', async ({ path, body }) => {
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

  it('asks it as another agent does', async () => {
    const [, path = '', body = ''] =
      /localhost:7329(\/tasks\/send) -H [^{]*?-d '([^']+)'/.exec(README) ?? []
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
