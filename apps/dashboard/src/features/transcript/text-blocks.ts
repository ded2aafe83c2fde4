/**
 * Shortens texts, and splits a growing text into blocks of whole lines. All blocks but the last stay the same while
 * text is appended, so that only the last one is rendered again. Pure.
 */

/** Number of characters after which a block ends at the next line break. */
const BLOCK = 1_500

/** Maximum number of characters shown of an incomplete text; the newest are shown. */
const SHOWN = 60_000

/** A block of a growing text. */
export interface TextBlock {
  /** Offset in the text. */
  readonly start: number
  readonly text: string
}

export function splitBlocks(text: string): readonly TextBlock[] {
  const blocks: TextBlock[] = []
  let start = 0
  while (text.length - start > BLOCK) {
    const end = text.indexOf('\n', start + BLOCK - 1)
    if (end === -1) break
    // The boundary of two blocks replaces the line break.
    blocks.push({ start, text: text.slice(start, end) })
    start = end + 1
  }
  return [...blocks, { start, text: text.slice(start) }]
}

/** Returns the newest blocks, and the number of characters before them. */
export function takeNewestBlocks(text: string): {
  readonly hidden: number
  readonly blocks: readonly TextBlock[]
} {
  const blocks = splitBlocks(text)
  const newest = blocks.filter(({ start }, at) => {
    const next = blocks[at + 1]?.start ?? text.length
    return text.length - next < SHOWN || start === blocks.at(-1)?.start
  })
  return { hidden: newest[0]?.start ?? 0, blocks: newest }
}

/** Shortens a text to one line. */
export function toOneLine(text: string, length = 200): string {
  // Process only the start, because a text may be megabytes long.
  return text
    .slice(0, length * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, length)
}

/** Returns the end of a text as one line: its last line that is not empty, shortened at its start. */
export function toLastLine(text: string, length = 160): string {
  // Process only the end, because a text may be long and grows.
  const end = text.slice(-2 * length).trimEnd()
  const line = end.slice(end.lastIndexOf('\n') + 1)
  return toOneLine(line.slice(-length), length)
}
