import { createHmac } from 'node:crypto'

import { defineTool, Type } from '@tutti/core'
import { expect, it } from 'vitest'

import { anyone } from '../src/caller.ts'
import { McpSessions, SESSION_IDLE_MS } from '../src/mcp/sessions.ts'
import { listTools } from '../src/mcp/listed-tools.ts'
import { roundStates } from '../src/mcp/round-state.ts'
import { GatewayService } from '../src/service/gateway-service.ts'
import { openGateway } from './open-gateway.ts'

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
}

it('[GW-S2] McpSessions never ends a session with a running call, neither to make room nor as idle', async () => {
  const calls = [1, 2].map(() => ({
    started: Promise.withResolvers<void>(),
    end: Promise.withResolvers<string>(),
  }))
  const [one, other] = [calls[0] ?? missing(), calls[1] ?? missing()]
  const hold = defineTool({
    name: 'hold',
    description: 'Holds',
    timeoutMs: Infinity,
    input: Type.Object({}),
    execute() {
      const { started, end } = calls.shift() ?? missing()
      started.resolve()
      return end.promise
    },
  })
  await using gateway = await openGateway({ tools: [hold] })
  const { clock, options } = gateway
  const parts = {
    service: new GatewayService(options),
    tools: listTools(options),
    reader: {
      list: () => Promise.reject(new Error()),
      detail: () => Promise.reject(new Error()),
    },
    states: roundStates([], {
      signingKey: (purpose) => createHmac('sha256', 'x'.repeat(32)).update(purpose).digest(),
    }),
  }
  const sessions = new McpSessions(parts, 1)
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
  await one.started.promise
  await expect(send(INITIALIZE)).rejects.toMatchObject({
    code: 'CONCURRENCY_LIMIT',
    retryable: true,
  })
  await clock.advance(SESSION_IDLE_MS + 1)
  const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
  expect((await send(ping, headers)).status).toBe(200)
  one.end.resolve('held')
  expect(await response.text()).toContain('held')
  // The ended session makes room once: the next one is in use as well.
  const second = await send(INITIALIZE)
  await send(call, { 'mcp-session-id': second.headers.get('mcp-session-id') ?? '' })
  await other.started.promise
  await expect(send(INITIALIZE)).rejects.toMatchObject({ code: 'CONCURRENCY_LIMIT' })
  other.end.resolve('held')
})

function missing(): never {
  throw new Error('The tool was called too often')
}
