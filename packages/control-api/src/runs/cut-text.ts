/** Cuts the texts of a comparison, so that its size is limited. */
import { createHash } from 'node:crypto'

import type { ComparedText } from '@tutti/protocol/internal'

/** Cut text, and a digest of the whole. */
export interface CutText {
  readonly shown: ComparedText
  readonly digest: string
}

/** Budget for the texts of one run. */
export class TextBudget {
  #left: number
  readonly #maxTextBytes: number

  /** `maxBytes` limits the sum of all texts, `maxTextBytes` each one. */
  constructor({
    maxBytes,
    maxTextBytes,
  }: {
    readonly maxBytes: number
    readonly maxTextBytes: number
  }) {
    this.#left = maxBytes
    this.#maxTextBytes = maxTextBytes
  }

  /** Returns the start of a text that fits, with the size and the digest of the whole text. */
  cut(text: string): CutText {
    const digest = computeTextDigest(text)
    const bytes = Buffer.byteLength(text)
    const room = Math.min(this.#left, this.#maxTextBytes)
    if (bytes <= room) {
      this.#left -= bytes
      return { shown: { text, bytes }, digest }
    }
    this.#left -= room
    return { shown: { text: sliceBytes(text, room), bytes, cut: true }, digest }
  }
}

/** Returns a digest by which texts are compared without being in memory. */
export function computeTextDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/** Returns the first `bytes` bytes of UTF-8 of a text, without a part of a character. */
function sliceBytes(text: string, bytes: number): string {
  // Each UTF-16 unit takes at least one byte, so the rest cannot be shown.
  const start = Buffer.from(text.slice(0, bytes + 1)).subarray(0, bytes)
  // A decoder that expects more input leaves out a character that is not complete.
  return new TextDecoder().decode(start, { stream: true })
}
