import { TuttiError } from '@tutti/core'
import { NetworkError } from '@tutti/net/internal'
import { describe, expect, it } from 'vitest'

import { McpError, toMcpError, toMcpNetworkError, toStatusError } from './mcp-error.ts'

const CALL = { name: 'files', phase: 'call' } as const
const CONNECT = { ...CALL, phase: 'connect' } as const

function coded(code: unknown, message = 'why', more: object = {}): Error {
  return Object.assign(new Error(message), { code, ...more })
}

describe('toMcpError', () => {
  it('toMcpError returns an error that is already converted, also as a cause', () => {
    const inner = new McpError('unreachable', 'down')
    const outer = new Error('outer', { cause: new Error('middle', { cause: inner }) })
    expect(toMcpError(outer, CALL)).toBe(inner)
    const decided = new TuttiError('EXIT_EARLY', 'enough')
    expect(toMcpError(decided, CALL)).toBe(decided)
  })

  it.each([
    ['a lost connection', coded('CONNECTION_CLOSED'), CALL, 'connection_lost', true],
    [
      'a connection that ends while connecting',
      coded('NOT_CONNECTED'),
      CONNECT,
      'unreachable',
      true,
    ],
    ['a missing connection', new Error('Not connected'), CALL, 'connection_lost', true],
    ['a timeout while connecting', coded('REQUEST_TIMEOUT'), CONNECT, 'unreachable', true],
    ['an invalid result', coded('INVALID_RESULT'), CALL, 'invalid_response', false],
    ['invalid JSON', new SyntaxError('Unexpected end'), CALL, 'invalid_response', false],
    ['an error of the server', coded(-32_603), CALL, 'rpc_error', false],
    ['a page to open', coded(-32_042), CALL, 'input_required', false],
    ['a status', coded('X', 'm', { status: 404 }), CALL, 'http_error', false],
    ['a status in its data', coded('X', 'm', { data: { status: 503 } }), CALL, 'http_error', true],
    [
      'a status in a server error',
      coded(1, 'm', { data: { status: 1 } }),
      CALL,
      'rpc_error',
      false,
    ],
    ['a thrown string', 'boom', CALL, 'invalid_response', false],
  ])('toMcpError classifies %s', (_, error, place, kind, retryable) => {
    expect(toMcpError(error, place)).toMatchObject({ kind, retryable })
  })

  it.each([
    [CALL, true, 'connection_lost', 'MCP server files ended: it exited'],
    [CONNECT, true, 'unreachable', 'Cannot connect to MCP server files: it exited'],
    [CONNECT, false, 'configuration', 'Cannot connect to MCP server files: it exited'],
  ])(
    'toMcpError explains a failure by the exit of the process (%j, %j)',
    (place, started, kind, message) => {
      const fate = { reason: 'it exited', started }
      expect(toMcpError(new Error('x'), { ...place, fate })).toMatchObject({ kind, message })
    },
  )

  it('toMcpError quotes the start of the body of an HTTP error', () => {
    const text = ` ${'x'.repeat(9_000)}`
    const error = coded('X', 'm', { status: 400, statusText: 'Bad Request', text })
    const { message } = toMcpError(error, CALL)
    expect(message).toMatch(/^MCP server files returned error 400 Bad Request: xxx/)
    expect(message.length).toBeLessThan(2_100)
  })
})

describe('toStatusError', () => {
  it('toStatusError reads the start of the body and the delay before a retry', async () => {
    const response = new Response('y'.repeat(9_000), {
      status: 429,
      headers: { 'retry-after': '7' },
    })
    const error = await toStatusError(response, 'files')
    expect(error).toMatchObject({ kind: 'http_error', retryable: true, retryAfterMs: 7_000 })
    expect(error.message).toMatch(/^MCP server files returned error 429: y+…$/)
  })
})

describe('toMcpNetworkError', () => {
  it.each([
    [new NetworkError('unreachable', 'refused'), 'unreachable'],
    [new NetworkError('lost', 'reset'), 'connection_lost'],
    [new NetworkError('invalid', 'not HTTP'), 'invalid_response'],
    [new TuttiError('TOOL_FAILED', 'Refused to connect'), 'configuration'],
  ])('toMcpNetworkError classifies %s as %s', (error, kind) => {
    expect(toMcpNetworkError(error, 'files')).toMatchObject({ kind, cause: error })
  })
})
