import { describe, expect, it } from 'vitest'

import { takeNewestBlocks, splitBlocks } from './text-blocks.ts'
import { toOneLine } from './text-blocks.ts'

/** Lines of different lengths, some of them empty. */
function lines(count: number): string {
  return Array.from({ length: count }, (_, at) => `${'word '.repeat(at % 23)}\n`).join('')
}

describe('splitBlocks', () => {
  it('splitBlocks returns the whole text, with a line break between blocks', () => {
    for (const text of ['', 'a', '\n\n', lines(10), lines(2_000), 'x'.repeat(50_000)]) {
      expect(
        splitBlocks(text)
          .map((block) => block.text)
          .join('\n'),
      ).toBe(text)
    }
  })

  it('splitBlocks keeps all blocks but the last unchanged while text is appended', () => {
    const text = lines(800)
    let before = splitBlocks('')
    for (let length = 0; length <= text.length; length += 97) {
      const blocks = splitBlocks(text.slice(0, length))
      const kept = before.slice(0, -1)
      expect(blocks.slice(0, kept.length)).toEqual(kept)
      before = blocks
    }
    expect(before.length).toBeGreaterThan(10)
  })

  it('splitBlocks returns few blocks, none much longer than the limit', () => {
    const blocks = splitBlocks(lines(2_000))
    expect(Math.max(...blocks.map((block) => block.text.length))).toBeLessThan(1_700)
  })
})

describe('takeNewestBlocks', () => {
  it('takeNewestBlocks returns the newest part of a long text, and the length of the rest', () => {
    const text = lines(10_000)
    const { hidden, blocks } = takeNewestBlocks(text)
    expect(hidden).toBeGreaterThan(100_000)
    expect(blocks.map((block) => block.text).join('\n')).toBe(text.slice(hidden))
    expect(text.length - hidden).toBeLessThan(62_000)
  })

  it('takeNewestBlocks returns a short text, or a long last line, as a whole', () => {
    expect(takeNewestBlocks('short').hidden).toBe(0)
    const line = 'x'.repeat(200_000)
    expect(takeNewestBlocks(line)).toEqual({ hidden: 0, blocks: [{ start: 0, text: line }] })
  })
})

describe('toOneLine', () => {
  it('toOneLine returns one line', () => {
    expect(toOneLine('  a\n\n b\tc ')).toBe('a b c')
    expect(toOneLine('x'.repeat(1_000_000))).toHaveLength(200)
  })
})
