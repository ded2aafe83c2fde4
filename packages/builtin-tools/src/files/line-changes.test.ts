import { describe, expect, it } from 'vitest'

import { countLineChanges } from './line-changes.ts'

describe('countLineChanges', () => {
  it.each([
    ['nothing', '', '', 0, 0],
    ['a new text', '', 'a\nb\n', 2, 0],
    ['a new text without a last line end', '', 'a\nb', 2, 0],
    ['a text taken away', 'a\nb\n', '', 0, 2],
    ['no change', 'a\nb\n', 'a\nb\n', 0, 0],
    ['a line at the end', 'a\n', 'a\nb\n', 1, 0],
    ['a line at the start', 'b\n', 'a\nb\n', 1, 0],
    ['a line in the middle', 'a\nc\n', 'a\nb\nc\n', 1, 0],
    ['a line replaced', 'a\nb\nc\n', 'a\nx\nc\n', 1, 1],
    ['a line for two', 'a\nb\nc\nd\n', 'a\nx\nd\n', 1, 2],
    ['a line end', 'a', 'a\n', 1, 1],
    ['line ends of another kind', 'a\r\nb\r\n', 'a\nb\n', 2, 2],
    ['equal lines', 'a\na\na\n', 'a\na\n', 0, 1],
    ['equal lines more', 'a\na\n', 'a\na\na\n', 1, 0],
    ['blank lines', '\n\n', '\n\n\n', 1, 0],
    ['all between the first and the last change', 'a\nb\nc\n', 'x\nb\ny\n', 3, 3],
  ])('countLineChanges counts %s', (_title, before, after, linesAdded, linesRemoved) => {
    expect(countLineChanges(before, after)).toEqual({ linesAdded, linesRemoved })
  })
})
