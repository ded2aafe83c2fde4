import { describe, expect, test } from 'vitest'

import { LineSplitter } from './line-splitter.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (line: Uint8Array): string => new TextDecoder().decode(line)

/** The lines of pieces, the rest last. */
function linesOf(pieces: readonly Uint8Array[], maxBytes = 100): readonly string[] {
  const splitter = new LineSplitter(maxBytes)
  const lines = pieces.flatMap((piece) => Array.from(splitter.split(piece)))
  return [...lines, splitter.rest()].map(text)
}

describe('LineSplitter', () => {
  test('lines are the same in whatever pieces they come', () => {
    const whole = bytes('{"a":"ü€😀"}\n\r\n\nlast')
    for (let first = 0; first <= whole.length; first += 1) {
      for (let second = first; second <= whole.length; second += 1) {
        const pieces = [
          whole.subarray(0, first),
          whole.subarray(first, second),
          whole.subarray(second),
        ]
        expect(linesOf(pieces)).toEqual(['{"a":"ü€😀"}', '\r', '', 'last'])
      }
    }
  })

  test('the rest is empty when the last line has its end, and is given once', () => {
    expect(linesOf([bytes('a\nb\n')])).toEqual(['a', 'b', ''])
    const splitter = new LineSplitter(10)
    expect(Array.from(splitter.split(bytes('a')))).toEqual([])
    expect([splitter.rest(), splitter.rest()].map(text)).toEqual(['a', ''])
  })

  test('a line of the greatest length is one, a longer one is refused as soon as it is too long', () => {
    expect(linesOf([bytes('123\n'), bytes('12'), bytes('3')], 3)).toEqual(['123', '123'])
    const refusal = { failureType: 'invalid_response', retryable: false }
    const message = 'The agent sent a line of more than 3 bytes'
    for (const pieces of [['1234\n'], ['12', '34'], ['1\n12', '3', '4']]) {
      expect(() => linesOf(pieces.map(bytes), 3)).toThrow(
        expect.objectContaining({ ...refusal, message }),
      )
    }
  })
})
