import { describe, expect, it } from 'vitest'

import { LineReader } from './line-reader.ts'

describe('LineReader', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['in one chunk', ['one\ntwo\n'], ['one', 'two']],
    ['in several chunks', ['o', 'ne\nt', 'wo\n'], ['one', 'two']],
    ['with empty ones between them', ['one\n\n', '\ntwo\n'], ['one', '', '', 'two']],
    ['that end as on Windows', ['one\r\n', 'two\r', '\n'], ['one', 'two']],
    ['with a carriage return within', ['o\rne\n'], ['o\rne']],
    ['the last without its end', ['one\ntwo'], ['one', 'two']],
    ['and nothing after the last', ['one\n'], ['one']],
    ['none', [], []],
  ])('LineReader emits lines %s', (_, chunks, lines) => {
    expect(read(100, chunks)).toEqual(lines)
  })

  it('LineReader emits lines as soon as they end', () => {
    const lines: string[] = []
    const reader = new LineReader(100, (line) => lines.push(line))
    reader.add(Buffer.from('one\ntw'))
    expect(lines).toEqual(['one'])
    reader.add(Buffer.from('o\n'))
    expect(lines).toEqual(['one', 'two'])
  })

  it('LineReader joins a character that arrives in two chunks', () => {
    const euro = Buffer.from('€\n')
    expect(read(100, [euro.subarray(0, 1), euro.subarray(1)])).toEqual(['€'])
  })

  it('LineReader replaces invalid UTF-8 with U+FFFD', () => {
    expect(read(100, [Buffer.from([0x61, 0xff, 0x0a])])).toEqual(['a\uFFFD'])
  })
})

describe('a line beyond the limit', () => {
  it('A line beyond the limit is emitted once with its start, and the rest is skipped', () => {
    expect(read(3, ['abcdef\nxy\n'])).toEqual(['abc…', 'xy'])
    expect(read(3, ['ab', 'cd', 'ef', 'gh\nxy\n'])).toEqual(['abc…', 'xy'])
    expect(read(3, ['abcd', '\n', 'xyz\n'])).toEqual(['abc…', 'xyz'])
  })

  it('A line beyond the limit is emitted as soon as the limit is exceeded', () => {
    const lines: string[] = []
    const reader = new LineReader(3, (line, { cut }) => lines.push(cut ? `${line}…` : line))
    reader.add(Buffer.from('abcd'))
    expect(lines).toEqual(['abc…'])
  })

  it('A line beyond the limit has no incomplete character at its end', () => {
    expect(read(3, ['aä€\n'])).toEqual(['aä…'])
    expect(read(4, ['aä€\n'])).toEqual(['aä…'])
  })

  it('A line beyond the limit can end without a line break', () => {
    expect(read(3, ['abcd'])).toEqual(['abc…'])
  })

  it('A line beyond the limit is complete at exactly the limit', () => {
    expect(read(3, ['abc\n', 'ab', 'c\n'])).toEqual(['abc', 'abc'])
  })
})

/** Returns the lines; a truncated one ends with `…`. */
function read(maxBytes: number, chunks: readonly (string | Buffer)[]): readonly string[] {
  const lines: string[] = []
  const reader = new LineReader(maxBytes, (line, { cut }) => lines.push(cut ? `${line}…` : line))
  for (const chunk of chunks) reader.add(Buffer.from(chunk))
  reader.end()
  return lines
}
