/**
 * No I/O: folds the events of a run into its responses.
 *
 * GW-N1 A response is a segment of a run. It ends where the run waits only for its client, or ends; the next one begins
 * when all reviews open at that point are closed.
 * GW-N2 Sequence numbers count the events of a response. They follow from the log alone, so every reader computes the
 *    same, live or later, in any process.
 * GW-N5 Calls of client tools are function calls, other reviews are approval requests.
 * GW-N6 A refusal is a message with a refusal. A cut or filtered answer is `incomplete`, also a cut one that the task
 *    accepts. An exceeded budget is `failed` with the code `rate_limit_exceeded`, the only code of the protocol for
 *    limits. Any other failure is `failed`, a cancelled run is `cancelled`. `type` and `param` of the error are not in
 *    OpenAI's schema, but the AI SDK requires them.
 */
import { RunProjection } from '@tutti/protocol'

import { toApprovalItem, toFunctionCall } from './call-items.ts'
import { toResponseId } from './ids.ts'
import { writeRefusal } from './message-items.ts'
import { SegmentItems } from './segment-items.ts'
import { createSegment, toSeconds, toSegmentUsage, type ResponseSegment } from './segment.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { WaitingReview, ClosedReview, RunEnded } from '@tutti/protocol/internal'
import type { RecordedDecision } from '../../service/continued-run.ts'
import type { ResponseState, ResponseStatus, SegmentEvent } from './wire.ts'

/** Event of a stream with its response and its number. */
export interface NumberedEvent {
  readonly segment: number
  readonly sequence: number
  readonly event: SegmentEvent
}

/** The parts of a request on which the responses depend. */
export interface ResponsesOptions {
  readonly runId: string
  readonly createdAt: number
  /** Whether the response is created as queued. */
  readonly background: boolean
  /** Whether text is sent only once it is valid. */
  readonly isStructured: boolean
}

/** Folds the events of one run, from the first one on. */
export class RunResponses {
  readonly #options: ResponsesOptions
  readonly #run = new RunProjection()
  readonly #segments: ResponseSegment[] = []
  readonly #decisions = new Map<string, RecordedDecision>()
  /** Reviews that were open at the end of each segment. */
  readonly #pauses: (readonly WaitingReview[])[] = []
  #now: number
  #made: NumberedEvent[] = []

  constructor(options: ResponsesOptions) {
    this.#options = options
    this.#now = options.createdAt
    this.#segments.push(this.#newSegment(options.background ? 'queued' : 'in_progress'))
  }

  /** Index of the newest segment that has begun. */
  get newest(): number {
    const last = this.#segments.length - 1
    return this.#current.hasBegun || last === 0 ? last : last - 1
  }

  /** Whether the segment has ended: the run waits for its client, or has ended. */
  isDone(segment: number): boolean {
    const known = this.#segments[segment]
    return known !== undefined && known.completedAt !== null
  }

  /** Reviews that were open at the end of a segment. */
  pauseAfter(segment: number): readonly WaitingReview[] {
    return this.#pauses[segment] ?? []
  }

  /** Reviews that are open. */
  get open(): readonly WaitingReview[] {
    return this.#run.reviews
  }

  /** Returns the decision of a review that is closed. */
  decisionOf(reviewId: string): RecordedDecision | undefined {
    return this.#decisions.get(reviewId)
  }

  /** Whether a segment exists. */
  has(segment: number): boolean {
    return segment <= this.newest
  }

  /** Returns the state of a response. */
  stateOf(index: number): ResponseState {
    const segment = this.#segments[index] ?? this.#current
    const { runId } = this.#options
    return {
      id: toResponseId({ runId, segment: index }),
      created_at: segment.createdAt,
      completed_at: segment.completedAt,
      status: segment.status,
      error: segment.error,
      incomplete_details: segment.incomplete,
      output: segment.items.list,
      usage: segment.usage,
      previous_response_id: index === 0 ? null : toResponseId({ runId, segment: index - 1 }),
    }
  }

  /** Returns the response events for the run's next event. */
  after(event: LoggedRunEvent): readonly NumberedEvent[] {
    this.#made = []
    const operations = this.#run.take(event)
    this.#now = readTime(event) ?? this.#now
    if (event.type === 'run_queued') this.#begin()
    if (event.type === 'ensemble_started') this.#start()
    for (const operation of operations) {
      if (operation.type === 'review_opened') this.#addCall(operation.review)
      else if (operation.type === 'review_closed') this.#closeReview(operation)
      else if (operation.type === 'ended') this.#end(operation)
      else this.#emitItems(this.#current.items.after(operation))
    }
    if (this.#run.isWaiting && !this.#isPaused()) this.#pause()
    const made = this.#made
    this.#made = []
    return made
  }

  get #current(): ResponseSegment {
    return this.#segments[this.#segments.length - 1] ?? this.#newSegment('in_progress')
  }

