import { describe, expect, it } from 'vitest'

import { BoundedOutput } from './run-once.ts'

const EURO = Buffer.from('€')

describe('output within the limit', () => {
  it('Output within the limit is the trimmed text of all chunks', () => {
    expect(textOf(100, ['\n  one ', 'two\n', '\r\n'])).toBe('one two')
  })

  it('Output within the limit is empty without chunks', () => {
    expect(textOf(1, [])).toBe('')
    expect(textOf(1, [''])).toBe('')
  })

  it('Output within the limit can be as long as the limit', () => {
    expect(textOf(4, ['ab', 'cd'])).toBe('abcd')
  })

  it('Output within the limit joins a character that arrives in two chunks', () => {
    expect(textOf(100, [EURO.subarray(0, 1), EURO.subarray(1)])).toBe('€')
  })

  it('Output within the limit replaces invalid UTF-8 with U+FFFD, also at its end', () => {
    expect(textOf(100, [Buffer.from([0x61, 0xff, 0x62, 0xe2])])).toBe('a\uFFFDb\uFFFD')
  })

  it('Output within the limit loses its byte order mark', () => {
    expect(textOf(100, ['\uFEFF{}'])).toBe('{}')
  })
})

describe('output beyond the limit', () => {
  it('Output beyond the limit is dropped, and a line states the limit', () => {
    expect(textOf(3, ['abcd'])).toBe('abc\n[output truncated at 3 bytes]')
    expect(textOf(3, ['ab', 'cd', 'ef'])).toBe('abc\n[output truncated at 3 bytes]')
    expect(textOf(3, ['abc', 'd'])).toBe('abc\n[output truncated at 3 bytes]')
  })

  it.each([
    [1, 'ä€😀', ''],
    [2, 'ä€😀', 'ä'],
    [3, 'ä€😀', 'ä'],
    [4, 'ä€😀', 'ä'],
    [5, 'ä€😀', 'ä€'],
    [8, 'ä€😀', 'ä€'],
  ])(
    'Output beyond the limit is truncated between characters: %i bytes of %s are %s',
    (maxBytes, text, kept) => {
      expect(textOf(maxBytes, [text])).toBe(`${kept}\n[output truncated at ${maxBytes} bytes]`)
    },
  )

  it('Output beyond the limit distinguishes invalid bytes from a truncated character', () => {
    expect(textOf(2, [Buffer.from([0x61, 0xff, 0x62])])).toBe(
      'a\uFFFD\n[output truncated at 2 bytes]',
    )
  })
})

function textOf(maxBytes: number, chunks: readonly (string | Buffer)[]): string {
  const output = new BoundedOutput(maxBytes)
  for (const chunk of chunks) output.add(Buffer.from(chunk))
  return output.text()
}
