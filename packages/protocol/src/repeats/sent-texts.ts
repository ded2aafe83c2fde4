/**
 * Texts that a stream has sent. Server and client track them in the same way, so that each reference of the server names
 * a text that the client has. The server needs only digests of the texts, so it does not retain them.
 *
 *   token, token, …       joined per turn   ◀── responseText of llm_iteration_completed
 *   reasoning, …          joined per turn   ◀── reasoning of llm_iteration_completed
 *   last text of a task                     ◀── output of task_completed, outputs of run_result, taskOutput of a review
 *
 * PROTO-R1 Restored events are equal to those of a stream without omitted texts.
 * PROTO-R2 An event refers only to earlier events of the same stream that its reader got.
 * PROTO-R3 The memory for a stream is limited to {@link MAX_TURNS} running turns and {@link MAX_TEXTS} texts. Texts that
 *    exceed a limit are sent in full.
 */
import { BoundedMap } from '../bounded-map.ts'

import type { RepeatedText } from '../schemas/repeats.ts'
import type { LoggedRunEvent } from '../schemas/run-event.ts'
import type { RepeatableText } from './map-texts.ts'

/** Minimum length of a text that is omitted, in characters. Shorter texts cost little, and most events have only those. */
export const MIN_REPEATED_LENGTH = 512

/** Maximum number of running turns whose texts are joined. */
const MAX_TURNS = 128

/** Maximum number of tasks whose last text is tracked. */
const MAX_TEXTS = 1_024

/** Representation of a text. */
export interface TextForm<Text> {
  /** Returns an empty text. */
  empty(): Text
  /** Returns `text` with `piece` appended, either a new text or the same one after the change. */
  append(text: Text, piece: string): Text
}

/** Text that was sent, and where. */
export interface TrackedText<Text> extends Pick<RepeatedText, 'seq' | 'from'> {
  readonly text: Text
}

type PieceEvent = Extract<LoggedRunEvent, { type: 'token' | 'reasoning' }>

/** Joined pieces of one turn. */
interface JoinedPieces<Text> extends Pick<PieceEvent, 'attempt' | 'iterationIndex'> {
  readonly seq: number
  readonly from: string
  text: Text
}

/** The texts of one stream, by task. */
export class SentTexts<Text> {
  readonly #form: TextForm<Text>
  readonly #tokens = new BoundedMap<string, JoinedPieces<Text>>(MAX_TURNS)
  readonly #reasoning = new BoundedMap<string, JoinedPieces<Text>>(MAX_TURNS)
  readonly #last = new BoundedMap<string, TrackedText<Text>>(MAX_TEXTS)

  constructor(form: TextForm<Text>) {
    this.#form = form
  }

  /** Adds the pieces of an event. Called for every event of the stream, after its texts were looked up. */
  addPieces(event: LoggedRunEvent): void {
    switch (event.type) {
      case 'token':
        this.#append(this.#tokens, event, { from: '/token', piece: event.token })
        break
      case 'reasoning':
        this.#append(this.#reasoning, event, { from: '/text', piece: event.text })
        break
      case 'llm_iteration_started':
      case 'llm_iteration_completed':
        this.#tokens.delete(event.taskName)
        this.#reasoning.delete(event.taskName)
        break
      default:
    }
  }

  /** Returns the text that a text of an event may repeat. */
  find({ at, taskName }: Pick<RepeatableText, 'at' | 'taskName'>): TrackedText<Text> | undefined {
    if (at === '/responseText') return this.#tokens.get(taskName)
    if (at === '/reasoning') return this.#reasoning.get(taskName)
    return this.#last.get(taskName)
  }

  /** Sets the last text of a task, unless later events cannot repeat it: reasoning, and the outputs of the last event. */
  setLast(
    { at, taskName }: Pick<RepeatableText, 'at' | 'taskName'>,
    seq: number,
    text: () => Text,
  ): void {
    if (at === '/reasoning' || at.startsWith('/outputs/')) return
    this.#last.set(taskName, { seq, from: at, text: text() })
  }

  #append(
    turns: BoundedMap<string, JoinedPieces<Text>>,
    { taskName, attempt, iterationIndex, seq }: PieceEvent,
    { from, piece }: { readonly from: string; readonly piece: string },
  ): void {
    const turn = turns.get(taskName)
    if (turn?.attempt === attempt && turn.iterationIndex === iterationIndex) {
      turn.text = this.#form.append(turn.text, piece)
      return
    }
    const text = this.#form.append(this.#form.empty(), piece)
    turns.set(taskName, { attempt, iterationIndex, seq, from, text })
  }
}
