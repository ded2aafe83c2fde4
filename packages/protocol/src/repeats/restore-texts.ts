/** Restores the events of a stream with `repeats=omit`. No I/O. */
import { mapTexts, type RepeatableText } from './map-texts.ts'
import { MIN_REPEATED_LENGTH, SentTexts } from './sent-texts.ts'
import { decode, type Decoded } from '../decode.ts'
import { RepeatedTexts, type RepeatedText } from '../schemas/repeats.ts'

import type { LoggedRunEvent } from '../schemas/run-event.ts'
import type { Problem } from '../schemas/problem.ts'

/** Restores omitted texts from the earlier events of one connection. */
export class TextRestorer {
  readonly #sent = new SentTexts<string>({
    empty: () => '',
    append: (text, piece) => text + piece,
  })

  /**
   * Returns an event with all of its texts and without `repeats`. Every event of the connection must be passed, in the
   * order of its arrival. Returns the problems of a reference to a text that the connection has not sent.
   */
  restore(event: LoggedRunEvent): Decoded<LoggedRunEvent> {
    const repeats = 'repeats' in event ? decode(RepeatedTexts, event) : NONE
    if (!repeats.ok) return repeats
    const missing = new Map(repeats.value.repeats?.map((repeat) => [repeat.at, repeat]))
    const restored = mapTexts(event, (found) => {
      const repeat = missing.get(found.at)
      const text = repeat === undefined ? found.text : this.#find(found, repeat)
      if (text === undefined) return found.text
      missing.delete(found.at)
      if (text.length >= MIN_REPEATED_LENGTH) this.#sent.setLast(found, event.seq, () => text)
      return text
    })
    this.#sent.addPieces(event)
    if (missing.size > 0) return { ok: false, problems: [...missing.values()].map(describeMissing) }
    return { ok: true, value: repeats === NONE ? event : withoutRepeats(restored) }
  }

  #find(found: RepeatableText, { seq, from }: RepeatedText): string | undefined {
    const earlier = this.#sent.find(found)
    return earlier?.seq === seq && earlier.from === from ? earlier.text : undefined
  }
}

/** Result of an event without references. */
const NONE: Decoded<RepeatedTexts> = { ok: true, value: {} }

function withoutRepeats(event: LoggedRunEvent): LoggedRunEvent {
  const { repeats: _, ...complete }: LoggedRunEvent & RepeatedTexts = event
  return complete
}

function describeMissing({ at, seq, from }: RepeatedText): Problem {
  return {
    path: at,
    message: `must repeat a text that this stream has sent, got ${from} of event ${seq}`,
  }
}
