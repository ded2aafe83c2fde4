/** Tests `serve()` of the built package in a child process, where Node resolves the package to `dist`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'

import { createClient } from '@tutti/client'
import { describe, expect, it } from 'vitest'

import { temporaryDirectory } from './server-process.ts'

const SCRIPT = fileURLToPath(new URL('./fixtures/serve-duet.ts', import.meta.url))

function start(args: readonly string[]) {
  const { PATH, HOME } = process.env
  return spawn(process.execPath, [SCRIPT, ...args], {
    env: { PATH, HOME, LOG_LEVEL: 'error' },
    stdio: 'pipe',
  })
}

describe('serve() of the built package', () => {
  it('serve() of the built package serves ensembles, handles no signals, and frees the port when closed', async () => {
    using data = temporaryDirectory()
    const child = start([data.path])
    const exited = once(child, 'exit')
    const errors = text(child.stderr)
    const [first] = await Promise.race([once(child.stdout, 'data'), exited])
    const [, url = '', handled] = /^(http:\S+) handles \[(.*)\]\n$/.exec(String(first)) ?? []
    expect(handled).toBe('')

    const client = createClient({ baseUrl: url })
    const { runId } = await client.runs.submit({ inputs: { piece: 'a fugue' } })
    expect(await client.runs.result(runId)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ taskName: 'violin', output: 'Played a fugue at 72' }],
    })
    const page = await fetch(url, { headers: { accept: 'text/html' } })
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ])

    const rest = text(child.stdout)
    child.stdin.end()
    expect(await exited).toEqual([0, null])
    expect([await rest, await errors]).toEqual(['closed\n', ''])
  })

  it('serve() of the built package rejects a public address without keys', async () => {
    using data = temporaryDirectory()
    const child = start([data.path, '0.0.0.0'])
    const errors = text(child.stderr)
    expect(await once(child, 'exit')).toEqual([1, null])
    expect(await errors).toContain('Cannot listen on "0.0.0.0" without keys')
  })
})
