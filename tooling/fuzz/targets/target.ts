/** Targets of the fuzzer: a source of attempts for each protocol. */
import * as fc from 'fast-check'

import { exchange, type Answer, type Request } from '../lib/exchange.ts'
import { fieldOf, faultsOf, parsedOf } from '../lib/judge.ts'
import { nearValuesOf, valuesOf, type KnownValues } from '../lib/values.ts'

/** One protocol of the server. */
export interface Target {
  readonly name: string
  readonly attempts: fc.Arbitrary<Attempt>
}

/** One request, or one connection with several messages. */
export interface Attempt {
  /** Content of the attempt, for the report, where it is cut. */
  readonly label: string
  /** Makes the attempt and returns its faults. */
  readonly make: (url: string) => Promise<readonly string[]>
}

/** Names and ids that exist on the server under test. */
export const KNOWN: KnownValues = {
  runId: ['first', 'second', 'third', 'fourth', 'missing'],
  id: ['first', 'second', 'third'],
  taskId: ['first', 'second'],
  ensemble: ['write', 'reviewed', 'constructs'],
  task: ['write', 'reviewed'],
  name: ['draft', 'polish', 'measure', 'echo', 'write', 'paid', 'nightly'],
  tool: ['measure', 'echo'],
  model: ['one', 'two', 'write', 'reviewed'],
  taskName: ['draft', 'publish'],
  contextId: ['context-1'],
  sessionId: ['session-1'],
  threadId: ['thread-1'],
  when: ["outputs.draft == 'x'", 'has(outputs.polish)', 'inputs.topic.size() > 1', 'true', 'x ||'],
  switch: ['route'],
  until: ["round == 2 || output.contains('x')", 'outputs.size() > 1', '2030-01-01T00:00:00Z'],
  max: [1, 2, 3],
  over: ['topic', '$draft', '$0'],
  event: ['paid', { any: ['paid', { name: 'refunded', key: 'k' }] }, { all: ['paid', 'paid'] }],
  key: ['order-1', '{topic}'],
  cron: ['0 9 * * *', '* * * * * *', '@daily', '0 0 29 2 1', '0 0 31 2 *'],
  timeZone: ['Europe/Berlin', 'UTC', 'Antarctica/Troll'],
  startAfterMs: [0, 1, 60_000],
}

export function requestAttempt(request: Request): Attempt {
  return {
    label: describeRequest(request),
    make: async (url) => faultsOf(await exchange(url, request)),
  }
}

/** Stands for the id in the answer of an attempt's first request, in the path and the body of the second. */
export const FIRST_ID = 'id-of-the-first-answer'

/**
 * An attempt that is two requests: `first` creates something with an id that the server chooses, and `second` names it
 * with {@link FIRST_ID}.
 */
export function followUpAttempt(first: Request, second: Request): Attempt {
  return {
    label: `${describeRequest(first)}\n  then: ${describeRequest(second)}`,
    make: async (url) => {
      const created = await exchange(url, first)
      const id = idOf(created)
      if (id === undefined) return faultsOf(created)
      const { path, body } = second
      const next = await exchange(url, {
        ...second,
        path: path.replaceAll(FIRST_ID, id),
        ...(body === undefined ? {} : { body: body.replaceAll(FIRST_ID, id) }),
      })
      return [...faultsOf(created), ...faultsOf(next)]
    },
  }
}

/** Requests with a JSON body. */
export function postsOf(
  path: fc.Arbitrary<string>,
  body: fc.Arbitrary<string>,
): fc.Arbitrary<Request> {
  const headers = { 'content-type': 'application/json' }
  return fc
    .tuple(path, body)
    .map(([to, text]) => ({ method: 'POST', path: to, headers, body: text }))
}

function idOf({ body }: Answer): string | undefined {
  const id = fieldOf(parsedOf(body), 'id')
  return typeof id === 'string' ? id : undefined
}

function describeRequest({ method, path, headers, body }: Request): string {
  const sent = [
    `${method} ${path}`,
    headers === undefined ? '' : JSON.stringify(headers),
    body ?? '',
  ]
  return sent.filter((part) => part !== '').join(' ')
}

/** JSON texts: of values that match, of values that nearly do, and of neither. */
export function bodiesOf(schema: object): fc.Arbitrary<string> {
  const text = (value: unknown): string => stringify(value)
  return fc.oneof(
    { weight: 4, arbitrary: valuesOf(schema, KNOWN).map(text) },
    { weight: 8, arbitrary: nearValuesOf(schema, KNOWN).map(text) },
    { weight: 1, arbitrary: brokenJson() },
  )
}

/** Deeply nested values are beyond the recursion of `JSON.stringify`. */
function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch (error) {
    if (error instanceof RangeError) return deepJson(MAX_DEPTH)
    throw error
  }
}

/** Levels of nesting for a body of about 400 kB. */
const MAX_DEPTH = 200_000

function brokenJson(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom('', '{', 'null', '[]', '"', '{"a":1e999}', '{"a":1,"a":2}', '\uFEFF{}', 'NaN'),
    fc.constantFrom(deepJson(100), deepJson(5_000), deepJson(MAX_DEPTH)),
    fc.string({ maxLength: 100, unit: 'binary' }),
  )
}

function deepJson(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}
