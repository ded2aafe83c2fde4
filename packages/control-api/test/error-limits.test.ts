/** Requests with many problems, over every protocol: their errors are small and fast. */
import { apiKey } from '@tutti/control-api'
import { describe, expect, it } from 'vitest'

import { processorTimer } from '../../../tooling/test-kit/processor-time.ts'

import { openServer } from './open-server.ts'

/** Maximum size of an error body, in bytes. */
const MAX_BYTES = 16_384

/** Time limit of an error response in milliseconds: far longer than normal, far shorter than a stall. */
const MAX_MS = 2_000

/** A name whose JSON form has six times its size. */
const CONTROL = '\u0001'.repeat(150_000)

const many = (count: number, item: (index: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, index) => item(index))

const entries = (count: number, value: (index: number) => unknown): Record<string, unknown> =>
  Object.fromEntries(many(count, (index) => [`field${index}${'y'.repeat(40)}`, value(index)]) as [])

const BOMBS: Readonly<Record<string, unknown>> = {
  'an unknown field with a very long name': { ['x'.repeat(900_000)]: 1 },
  'a field name of control characters': { [CONTROL]: 1 },
  'many unknown fields': entries(10_000, () => 1),
  'many wrong values': { inputs: entries(10_000, (index) => index) },
  'many wrong items': { tasks: many(100_000, () => 1) },
  'many wrong tasks': { tasks: many(900, () => ({ description: '', tols: [1], name: 3 })) },
  'unknown tools in every task': {
    tasks: many(900, (index) => ({
      name: `task${index}`,
      description: 'A',
      tools: many(20, (at) => `${'n'.repeat(20)}${index}${at}`),
    })),
  },
  'unknown references to many long names': {
    tasks: many(900, (index) => ({
      name: `${'a'.repeat(300)}${index}`,
      description: 'A',
      context: [`$${'a'.repeat(40)}x`],
    })),
  },
  'many missing variables': {
    tasks: [{ description: many(60_000, (index) => `{v${index}}`).join(' ') }],
  },
  'overrides of unknown tasks': { taskOverrides: entries(900, () => ({ maxIterations: 1 })) },
  'unknown webhooks': { webhooks: many(100, (index) => `${'w'.repeat(8_000)}${index}`) },
  'an unknown ensemble with a very long name': { ensemble: 'e'.repeat(900_000) },
  'an unknown model with a very long name': {
    tasks: [{ description: 'A', model: CONTROL }],
  },
}

async function assertFast<T>(work: () => Promise<T>): Promise<T> {
  const processorMs = processorTimer()
  const result = await work()
  expect(processorMs()).toBeLessThan(MAX_MS)
  return result
}

describe('an error', () => {
  it.each(Object.keys(BOMBS))(
    '[GW-B2] An error over HTTP has at most 16 KiB for %s',
    async (name) => {
      await using api = await openServer()
      const response = await assertFast(() => api.post('/api/runs', BOMBS[name]))
      const text = await response.text()
      expect([400, 503]).toContain(response.status)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES)
      expect(JSON.parse(text)).toMatchObject({ message: expect.stringMatching(/\S/) })
    },
  )

  it.each(Object.keys(BOMBS))(
    'An error over a WebSocket has at most 16 KiB for %s',
    async (name) => {
      await using api = await openServer()
      await using socket = api.connect()
      await socket.next('hello')
      const body = BOMBS[name] as object
      const ack = await assertFast(() => {
        socket.send({ type: 'run_request', requestId: 'r-1', ...body })
        return socket.next('run_ack')
      })
      expect(ack).toMatchObject({ status: 'REJECTED', requestId: 'r-1' })
      expect(Buffer.byteLength(JSON.stringify(ack))).toBeLessThanOrEqual(MAX_BYTES)
    },
  )

  it('[GW-B1] An error counts the problems that it does not list', async () => {
    await using api = await openServer()
    const response = await api.post('/api/runs', { tasks: many(1_000, () => ({ name: 1 })) })
    const { problems, message } = (await response.json()) as {
      problems: { message: string }[]
      message: string
    }
    expect(problems.at(-1)?.message).toMatch(/^has \d+ more problems?$/)
    expect(message).toMatch(/; and \d+ more problems?$/)
  })

  const parts = many(20_000, () => ({ odd: CONTROL.slice(0, 20) }))
  const message = { messageId: 'm', role: 'ROLE_USER', parts }
  const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  const WIRES: Readonly<Record<string, { readonly path: string; readonly body: unknown }>> = {
    'A2A over JSON-RPC': { path: '/a2a', body: rpc },
    'A2A over JSON-RPC, for a very long id': { path: '/a2a', body: { ...rpc, id: CONTROL } },
    'A2A over JSON-RPC, for a very long method': {
      path: '/a2a',
      body: { ...rpc, method: CONTROL },
    },
    'A2A over REST': { path: '/a2a/v1/message:send', body: { message } },
    'the /tasks wire': { path: '/tasks/send', body: { params: { message: { parts } } } },
    'the /tasks wire over JSON-RPC': {
      path: '/tasks/send',
      body: { jsonrpc: '2.0', id: 1, params: { id: CONTROL, message: { parts } } },
    },
    'a batch over MCP': { path: '/mcp', body: parts },
    'a call over MCP': {
      path: '/mcp',
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: CONTROL, arguments: entries(10_000, () => 1) },
      },
    },
  }

  it.each(Object.keys(WIRES))('An error has at most 16 KiB on %s', async (name) => {
    await using api = await openServer()
    const { path = '', body } = WIRES[name] ?? {}
    const response = await assertFast(() =>
      fetch(`${api.url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'a2a-version': '1.0',
        },
        body: JSON.stringify(body),
      }),
    )
    const text = await response.text()
    expect(text).toMatch(/error/i)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES)
  })

  it('An error is FORBIDDEN for a caller without the scope, before its message is decoded', async () => {
    const apiKeys = [apiKey('read-key', { name: 'reader', scopes: ['runs:read'] })]
    await using api = await openServer({ apiKeys })
    await using socket = api.connect('/ws', { authorization: 'Bearer read-key' })
    await socket.next('hello')
    socket.send({ type: 'run_request', requestId: 'r-1', ...(BOMBS['many wrong tasks'] as object) })
    expect(await socket.next('run_ack')).toMatchObject({
      status: 'REJECTED',
      error: 'FORBIDDEN',
      requestId: 'r-1',
    })
    socket.send({ type: 'run_control', runId: 'run-1', action: 'cancel' })
    expect(await socket.next('run_control_ack')).toMatchObject({ status: 'REJECTED' })
  })
})
