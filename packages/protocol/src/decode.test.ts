import Type from 'typebox'
import { Settings } from 'typebox/system'
import { afterEach, describe, expect, it } from 'vitest'
import {
  decode,
  decodeClientMessage,
  decodeLoggedRunEvent,
  decodeRunEvent,
  decodeServerMessage,
} from './decode.ts'
import { MAX_PROBLEMS } from './problems/describe-problems.ts'
import { ListRunsQuery } from './schemas/rest/runs.ts'
import { SubmitRunBody } from './schemas/rest/submit-run.ts'
import { CLIENT_MESSAGE_TYPES } from './messages/client-message.ts'
import { InvokeToolBody } from './schemas/rest/tools.ts'

const cancelling = {
  type: 'run_cancelling',
  requestedAt: '2025-03-15T10:30:00Z',
  mode: 'abort',
  cause: 'SERVER',
  runId: 'run-7f3a2b',
  seq: 3,
  id: 'run-7f3a2b:3',
}

describe('decode, of a valid value', () => {
  it('[PROTO-D2] `decode` returns a valid value unchanged', () => {
    const body = { inputs: { topic: 'AI safety' }, runId: 'mine' }
    const decoded = decode(SubmitRunBody, body)
    expect(decoded.ok && decoded.value).toBe(body)
  })

  it('[PROTO-D2] `decode` does not coerce a valid value', () => {
    expect(paths(decode(ListRunsQuery, { limit: '10' }))).toEqual(['/limit'])
    expect(paths(decode(SubmitRunBody, { inputs: { year: 2025 } }))).toEqual(['/inputs/year'])
    expect(paths(decode(SubmitRunBody, { options: { verbose: 'true' } }))).toEqual([
      '/options/verbose',
    ])
  })

  it('`decode` accepts any key in a map, also names of inherited properties', () => {
    const body = JSON.parse('{"inputs":{"__proto__":"a","constructor":"b","toString":"c","":"d"}}')
    expect(decode(SubmitRunBody, body).ok).toBe(true)
  })
})

describe('decode, of an invalid value', () => {
  it('`decode` reports every problem with its path and the expected and given values', () => {
    expect(
      decode(SubmitRunBody, { inputs: { topic: 42 }, input: {}, tasks: [{ name: 'a' }] }),
    ).toEqual({
      ok: false,
      problems: [
        {
          path: '/inputs/topic',
          message: 'must be a string, got 42',
          expected: 'a string',
          received: 42,
        },
        {
          path: '/input',
          message: 'is not a known field; did you mean "inputs"?',
          expected:
            'one of "inputs", "tasks", "taskOverrides", "options", "budget", "tags", "ensemble", "runId", "build", "history", "clientTools", "threadId", "webhooks", "startAt", "startAfterMs", "priority", "fairnessKey", "maxQueueMs"',
          received: '{}',
        },
        {
          path: '/tasks/0/description',
          message: 'is required',
          expected: 'text that is not blank',
        },
      ],
    })
  })

  it('`decode` checks values under keys with a line break, which a TypeBox record does not', () => {
    expect(paths(decode(SubmitRunBody, { inputs: { 'a\nb': 1 } }))).toEqual(['/inputs/a\nb'])
  })

  it('`decode` rejects an own key "__proto__" as unknown, and an invalid value under it in a map', () => {
    const body = JSON.parse('{"__proto__":{"inputs":1},"inputs":{"__proto__":1}}')
    expect(paths(decode(SubmitRunBody, body))).toEqual(['/__proto__', '/inputs/__proto__'])
  })

  it('`decode` ignores inherited fields', () => {
    expect(paths(decode(InvokeToolBody, Object.create({ input: 1 })))).toEqual(['/input'])
  })

  it('`decode` lists the known types for an unknown one', () => {
    const decoded = decodeClientMessage({ type: 'run_requst', inputs: 5 })
    const known = CLIENT_MESSAGE_TYPES.map((type) => `"${type}"`).join(', ')
    expect(decoded).toEqual({
      ok: false,
      problems: [
        {
          path: '/type',
          message: `must be one of ${known}, got "run_requst"; did you mean "run_request"?`,
          expected: `one of ${known}`,
          received: 'run_requst',
        },
      ],
    })
  })

  it('`decode` judges a message by its own type only', () => {
    expect(paths(decodeServerMessage({ ...cancelling, mode: 'now', seq: -1 }))).toEqual([
      '/mode',
      '/seq',
    ])
    expect(paths(decodeLoggedRunEvent({ ...cancelling, type: 'nope' }))).toEqual(['/type'])
    expect(paths(decodeRunEvent({ type: 'run_cancelling' }))).toEqual([
      '/requestedAt',
      '/mode',
      '/cause',
    ])
  })
})

describe('decode, of a union whose members refer to definitions of the whole', () => {
  const schema = {
    $defs: { Name: { type: 'string' } },
    anyOf: ['a', 'b'].map((tag) => ({
      type: 'object',
      required: ['type', 'name'],
      properties: { type: { const: tag }, name: { $ref: '#/$defs/Name' } },
    })),
  }

  it('`decode` does not separate a member of a union from the definitions of the whole', () => {
    expect(decode(schema, { type: 'b', name: 'x' }).ok).toBe(true)
    expect(paths(decode(schema, { type: 'b', name: 1 }))).toEqual(['/name'])
  })
})

