import { defineTool, silentLogger, toolCatalog, Type } from '@tutti/core'
import { modelCatalog } from '@tutti/ensemble'
import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { anyone } from '../src/caller.ts'
import { McpSessions, SESSION_IDLE_MS } from '../src/mcp/mcp-sessions.ts'
import { offersOf } from '../src/mcp/offers.ts'
import { roundStates } from '../src/mcp/round-state.ts'
import { resolveControlApiOptions } from '../src/options.ts'
import { createSigner } from '../src/secrets/signer.ts'
import { INITIALIZE } from './mcp-wire.ts'
import { served } from './served.ts'

it('[S2] a session in which a call goes on is never ended, neither to make room nor as idle', async () => {
  const started = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<string>()
  const hold = defineTool({
    name: 'hold',
    description: 'Holds',
    timeoutMs: Infinity,
    input: Type.Object({}),
    execute() {
      started.resolve()
      return gate.promise
    },
  })
  await using api = await served()
  const clock = fakeClock()
  const options = resolveControlApiOptions({
    runs: api.runs,
    tools: toolCatalog([hold]),
    models: modelCatalog({}),
    clock,
    logger: silentLogger,
  })
  const desk = {
    options,
    offers: offersOf(options),
    states: roundStates([], createSigner('x'.repeat(32))),
  }
  const sessions = new McpSessions(desk, 1)
  const send = (message: object, headers: object = {}) =>
    sessions.handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      }),
      message,
      anyone(),
    )
  const first = await send(INITIALIZE)
  const headers = { 'mcp-session-id': first.headers.get('mcp-session-id') ?? '' }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hold' } }
  const response = await send(call, headers)
  await started.promise
  await expect(send(INITIALIZE)).rejects.toMatchObject({
    code: 'CONCURRENCY_LIMIT',
    retryable: true,
  })
  await clock.advance(SESSION_IDLE_MS + 1)
  const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
  expect((await send(ping, headers)).status).toBe(200)
  gate.resolve('held')
  expect(await response.text()).toContain('held')
  expect((await send(INITIALIZE)).status).toBe(200)
  await options.trail.close()
})
