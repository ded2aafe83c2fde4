import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

/** Serves one request whose handler answers on the connection, with `ALREADY_SENT` loaded after another server of Hono. */
const PROGRAM = `
  import { createServer } from 'node:http'
  import { getRequestListener } from '@hono/node-server'
  getRequestListener(() => new Response())
  const { ALREADY_SENT } = await import('./src/already-sent.ts')
  const server = createServer(getRequestListener((_, { outgoing }) => {
    outgoing.writeHead(200)
    outgoing.write('first,')
    setTimeout(() => outgoing.end('last'), 50)
    return ALREADY_SENT
  }))
  server.listen(0, '127.0.0.1', async () => {
    const response = await fetch('http://127.0.0.1:' + server.address().port)
    console.log(await response.text())
    server.close()
  })`

it('ALREADY_SENT lets a route answer on its connection, also next to another server of Hono', async () => {
  const run = promisify(execFile)
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '--eval', PROGRAM]
  const { stdout, stderr } = await run(process.execPath, args, {
    cwd: new URL('..', import.meta.url),
  })
  expect({ stdout, stderr }).toEqual({ stdout: 'first,last\n', stderr: '' })
})
