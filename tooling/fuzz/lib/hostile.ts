/** Keys, values and texts that have broken servers before. */
import * as fc from 'fast-check'

/** Keys with a meaning for JavaScript, a database or a terminal. */
export const HOSTILE_KEYS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'then',
  'length',
  '',
  '0',
  '\u0000',
  '\uD800',
  '$ref',
  "'; drop table runs; --",
  '\u001B[2J',
]

/** A key: one of the list, or a long one. */
export function hostileKey(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_KEYS) },
    { weight: 2, arbitrary: longText() },
    fc.string({ maxLength: 20, unit: 'binary' }),
  )
}

/** A text of one repeated piece, up to about 600 kB, the long ones rarely. */
export function longText(): fc.Arbitrary<string> {
  const length = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 300 }) },
    { weight: 3, arbitrary: fc.integer({ min: 1_000, max: 70_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 100_000, max: 600_000 }) },
  )
  const piece = fc.constantFrom('a', '{topic}', '{{', '\u0000', '"', '😀', '\\', '\n', '%ff', '<')
  return fc.tuple(piece, length).map(([text, count]) => text.repeat(Math.ceil(count / text.length)))
}

/** A JSON value that few schemas expect. */
export function hostileValue(): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.constantFrom<unknown>(null, true, 0, -1, 0.5, 1e308, 2 ** 53, -(2 ** 31), '', ' ', [], {}),
    fc.constantFrom(
      '\u0000',
      '\uD800',
      '../../etc/passwd',
      'NaN',
      '1e999',
      '{topic}',
      'P99999999Y',
    ),
    fc.constantFrom('$0', '$missing', '*', '%', '-1', 'http://127.0.0.1:1/', 'constructor'),
    longText(),
    fc.dictionary(hostileKey(), fc.string({ maxLength: 8 }), { maxKeys: 5 }),
    fc.jsonValue({ maxDepth: 4 }),
  )
}