describe('[PROTO-D1] decode does not throw', () => {
  it('`decode` does not throw for a value nested 10,000 levels deep, expected or not', () => {
    const deep = nest(10_000)
    expect(decode(InvokeToolBody, { input: { deep } }).ok).toBe(true)
    expect(paths(decode(SubmitRunBody, { inputs: { topic: deep } }))).toEqual(['/inputs/topic'])
    expect(paths(decodeClientMessage(deep))).toEqual(['/type'])
  })

  it('`decode` does not throw for a recursive schema with a value 10,000 levels deep', () => {
    const list = Type.Cyclic(
      {
        List: Type.Object({ n: Type.Integer(), next: Type.Union([Type.Ref('List'), Type.Null()]) }),
      },
      'List',
    )
    expect(decode(list, listOf(1000, 1)).ok).toBe(true)
    expect(paths(decode(list, listOf(20, 'last')))).toEqual([`${'/next'.repeat(19)}/n`])
    expect(decode(list, listOf(10_000, 'last'))).toMatchObject({
      ok: false,
      problems: [{ message: 'is nested too deeply to be checked' }],
    })
    // Deeper than any stack: rejected although each of its levels is valid.
    expect(paths(decode(list, listOf(200_000, 1)))).toHaveLength(1)
  })

  it('`decode` does not throw for a getter that throws an error without a readable message', () => {
    const value = {
      get inputs(): unknown {
        throw Object.defineProperty(new Error('x'), 'message', {
          get() {
            throw new Error('no')
          },
        })
      },
    }
    expect(decode(SubmitRunBody, value)).toMatchObject({
      ok: false,
      problems: [{ path: '', message: 'cannot be checked: a part cannot be read' }],
    })
  })

  it('`decode` does not throw for a cyclic value', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['inputs'] = cyclic
    expect(decode(SubmitRunBody, cyclic)).toMatchObject({
      ok: false,
      problems: [
        { path: '/inputs/inputs', message: expect.stringMatching(/^must be a string, got \{/) },
      ],
    })
  })

  it('`decode` does not throw for a hostile value', () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('no')
        },
      },
    )
    expect(decode(SubmitRunBody, hostile)).toEqual({
      ok: false,
      problems: [{ path: '', message: 'cannot be checked: no' }],
    })
  })

  it('`decode` does not throw for a value that is not JSON', () => {
    for (const value of [undefined, () => 1, Symbol('s'), 5n, Number.NaN, new Date(0)]) {
      expect(decode(InvokeToolBody, value).ok).toBe(false)
      expect(decode(InvokeToolBody, { input: [value] }).ok).toBe(false)
    }
  })

  it('`decode` does not throw for an invalid schema', () => {
    const decoded = decode(Type.String({ pattern: '(' }), 'a')
    expect(decoded).toMatchObject({ ok: false, problems: [{ path: '' }] })
  })
})

describe('decode, of a very large value', () => {
  it('`decode` lists a bounded number of problems of a very large value and states that there are more', () => {
    const decoded = decode(SubmitRunBody, { tasks: Array.from({ length: 50_000 }, () => 1) })
    expect(decoded.ok ? [] : decoded.problems).toHaveLength(MAX_PROBLEMS + 1)
    expect(decoded.ok ? undefined : decoded.problems.at(-1)).toEqual({
      path: '',
      message: 'has more problems than the 100 listed',
    })
  })

  it('`decode` truncates the received value when it is very large', () => {
    const decoded = decode(SubmitRunBody, { runId: '/'.repeat(100_000) })
    expect(JSON.stringify(decoded).length).toBeLessThan(1000)
  })
})

describe('[PROTO-D3] decode without generated code', () => {
  afterEach(() => {
    Settings.Reset()
  })

  it('`decode` without generated code has the same results', () => {
    Settings.Set({ useAcceleration: false })
    // A new schema: another test may have compiled the shared ones.
    const schema = Type.Union([
      Type.Object({ type: Type.Literal('a'), at: Type.String({ format: 'date-time' }) }),
      Type.Object(
        { type: Type.Literal('b'), n: Type.Integer({ minimum: 1 }) },
        { additionalProperties: false },
      ),
    ])
    expect(decode(schema, { type: 'a', at: '2025-03-15T10:30:00Z', more: 1 }).ok).toBe(true)
    expect(paths(decode(schema, { type: 'a', at: 'today' }))).toEqual(['/at'])
    expect(paths(decode(schema, { type: 'b', n: 0, m: 1 }))).toEqual(['/n', '/m'])
  })
})

describe('instants', () => {
  const instant = (requestedAt: unknown) => decodeLoggedRunEvent({ ...cancelling, requestedAt }).ok

  it('Instants are validated', () => {
    expect(instant('2025-03-15T10:30:00Z')).toBe(true)
    expect(instant('2025-03-15T10:30:00.123456789Z')).toBe(true)
    expect(instant('2025-03-15T12:30:00+02:00')).toBe(true)
    expect(instant('2025-03-15')).toBe(false)
    expect(instant('2025-02-30T10:30:00Z')).toBe(false)
    expect(instant('2025-03-15 10:30:00Z')).toBe(false)
    expect(instant('')).toBe(false)
  })
})

function paths(decoded: ReturnType<typeof decode>): string[] {
  return decoded.ok ? [] : decoded.problems.map((problem) => problem.path)
}

function nest(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}

function listOf(length: number, last: unknown): unknown {
  let list: unknown = null
  for (let index = 0; index < length; index++) list = { n: index === 0 ? last : 1, next: list }
  return list
}
