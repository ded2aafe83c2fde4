/** Omits texts from the events of a stream that its reader got before. */
import { createHash, hash, type Hash } from 'node:crypto'

import {
  mapTexts,
  MIN_REPEATED_LENGTH,
  SentTexts,
  type RepeatedText,
  type StreamedRunEvent,
} from '@tutti/protocol/internal'

import type { LoggedRunEvent } from '@tutti/protocol'

/**
 * Number of characters that are joined before they are hashed. Hashing each token by itself costs more than sending it.
 */
const MAX_PENDING = 2_048

/**
 * Length and SHA-256 of a text, which it does not retain. A text with a lone surrogate equals no text, because all lone
 * surrogates have the same bytes in UTF-8.
 */
class TextDigest {
  #length = 0
  #pending = ''
  #isWellFormed = true
  #hash: Hash | undefined
  #digest: string | undefined

  /** Appends a piece to a text that was not compared yet. */
  append(piece: string): this {
    this.#length += piece.length
    this.#pending += piece
    // The next piece may have the other half of a surrogate pair.
    if (this.#pending.length >= MAX_PENDING && !/[\ud800-\udbff]$/.test(this.#pending)) {
      this.#hash = this.#takePending(this.#hash ?? createHash('sha256'))
    }
    return this
  }

  equals(text: string): boolean {
    if (text.length !== this.#length || !text.isWellFormed()) return false
    this.#digest ??= this.#finish()
    return this.#isWellFormed && hash('sha256', text, 'base64') === this.#digest
  }

  #finish(): string {
    const hashed = this.#takePending(this.#hash ?? createHash('sha256'))
    this.#hash = undefined
    return hashed.digest('base64')
  }

  #takePending(hashed: Hash): Hash {
    this.#isWellFormed &&= this.#pending.isWellFormed()
    hashed.update(this.#pending)
    this.#pending = ''
    return hashed
  }
}

/** Omits repeated texts from the events of one stream. */
export class RepeatOmitter {
  readonly #sent = new SentTexts<TextDigest>({
    empty: () => new TextDigest(),
    append: (digest, piece) => digest.append(piece),
  })

  /**
   * Returns an event with references to the texts that the stream has sent, or the same event if it repeats none. Every
   * event that is sent must be passed, in the order of the stream.
   */
  omit(event: LoggedRunEvent): StreamedRunEvent {
    const repeats: RepeatedText[] = []
    const short = mapTexts(event, (found) => {
      const { at, text } = found
      if (text.length < MIN_REPEATED_LENGTH) return text
      const earlier = this.#sent.find(found)
      if (earlier?.text.equals(text) !== true) {
        this.#sent.setLast(found, event.seq, () => new TextDigest().append(text))
        return text
      }
      this.#sent.setLast(found, event.seq, () => earlier.text)
      repeats.push({ at, seq: earlier.seq, from: earlier.from })
      return ''
    })
    this.#sent.addPieces(event)
    return repeats.length === 0 ? event : { ...short, repeats }
  }
}
