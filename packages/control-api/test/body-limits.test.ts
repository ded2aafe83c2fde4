/** Bodies and messages with many entries or chunks are refused before they cost time, in every protocol. */
import { describe, expect, it } from 'vitest'

import { openServer } from './open-server.ts'
import { exchange, head } from './raw-exchange.ts'

const COUNT = 10_001

/** JSON with `entries` fields in one object, and a few around it. */
const fields = Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`k${index}`, 'v']))
const items = Array.from({ length: COUNT }, () => 1)
const MESSAGE = /at most 10000 fields and items, got 1\d{4}/

/** Returns text as a body in chunks of one byte each. */
function toChunks(text: string): string {
  return `${[...text].map((each) => `1\r\n${each}\r\n`).join('')}0\r\n\r\n`
}

function chunked(path: string, ...headers: readonly string[]): string {
  return head(`POST ${path} HTTP/1.1`, 'Transfer-Encoding: chunked', ...headers)
}

const JSON_TYPE = 'Content-Type: application/json'
const BODY = JSON.stringify({ inputs: { composer: 'Bach', hall: 'A' } })

describe('[GW-N22] more than 10,000 fields and items', () => {
  it.each([
    ['/api/runs', { inputs: fields }],
    ['/api/runs', { inputs: {}, webhooks: items }],
    ['/api/tools/wait/invoke', { input: { items } }],
    ['/v1/chat/completions', { model: 'band', messages: items }],
    ['/v1/responses', { model: 'band', input: items }],
    ['/api/chat', { messages: items }],
    ['/agui/band', { messages: items }],
    ['/tasks/send', { params: { items } }],
    ['/mcp', { jsonrpc: '2.0', id: 1, method: 'ping', params: { items } }],
    [
      '/a2a',
      { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { parts: items } } },
    ],
  ])('More than 10,000 fields and items are refused with their number: %s', async (path, body) => {
    await using api = await openServer({ shared: { ensembles: ['band'] } })
    const accept = 'application/json, text/event-stream'
    const response = await fetch(`${api.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', accept },
      body: JSON.stringify(body),
    })
    expect(await response.text()).toMatch(MESSAGE)
  })

  it('More than 10,000 fields and items are refused in a WebSocket message', async () => {
    await using api = await openServer()
    const socket = api.connect()
    await socket.next('hello')
    socket.send(JSON.stringify({ type: 'ping', items }))
    expect(JSON.stringify(await socket.next('error'))).toMatch(MESSAGE)
  })
})

describe('a body in chunks of one byte', () => {
  it('A body in chunks of one byte is read from the stream of Node', async () => {
    await using api = await openServer()
    const [answer] = await exchange(api.url, chunked('/api/runs', JSON_TYPE) + toChunks(BODY))
    expect(answer?.status).toBe(202)
  })

  it('A body in chunks of one byte is read where a content type may be missing', async () => {
    await using api = await openServer({ shared: { ensembles: ['band'] } })
    const body = '{"id":1,"params":{"id":"task-1"}}'
    const whole = await fetch(`${api.url}/tasks/send`, { method: 'POST', body: Buffer.from(body) })
    const [answer] = await exchange(api.url, chunked('/tasks/send') + toChunks(body))
    expect(answer?.status).toBe(whole.status)
    expect(answer?.body).toBe(await whole.text())
    expect(answer?.body).toContain('No run with ID task-1')
  })

  it.each(['/api/runs', '/a2a'])(
    'A body can have at most 50,000 fields and items: %s',
    async (path) => {
      await using api = await openServer({ shared: { ensembles: ['band'] } })
      const text = ' '.repeat(60_000) + BODY
      const [answer] = await exchange(
        api.url,
        chunked(path, JSON_TYPE, 'A2A-Version: 1.0') + toChunks(text),
      )
      expect(answer?.body).toContain(
        'must have at most 50000 chunks, got more in its first 50001 bytes',
      )
    },
  )

  it('A body that is cut off submits nothing', async () => {
    await using api = await openServer()
    const [answer] = await exchange(api.url, `${chunked('/api/runs', JSON_TYPE)}1\r\n{\r\nzz\r\n`)
    expect(answer?.status).toBe(400)
    expect((await api.runs.list({ limit: 1, offset: 0 })).runs).toEqual([])
  })
})
