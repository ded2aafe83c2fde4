/** No I/O: one stream of a message: from its start, or from the pause that the client knows. */
import { ChatChunks } from './chunks.ts'

import type { ChatChunk } from './wire.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Part of a message that the client of a stream has. */
export interface KnownPart {
  /** `seq` of the newest event that it knows; undefined if it has lost it. */
  readonly seq: number | undefined
  /** Ids of the reviews that it has just decided. */
  readonly answered: readonly string[]
}

export interface ChatStreamOptions {
  /** Part of the message that the client has. @default none */
  readonly known?: KnownPart | undefined
  /** `seq` of the newest event when the stream was requested. Pauses before it are over. */
  readonly pausesFrom: number
}

/** The chunks of one stream. It takes the events of the run from the first one on. */
export class ChatStream {
  readonly #chunks: ChatChunks
  readonly #pausesFrom: number
  /** Part that the client has; undefined after the events of that part. */
  #known: KnownPart | undefined
  #isPaused = false

  constructor(runId: string, { known, pausesFrom }: ChatStreamOptions) {
    this.#chunks = new ChatChunks(runId)
    this.#known = known
    this.#pausesFrom = pausesFrom
  }

  /** Whether the message has ended or paused. */
  get isDone(): boolean {
    return this.#isPaused || this.#chunks.isDone
  }

  /** Returns the chunks before the first event. */
  start(): readonly ChatChunk[] {
    return this.#known === undefined ? [this.#chunks.start(), { type: 'start-step' }] : []
  }

  /** Returns the chunks of the next events. */
  after(events: readonly LoggedRunEvent[]): readonly ChatChunk[] {
    const sent: ChatChunk[] = []
    for (const event of events) {
      if (this.#known !== undefined && !isKnown(event, this.#known)) {
        sent.push(...this.#continue(this.#known))
        this.#known = undefined
      }
      const chunks = this.#chunks.after(event)
      if (this.#known !== undefined) continue
      sent.push(...chunks)
      if (this.#chunks.isWaiting && event.seq >= this.#pausesFrom) {
        this.#isPaused = true
        sent.push(...this.#chunks.pause(event.seq))
      }
      if (this.isDone) break
    }
    return sent
  }

  /** Returns the chunks that continue a message; reviews that are still open are sent again in a new step. */
  #continue({ answered }: KnownPart): readonly ChatChunk[] {
    const left = this.#chunks.reviews.filter(({ reviewId }) => !answered.includes(reviewId))
    const start = this.#chunks.start()
    if (left.length === 0) return [start]
    return [start, { type: 'start-step' }, ...this.#chunks.repeat(left)]
  }
}

/** Whether the client already has an event. Without a position, it has everything before its decision. */
function isKnown(event: LoggedRunEvent, { seq, answered }: KnownPart): boolean {
  if (seq !== undefined) return event.seq <= seq
  const isClosed = event.type === 'review_decided' || event.type === 'review_timed_out'
  return !(isClosed && answered.includes(event.reviewId))
}
