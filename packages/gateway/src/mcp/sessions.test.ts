import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { GatewayService } from '../service/gateway-service.ts'
import { anyone } from '../caller.ts'
import { McpSessions, SESSION_IDLE_MS } from './sessions.ts'

import type { McpServerParts } from './server.ts'

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

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

function openSessions(maxSessions = 2) {
  const clock = fakeClock()
  // NOTE: a session uses no other options before a tool is called.
  const options = {
    clock,
    logger: silentLogger,
    heartbeatMs: 15_000,
    maxBodyBytes: 1_000,
    runs: {},
  } as unknown as McpServerParts['service']['options']
  const sessions = new McpSessions(
    {
      service: new GatewayService(options),
      tools: [],
      reader: { detail: () => Promise.reject(new Error()) },
      states: {
        mint: () => Promise.reject(new Error()),
        verify: () => Promise.reject(new Error()),
      },
    },
    maxSessions,
  )
  const send = (message: object, headers: object = {}, name?: string) => {
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { ...HEADERS, ...headers },
      body: JSON.stringify(message),
    })
    return sessions.handle(request, message, { ...anyone(), name })
  }
  return {
    clock,
    async open(name?: string): Promise<string> {
      const response = await send(INITIALIZE, {}, name)
      await response.body?.cancel()
      return response.headers.get('mcp-session-id') ?? ''
    },
    async ping(sessionId: string, name?: string): Promise<number> {
      const message = { jsonrpc: '2.0', id: 1, method: 'ping' }
      const response = await send(message, { 'mcp-session-id': sessionId }, name)
      await response.body?.cancel()
      return response.status
    },
  }
}

describe('McpSessions', () => {
  it('[GW-S3] McpSessions finds sessions by their ids, and returns 404 for an unknown id', async () => {
    const { open, ping } = openSessions()
    const [one, two] = [await open(), await open()]
    expect(one).not.toBe(two)
    expect([await ping(one), await ping(two), await ping('three')]).toEqual([200, 200, 404])
  })

  it('[GW-S2] McpSessions ends the session that was idle longest to make room', async () => {
    const { clock, open, ping } = openSessions()
    const one = await open()
    await clock.advance(1)
    const two = await open()
    await clock.advance(1)
    expect(await ping(one)).toBe(200)
    await clock.advance(1)
    const three = await open()
    expect([await ping(one), await ping(two), await ping(three)]).toEqual([200, 404, 200])
  })

  it('[GW-S2] McpSessions ends no session of another key that does not have more sessions', async () => {
    const { clock, open, ping } = openSessions(8)
    const other = await open('other')
    await clock.advance(1)
    const own: string[] = []
    for (let count = 0; count < 10; count += 1) {
      own.push(await open('greedy'))
      await clock.advance(1)
    }
    expect(await ping(other, 'other')).toBe(200)
    const states = await Promise.all(own.map((id) => ping(id, 'greedy')))
    expect(states.filter((status) => status === 200)).toHaveLength(2)
  })

  it('[GW-S2] McpSessions ends a session of a key with more sessions to make room for a key with fewer', async () => {
    const { open, ping } = openSessions(4)
    const anonymous = await Promise.all([open(), open(), open(), open()])
    const late = await open('late')
    expect(await ping(late, 'late')).toBe(200)
    const states = await Promise.all(anonymous.map((id) => ping(id)))
    expect(states.filter((status) => status === 200)).toHaveLength(3)
  })

  it('McpSessions ends a session after half an hour without use', async () => {
    const { clock, open, ping } = openSessions()
    const [one, two] = [await open(), await open()]
    await clock.advance(SESSION_IDLE_MS)
    expect(await ping(one)).toBe(200)
    await clock.advance(1)
    expect([await ping(one), await ping(two)]).toEqual([200, 404])
  })
})
