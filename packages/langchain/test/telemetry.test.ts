/** Tests that requests go only to the provider unless the environment enables tracing. */
import { createServer } from 'node:http'

import { expect, test } from 'vitest'

import { runScript } from './run-script.ts'

/** Script that calls a model once and prints the targets of all sockets that Node opens. */
const ONE_CALL = `
  import { subscribe } from 'node:diagnostics_channel'
  const targets = []
  subscribe('net.client.socket', ({ socket }) => {
    let connected = false
    socket.once('connect', () => {
      connected = true
      targets.push(socket.remoteAddress + ':' + socket.remotePort)
    })
    // Only the target of a connection matters, not how it ends.
    socket.once('error', (error) => connected || targets.push(String(error)))
    socket.once('lookup', (_error, _address, _family, host) => targets.push('lookup ' + host))
  })
  const { langchainModel } = await import('@tutti/langchain')
  const { anthropicStub } = await import('@tutti/langchain/testing')
  const stub = await anthropicStub(['hello'])
  const model = langchainModel('anthropic:claude-sonnet-4-5', { apiKey: 'key', baseUrl: stub.baseUrl })
  const request = { messages: [{ role: 'user', content: 'A secret question' }], tools: [], toolChoice: 'auto' }
  for await (const chunk of model.stream(request, { signal: new AbortController().signal })) {}
  await stub.close()
  const address = stub.baseUrl.slice('http://'.length)
  process.on('exit', () => console.log(JSON.stringify(targets.map((target) => target === address ? 'provider' : target))))
`

test('A call connects only to its provider', async () => {
  expect(await runScript(ONE_CALL)).toEqual(['provider'])
})

test('A LangSmith key in the environment does not enable tracing', async () => {
  expect(await runScript(ONE_CALL, { LANGSMITH_API_KEY: 'lsv2_key' })).toEqual(['provider'])
})

test('Tracing goes to the configured endpoint when the environment enables it', async () => {
  let traced = 0
  const server = createServer((_request, response) => {
    traced += 1
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const targets = await runScript(ONE_CALL, {
    LANGSMITH_TRACING: 'true',
    LANGSMITH_API_KEY: 'lsv2_key',
    LANGSMITH_ENDPOINT: `http://127.0.0.1:${port}`,
  })
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  expect(targets).toContain(`127.0.0.1:${port}`)
  expect(traced).toBeGreaterThan(0)
})
