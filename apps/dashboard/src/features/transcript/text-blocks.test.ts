import { describe, expect, it } from 'vitest'

import { newestBlocks, textBlocks } from './text-blocks.ts'
import { toOneLine } from './text-shape.ts'

/** Lines of different lengths, some of them empty. */
function lines(count: number): string {
  return Array.from({ length: count }, (_, at) => `${'word '.repeat(at % 23)}\n`).join('')
}

describe('the blocks of a text', () => {
  it('are the text again, with a line break between two of them', () => {
    for (const text of ['', 'a', '\n\n', lines(10), lines(2_000), 'x'.repeat(50_000)]) {
      expect(
        textBlocks(text)
          .map((block) => block.text)
          .join('\n'),
      ).toBe(text)
    }
  })

  it('stay as they are while more comes, all but the last', () => {
    const text = lines(800)
    let before = textBlocks('')
    for (let length = 0; length <= text.length; length += 97) {
      const blocks = textBlocks(text.slice(0, length))
      const kept = before.slice(0, -1)
      expect(blocks.slice(0, kept.length)).toEqual(kept)
      before = blocks
    }
    expect(before.length).toBeGreaterThan(10)
  })

  it('are few, and none is much longer than its share', () => {
    const blocks = textBlocks(lines(2_000))
    expect(Math.max(...blocks.map((block) => block.text.length))).toBeLessThan(1_700)
  })
})

describe('a text that is longer than a page takes', () => {
  it('shows its newest part, and how much stands before it', () => {
    const text = lines(10_000)
    const { hidden, blocks } = newestBlocks(text)
    expect(hidden).toBeGreaterThan(100_000)
    expect(blocks.map((block) => block.text).join('\n')).toBe(text.slice(hidden))
    expect(text.length - hidden).toBeLessThan(62_000)
  })

  it('shows a short text, and the last line however long, as a whole', () => {
    expect(newestBlocks('short').hidden).toBe(0)
    const line = 'x'.repeat(200_000)
    expect(newestBlocks(line)).toEqual({ hidden: 0, blocks: [{ start: 0, text: line }] })
  })
})

describe('the shape of a text', () => {
  it('is one line where one line is shown', () => {
    expect(toOneLine('  a\n\n b\tc ')).toBe('a b c')
    expect(toOneLine('x'.repeat(1_000_000))).toHaveLength(200)
  })
})
