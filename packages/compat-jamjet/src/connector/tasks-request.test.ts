import { describe, expect, test } from 'vitest'

import { createTasksRequest } from './tasks-request.ts'

const WITHOUT_LIMITS = { timeMs: Infinity, costUsd: Infinity, tokens: Infinity }

function createRequest(input: unknown, facts = {}): string {
  const request = { method: 'tasks/send', remaining: WITHOUT_LIMITS, taskId: undefined } as const
  return createTasksRequest({ ...request, input, ...facts })
}

/** Returns the text in the only part of a request. */
function readText(request: string): unknown {
  return /^\{"jsonrpc":"2.0","method":"tasks\/send","params":\{"message":\{"parts":\[\{"text":(.*)\}\]\}\}\}$/s.exec(
    request,
  )?.[1]
}

describe('[JAM-TQ1] createTasksRequest', () => {
  test('createTasksRequest equals the request of JamJet byte for byte', () => {
    expect(createRequest('hello')).toBe(
      String.raw`{"jsonrpc":"2.0","method":"tasks/send","params":{"message":{"parts":[{"text":"\"hello\""}]}}}`,
    )
    expect(createRequest({ topic: 'x' }, { method: 'tasks/sendSubscribe' })).toBe(
      String.raw`{"jsonrpc":"2.0","method":"tasks/sendSubscribe","params":{"message":{"parts":[{"text":"{\"topic\":\"x\"}"}]}}}`,
    )
  })

  test.each([
    [undefined, '{}'],
    [null, 'null'],
    ['', '""'],
    [7, '7'],
    [false, 'false'],
    [[], '[]'],
    [{ b: 1, a: { d: [{ z: 1, y: 2 }], c: null } }, '{"a":{"c":null,"d":[{"y":2,"z":1}]},"b":1}'],
    [{ 10: 1, 9: 2, a: 3 }, '{"10":1,"9":2,"a":3}'],
    [{ '😀': 1, '\uffee': 2, ü: 3 }, '{"ü":3,"\uffee":2,"😀":1}'],
    [{ a: undefined, b: new Date(0) }, '{"b":"1970-01-01T00:00:00.000Z"}'],
    [JSON.parse('{"__proto__":{"b":1},"a":2}'), '{"__proto__":{"b":1},"a":2}'],
    ['a"\\\n\u0001', String.raw`"a\"\\\n\u0001"`],
  ])('createTasksRequest serializes %j as %s', (input, text) => {
    expect(readText(createRequest(input))).toBe(JSON.stringify(text))
  })

  test('createTasksRequest rejects input that is not JSON', () => {
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    for (const input of [loop, Symbol('x'), () => 1]) {
      expect(() => createRequest(input)).toThrow(
        expect.objectContaining({
          failureType: 'configuration',
          retryable: false,
          message: expect.stringMatching(/^Cannot send the input, which must be JSON: ./),
        }),
      )
    }
  })
})

describe('[JAM-TQ2] optional fields', () => {
  const readMetadata = (remaining: object): unknown =>
    JSON.parse(createRequest('x', { remaining: { ...WITHOUT_LIMITS, ...remaining } })).params
      .metadata

  test.each([
    [{ timeMs: 30_000 }, undefined],
    [{ costUsd: 0.5 }, { max_cost_usd: 0.5 }],
    [
      { tokens: 99.5, timeMs: 1_000 },
      { max_tokens: 99, deadline_ms: 1_000 },
    ],
    [{ costUsd: 0, timeMs: 0 }, { max_cost_usd: 0 }],
  ])('A request with %j left sends the budget %j', (remaining, budget) => {
    const uri = 'https://tutti.dev/a2a/usage/v1'
    expect(readMetadata(remaining)).toEqual(budget === undefined ? undefined : { [uri]: budget })
  })

  test('A request sends the id of the task that asked a question', () => {
    expect(createRequest('x', { taskId: 'run-1' })).toBe(
      String.raw`{"jsonrpc":"2.0","method":"tasks/send","params":{"id":"run-1","message":{"parts":[{"text":"\"x\""}]}}}`,
    )
  })
})
