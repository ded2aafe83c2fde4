/**
 * Pure: a text that grows, cut into blocks of whole lines. All blocks but the last stay as they are while
 * more comes, so that a page draws only the last one anew.
 */

/** Characters after which a block ends with its line. */
const BLOCK = 1_500

/** Characters that are shown of a text which is not whole yet: the newest. */
const SHOWN = 60_000

/** A part of a growing text. */
export interface TextBlock {
  /** Where it begins in the text. */
  readonly start: number
  readonly text: string
}

export function textBlocks(text: string): readonly TextBlock[] {
  const blocks: TextBlock[] = []
  let start = 0
  while (text.length - start > BLOCK) {
    const end = text.indexOf('\n', start + BLOCK - 1)
    if (end === -1) break
    // The break between two blocks stands for the one between their lines.
    blocks.push({ start, text: text.slice(start, end) })
    start = end + 1
  }
  return [...blocks, { start, text: text.slice(start) }]
}

/** The newest blocks, and how many characters stand before them. */
export function newestBlocks(text: string): {
  readonly hidden: number
  readonly blocks: readonly TextBlock[]
} {
  const blocks = textBlocks(text)
  const kept = blocks.filter(({ start }, at) => {
    const next = blocks[at + 1]?.start ?? text.length
    return text.length - next < SHOWN || start === blocks.at(-1)?.start
  })
  return { hidden: kept[0]?.start ?? 0, blocks: kept }
}
