import { describe, expect, test } from 'vitest'

import { LineSplitter } from './line-splitter.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (line: Uint8Array): string => new TextDecoder().decode(line)

/** Splits pieces into lines, with the unterminated rest last. */
function splitLines(pieces: readonly Uint8Array[], maxBytes = 100): readonly string[] {
  const splitter = new LineSplitter(maxBytes)
  const lines = pieces.flatMap((piece) => Array.from(splitter.split(piece)))
  return [...lines, splitter.rest()].map(text)
}

describe('LineSplitter', () => {
  test('LineSplitter returns the same lines however the bytes are divided', () => {
    const whole = bytes('{"a":"ü€😀"}\n\r\n\nlast')
    for (let first = 0; first <= whole.length; first += 1) {
      for (let second = first; second <= whole.length; second += 1) {
        const pieces = [
          whole.subarray(0, first),
          whole.subarray(first, second),
          whole.subarray(second),
        ]
        expect(splitLines(pieces)).toEqual(['{"a":"ü€😀"}', '\r', '', 'last'])
      }
    }
  })

  test('LineSplitter returns the rest once, and an empty rest after a terminated line', () => {
    expect(splitLines([bytes('a\nb\n')])).toEqual(['a', 'b', ''])
    const splitter = new LineSplitter(10)
    expect(Array.from(splitter.split(bytes('a')))).toEqual([])
    expect([splitter.rest(), splitter.rest()].map(text)).toEqual(['a', ''])
  })

  test('LineSplitter accepts a line of maximum length and rejects a longer one at once', () => {
    expect(splitLines([bytes('123\n'), bytes('12'), bytes('3')], 3)).toEqual(['123', '123'])
    const refusal = { failureType: 'invalid_response', retryable: false }
    const message = 'The agent sent a line of more than 3 bytes'
    for (const pieces of [['1234\n'], ['12', '34'], ['1\n12', '3', '4']]) {
      expect(() => splitLines(pieces.map(bytes), 3)).toThrow(
        expect.objectContaining({ ...refusal, message }),
      )
    }
  })
})
