/** Targets of the fuzzer: a source of attempts for each protocol. */
import * as fc from 'fast-check'

import { exchange, type Request } from '../lib/exchange.ts'
import { faultsOf } from '../lib/judge.ts'
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
  runId: ['first', 'second', 'third', 'missing'],
  id: ['first', 'second', 'third'],
  taskId: ['first', 'second'],
  ensemble: ['write', 'reviewed'],
  task: ['write', 'reviewed'],
  name: ['draft', 'polish', 'measure', 'echo', 'write'],
  tool: ['measure', 'echo'],
  model: ['one', 'two'],
  taskName: ['draft', 'publish'],
  contextId: ['context-1'],
}

/** An attempt that is one request. */
export function requestAttempt(request: Request): Attempt {
  const { method, path, headers, body } = request
  const sent = [
    `${method} ${path}`,
    headers === undefined ? '' : JSON.stringify(headers),
    body ?? '',
  ]
  return {
    label: sent.filter((part) => part !== '').join(' '),
    make: async (url) => faultsOf(await exchange(url, request)),
  }
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
