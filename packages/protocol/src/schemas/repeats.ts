/** Texts that an event stream sends once: options of readers, and references to texts that were sent before. */
import Type from 'typebox'
import { LoggedRunEvent } from './run-event.ts'
import { Count } from './scalars.ts'

import type { Static } from '../static.ts'

/** Option of a reader that can restore repeated texts. */
export const RepeatsOption = Type.Literal('omit')
export type RepeatsOption = Static<typeof RepeatsOption>

/** Reference to the text of an earlier event of the same stream. */
export const RepeatedText = Type.Object({
  /** JSON Pointer of the omitted text in this event, which has an empty text there. */
  at: Type.String(),
  /** `seq` of the earlier event. */
  seq: Count,
  /**
   * JSON Pointer of the text in the earlier event. For a `token` or `reasoning` event, the text continues with all later
   * events of this type, task, attempt and turn up to this event.
   */
  from: Type.String(),
})
export type RepeatedText = Static<typeof RepeatedText>

/** Field of an event in a stream with `repeats=omit`. */
export const RepeatedTexts = Type.Object({
  /** Texts that the reader got in earlier events of this stream; absent when there are none. */
  repeats: Type.Optional(Type.Array(RepeatedText)),
})
export type RepeatedTexts = Static<typeof RepeatedTexts>

/** Event as a stream sends it. */
export const StreamedRunEvent = Type.Intersect([LoggedRunEvent, RepeatedTexts])
export type StreamedRunEvent = Static<typeof StreamedRunEvent>
