/**
 * Separates `<think>…</think>` at the start of an answer from its text: servers of open models send reasoning this way
 * when they do not parse it. Tags anywhere else are part of the answer.
 */

const OPEN = '<think>'
const CLOSE = '</think>'

/** Maximum number of spaces before the tag. */
const MAX_SPACE = 64

/** Texts of a piece; empty if it has none. */
export interface SplitTexts {
  readonly reasoning: string
  readonly text: string
}

/** Splits one answer, piece after piece. */
export interface ThinkSplitter {
  /** Splits a piece. Holds back characters that may be the start of a tag. */
  split(piece: string): SplitTexts
  /** Returns the characters that were held back. */
  end(): SplitTexts
}

export function createThinkSplitter(): ThinkSplitter {
  let state: 'start' | 'thinking' | 'gap' | 'answer' = 'start'
  let kept = ''
  const think = (piece: string): SplitTexts => {
    const text = kept + piece
    const end = text.indexOf(CLOSE)
    if (end >= 0) {
      state = 'gap'
      kept = ''
      return { reasoning: text.slice(0, end), text: skipGap(text.slice(end + CLOSE.length)) }
    }
    const length = partialLength(text, CLOSE)
    kept = text.slice(text.length - length)
    return { reasoning: text.slice(0, text.length - length), text: '' }
  }
  /** The empty lines after the reasoning are not part of the answer. */
  const skipGap = (piece: string): string => {
    const text = piece.trimStart()
    if (text !== '') state = 'answer'
    return text
  }
  return {
    split(piece) {
      if (piece === '' || state === 'answer') return { reasoning: '', text: piece }
      if (state === 'gap') return { reasoning: '', text: skipGap(piece) }
      if (state === 'thinking') return think(piece)
      kept += piece
      const text = kept.trimStart()
      if (OPEN.startsWith(text) && text !== OPEN && kept.length <= MAX_SPACE) {
        return { reasoning: '', text: '' }
      }
      const begun = kept
      kept = ''
      if (text.startsWith(OPEN)) {
        state = 'thinking'
        return think(text.slice(OPEN.length))
      }
      state = 'answer'
      return { reasoning: '', text: begun }
    },
    end() {
      const rest = kept
      kept = ''
      return state === 'thinking' ? { reasoning: rest, text: '' } : { reasoning: '', text: rest }
    },
  }
}

/** Returns the length of the longest end of `text` that begins `tag`. */
function partialLength(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}