  #newSegment(status: ResponseStatus): ResponseSegment {
    const { runId, isStructured } = this.#options
    const items = new SegmentItems({ runId, segment: this.#segments.length, isStructured })
    return createSegment({
      index: this.#segments.length,
      items,
      status,
      usageBefore: this.#run.usage,
      createdAt: this.#now,
    })
  }

  /** Whether the run waits for reviews of the last pause. */
  #isPaused(): boolean {
    const pause = this.#pauses.at(-1) ?? []
    const open = new Set(this.#run.reviews.map(({ reviewId }) => reviewId))
    return pause.some(({ reviewId }) => open.has(reviewId))
  }

  #emit(...events: readonly SegmentEvent[]): void {
    const segment = this.#current
    for (const event of events) {
      this.#made.push({ segment: segment.index, sequence: segment.sequence, event })
      segment.sequence += 1
    }
  }

  /** Emits events of items, which begin the segment. */
  #emitItems(events: readonly SegmentEvent[]): void {
    if (events.length === 0) return
    this.#begin()
    this.#emit(...events)
  }

  #emitState(type: Extract<SegmentEvent, { readonly response: ResponseState }>['type']): void {
    this.#emit({ type, response: this.stateOf(this.#current.index) })
  }

  /** Begins the current segment, once. */
  #begin(): void {
    const segment = this.#current
    if (segment.hasBegun) return
    segment.hasBegun = true
    segment.createdAt = toSeconds(this.#now)
    this.#emitState('response.created')
    this.#emitState(segment.status === 'queued' ? 'response.queued' : 'response.in_progress')
  }

  /** Marks a queued segment as in progress. */
  #start(): void {
    this.#begin()
    const segment = this.#current
    if (segment.status !== 'queued') return
    segment.status = 'in_progress'
    this.#emitState('response.in_progress')
  }

  #addCall(review: WaitingReview): void {
    const { items } = this.#current
    const toItem = review.kind === 'CLIENT_TOOL' ? toFunctionCall : toApprovalItem
    this.#begin()
    this.#emit(...items.add((_id, index) => toItem(review, index)))
  }

  /** Begins the next segment when the reviews of the pause are closed. */
  #closeReview({ event }: ClosedReview): void {
    if (event.type === 'review_decided') this.#decisions.set(event.reviewId, event)
    if (!this.#current.hasBegun && !this.#isPaused()) this.#begin()
  }

  /** Ends the segment where the run waits for its client. */
  #pause(): void {
    this.#begin()
    this.#pauses[this.#current.index] = this.#run.reviews
    this.#close('completed', 'response.completed')
    this.#segments.push(this.#newSegment('in_progress'))
  }

  #close(
    status: ResponseStatus,
    type: 'response.completed' | 'response.incomplete' | 'response.failed',
  ): void {
    const segment = this.#current
    segment.status = status
    segment.completedAt = toSeconds(this.#now)
    segment.usage = toSegmentUsage(segment.usageBefore, this.#run.usage)
    this.#emitState(type)
  }

  #closeIncomplete(reason: 'max_output_tokens' | 'content_filter'): void {
    this.#current.incomplete = { reason }
    this.#close('incomplete', 'response.incomplete')
  }

  #end({ reason, refusal, error, code }: RunEnded): void {
    this.#start()
    const { items } = this.#current
    this.#emit(...items.close())
    switch (reason) {
      case 'stop':
        this.#close('completed', 'response.completed')
        return
      case 'cancelled':
        this.#close('cancelled', 'response.incomplete')
        return
      case 'length':
        this.#closeIncomplete('max_output_tokens')
        return
      case 'content_filter':
        this.#closeIncomplete('content_filter')
        return
      case 'refusal':
        this.#emit(...items.voidAnswer())
        this.#emit(...items.add((id, index) => writeRefusal(id, index, refusal)))
        this.#close('completed', 'response.completed')
        return
      case 'failed':
        this.#current.error = {
          code: ERRORS.get(code) ?? 'server_error',
          message: error,
          type: 'server_error',
          param: null,
        }
        this.#close('failed', 'response.failed')
    }
  }
}

/** Returns the time of an event that begins or ends a response, in milliseconds since 1970. */
function readTime(event: LoggedRunEvent): number | undefined {
  switch (event.type) {
    case 'review_requested':
      return Date.parse(event.requestedAt)
    case 'review_decided':
      return Date.parse(event.decidedAt)
    case 'ensemble_completed':
      return Date.parse(event.completedAt)
    default:
      return undefined
  }
}

/** Failure code of a run → code of the error; the other codes are errors of the server. */
const ERRORS: ReadonlyMap<string, 'invalid_prompt' | 'rate_limit_exceeded'> = new Map([
  ['BUDGET_EXCEEDED', 'rate_limit_exceeded'],
  ['REQUEST_REJECTED', 'invalid_prompt'],
])
