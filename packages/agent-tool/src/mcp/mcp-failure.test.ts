import { TuttiError } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'
import { describe, expect, it } from 'vitest'

import { mcpFailure } from './mcp-failure.ts'

const CALL = { name: 'files', phase: 'call', fate: undefined } as const
const CONNECT = { ...CALL, phase: 'connect' } as const

function coded(code: unknown, message = 'why', more: object = {}): Error {
  return Object.assign(new Error(message), { code, ...more })
}

describe('a failure of an MCP server', () => {
  it('that is one already, or was the cause of one, is that', () => {
    const inner = new AgentError('down', { failureType: 'unreachable', retryable: true })
    const outer = new Error('outer', { cause: new Error('middle', { cause: inner }) })
    expect(mcpFailure(outer, CALL)).toBe(inner)
    const decided = new TuttiError('EXIT_EARLY', 'enough')
    expect(mcpFailure(decided, CALL)).toBe(decided)
  })

  it.each([
    ['a lost connection', coded('CONNECTION_CLOSED'), CALL, 'connection_lost', true],
    ['a lost connection before', coded('CONNECTION_CLOSED'), CONNECT, 'unreachable', true],
    ['no connection', new Error('Not connected'), CALL, 'connection_lost', true],
    ['no answer while connecting', coded('REQUEST_TIMEOUT'), CONNECT, 'unreachable', true],
    ['a result that is none', coded('INVALID_RESULT'), CALL, 'invalid_response', false],
    ['what is no JSON', new SyntaxError('Unexpected end'), CALL, 'invalid_response', false],
    ['an error of the server', coded(-32_603), CALL, 'agent_failed', false],
    ['a page to open', coded(-32_042), CALL, 'input_required', false],
    ['a status', coded('X', 'm', { status: 404 }), CALL, 'http_error', false],
    ['a status in its data', coded('X', 'm', { data: { status: 404 } }), CALL, 'http_error', false],
    [
      'a number in the data of a server',
      coded(1, 'm', { data: { status: 1 } }),
      CALL,
      'agent_failed',
      false,
    ],
    ['what is no error', 'boom', CALL, 'invalid_response', false],
    [
      'the end of a program',
      new Error('x'),
      { ...CALL, fate: 'it exited' },
      'connection_lost',
      true,
    ],
    [
      'the end of one that starts',
      new Error('x'),
      { ...CONNECT, fate: 'it exited' },
      'unreachable',
      true,
    ],
    [
      'a program that is none',
      new Error('x'),
      { ...CONNECT, fate: 'it cannot be started: no such program' },
      'configuration',
      false,
    ],
  ])('%s', (_, error, place, failureType, retryable) => {
    expect(mcpFailure(error, place)).toMatchObject({ failureType, retryable })
  })

  it('of HTTP quotes the start of what was said', () => {
    const error = coded('X', 'm', {
      status: 400,
      statusText: 'Bad Request',
      text: ` ${'x'.repeat(9_000)}`,
    })
    const { message } = mcpFailure(error, CALL)
    expect(message).toMatch(/^Agent returned error 400 Bad Request: xxx/)
    expect(message.length).toBeLessThan(2_100)
  })
})
