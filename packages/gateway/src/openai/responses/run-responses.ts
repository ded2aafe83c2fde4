/**
 * Pure: folds the events of a run into its responses.
 *
 * GW-N1 A response is a segment of a run. It ends where the run waits only for its client, or ends; the next one begins
 *    when all reviews that were open at that point are closed.
 * GW-N2 Sequence numbers count the events of a response. They follow from the log alone, so every reader computes the
 *    same, live or later, in any process.
 * GW-N3 The text is that of the output task, as the model writes it; each turn is one message. A turn that begins again
 *    waits for its whole text: the rest is sent if the text begins as before. Otherwise the first message ends as
 *    incomplete, the text is sent as another one, and the response at the end contains only the latter.
 * GW-N4 The final answer of the last response of a completed run is the output of the run. Text before calls of tools is
 *    a message with the phase `commentary`, and remains in the response at its end. The text of a failed attempt does not.
 * GW-N19 The readable reasoning of a turn is a reasoning item before its message, streamed as the model writes it. Items
 *    of a turn that begins again, and of a failed attempt, are not part of the response at its end.
 * GW-N5 Calls of client tools are function calls, other reviews are approval requests.
 * GW-N6 A refusal is a message with a refusal. A cut or filtered answer is `incomplete`, also a cut one that the task
 *    accepts. An exceeded budget is `failed` with the code `rate_limit_exceeded`, the only code of the protocol for
 *    limits. Any other failure is `failed`, a cancelled run is `cancelled`. `type` and `param` of the error are not in
 *    OpenAI's schema, but the AI SDK requires them.
 */
import { readRunOutput, addEventUsage, NO_RUN_USAGE } from '@tutti/protocol'

import { RunWaits, type WaitingReview } from '../../service/run-waits.ts'
import { toApprovalItem, toFunctionCall } from './call-items.ts'
import { toMessageId, toResponseId } from './ids.ts'
import { writeRefusal, WrittenMessage } from './message-items.ts'
import { WrittenReasoning } from './reasoning-items.ts'
import { createSegment, toSeconds, toSegmentUsage, type ResponseSegment } from './segment.ts'

import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'
import type { RecordedDecision } from '../../service/continued-run.ts'
import type { OutputItem, ResponseState, ResponseStatus, SegmentEvent } from './wire.ts'

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

/** Model turn whose text is being sent. */
interface Turn {
  readonly attempt: number
  readonly iterationIndex: number
  readonly message: WrittenMessage
  /** Place of the message in its segment. */
  readonly place: number
  /** Whether the turn has begun again, and waits for its whole text. */
  isHeld: boolean
}

/** Reasoning of the newest model turn. */
interface Thought {
  readonly attempt: number
  readonly iterationIndex: number
  /** Item that is being written, and its place. */
  open: { readonly item: WrittenReasoning; readonly place: number } | undefined
  /** Places of the items of the turn. */
  readonly places: number[]
}

/** Folds the events of one run, from the first one on. */
export class RunResponses {
  readonly #options: ResponsesOptions
  readonly #waits = new RunWaits()
  readonly #segments: ResponseSegment[] = []
  readonly #decisions = new Map<string, RecordedDecision>()
  /** Reviews that were open at the end of each segment. */
  readonly #pauses: (readonly WaitingReview[])[] = []
  #usage = NO_RUN_USAGE
  #outputTask: string | undefined
  #turn: Turn | undefined
  #thought: Thought | undefined
  #failure: RunEventOf<'task_failed'> | undefined
  /** Whether the output task has accepted an answer that was cut. */
  #isCut = false
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
    return this.#waits.reviews
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
    const isCurrent = segment === this.#current
    const items = segment.items.flatMap((item) => item ?? [])
    const open = isCurrent ? this.#snapshots() : []
    return {
      id: toResponseId({ runId, segment: index }),
      created_at: segment.createdAt,
      completed_at: segment.completedAt,
      status: segment.status,
      error: segment.error,
      incomplete_details: segment.incomplete,
      output: [...items, ...open],
      usage: segment.usage,
      previous_response_id: index === 0 ? null : toResponseId({ runId, segment: index - 1 }),
    }
  }

  /** Returns the events of the next event of the run. */
  after(event: LoggedRunEvent): readonly NumberedEvent[] {
    this.#made = []
    this.#waits.take(event)
    this.#usage = addEventUsage(this.#usage, event)
    this.#fold(event)
    const made = this.#made
    this.#made = []
    return made
  }

  get #current(): ResponseSegment {
    return this.#segments[this.#segments.length - 1] ?? this.#newSegment('in_progress')
  }

  #newSegment(status: ResponseStatus): ResponseSegment {
    const index = this.#segments.length
    return createSegment({ index, status, usageBefore: this.#usage, createdAt: this.#now })
  }

  /** Returns the items that are being written. */
  #snapshots(): readonly OutputItem[] {
    const [thought, turn] = [this.#thought?.open, this.#turn]
    return [
      ...(thought === undefined ? [] : [thought.item.snapshot()]),
      ...(turn === undefined ? [] : [turn.message.snapshot()]),
    ]
  }

  #fold(event: LoggedRunEvent): void {
    switch (event.type) {
      case 'run_queued':
        this.#begin()
        return
      case 'ensemble_started':
        this.#outputTask = event.outputTask
        this.#start()
        return
      case 'run_resumed':
        this.#outputTask = event.outputTask
        return
      case 'reasoning':
        if (event.taskName === this.#outputTask) this.#addReasoning(event)
        return
      case 'token':
        if (this.#isText(event)) this.#addToken(event)
        return
      case 'llm_iteration_started':
        if (event.taskName === this.#outputTask) this.#voidThought(event)
        if (this.#isText(event)) this.#restart(event)
        return
      case 'llm_iteration_completed':
        if (event.taskName === this.#outputTask) this.#endThought('completed')
        if (this.#isText(event)) this.#endTurn(event)
        break
      case 'task_attempt_failed':
        if (event.taskName === this.#outputTask) this.#voidAttempt()
        break
      case 'task_failed':
        if (event.taskName === this.#outputTask) this.#failure = event
        break
      case 'task_completed':
        if (event.taskName !== this.#outputTask) break
        this.#isCut = event.finishReason === 'length'
        this.#sendOutput(event.output)
        break
      case 'review_requested':
        this.#now = Date.parse(event.requestedAt)
        this.#addCall(event)
        break
      case 'review_decided':
        this.#now = Date.parse(event.decidedAt)
        this.#decisions.set(event.reviewId, event)
        this.#continue()
        break
      case 'review_timed_out':
      case 'review_withdrawn':
        this.#continue()
        break
      case 'ensemble_completed':
        this.#now = Date.parse(event.completedAt)
        return
      case 'run_result':
        this.#end(event)
        return
      default:
        break
    }
    const isHeld = this.#isPaused()
    if (this.#waits.isWaiting && !isHeld) this.#pause()
  }

  #isText({ taskName }: { readonly taskName: string }): boolean {
    return taskName === this.#outputTask && !this.#options.isStructured
  }

  /** Whether the run waits for reviews of the last pause. */
  #isPaused(): boolean {
    const pause = this.#pauses.at(-1) ?? []
    const open = new Set(this.#waits.reviews.map(({ reviewId }) => reviewId))
    return pause.some(({ reviewId }) => open.has(reviewId))
  }

  #emit(...events: readonly SegmentEvent[]): void {
    const segment = this.#current
    for (const event of events) {
      this.#made.push({ segment: segment.index, sequence: segment.sequence, event })
      segment.sequence += 1
    }
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

  /** Begins the next segment when the reviews of the pause are closed. */
  #continue(): void {
    if (!this.#current.hasBegun && !this.#isPaused()) this.#begin()
  }

  #addReasoning({ attempt, iterationIndex, text }: RunEventOf<'reasoning'>): void {
    this.#begin()
    this.#thought ??= { attempt, iterationIndex, open: undefined, places: [] }
    const thought = this.#thought
    if (thought.open === undefined) {
      const place = this.#place()
      const item = new WrittenReasoning(
        `rs_${this.#options.runId}_${this.#current.index}_${place}`,
        place,
      )
      thought.open = { item, place }
      thought.places.push(place)
      this.#current.reasoning.push(place)
      this.#emit(...item.open())
    }
    this.#emit(...thought.open.item.add(text))
  }

  /** Closes the reasoning item that is being written. */
  #closeThought(status: 'completed' | 'incomplete'): void {
    const open = this.#thought?.open
    if (this.#thought === undefined || open === undefined) return
    const { events, item } = open.item.close(status)
    this.#thought.open = undefined
    this.#current.items[open.place] = item
    this.#emit(...events)
  }

  /** Drops the reasoning of a turn that begins again, and forgets that of an earlier turn. */
  #voidThought({ attempt, iterationIndex }: RunEventOf<'llm_iteration_started'>): void {
    const thought = this.#thought
    this.#endThought('incomplete')
    if (thought?.attempt === attempt && thought.iterationIndex === iterationIndex) {
      for (const place of thought.places) this.#current.items[place] = undefined
    }
  }

  #endThought(status: 'completed' | 'incomplete'): void {
    this.#closeThought(status)
    this.#thought = undefined
  }

  #addToken({ attempt, iterationIndex, token }: RunEventOf<'token'>): void {
    this.#closeThought('completed')
    const turn = this.#turnOf({ attempt, iterationIndex })
    if (!turn.isHeld) this.#emit(...turn.message.add(token))
  }

  /** Returns the turn whose text is being sent, and opens its message. */
  #turnOf({ attempt, iterationIndex }: Pick<Turn, 'attempt' | 'iterationIndex'>): Turn {
    const known = this.#turn
    if (known?.attempt === attempt && known.iterationIndex === iterationIndex) return known
    this.#closeTurn('incomplete', true)
    this.#begin()
    const place = this.#place()
    const message = new WrittenMessage(this.#messageId(place), place)
    this.#emit(...message.open())
    this.#turn = { attempt, iterationIndex, message, place, isHeld: false }
    return this.#turn
  }

  #place(): number {
    return this.#current.items.push(undefined) - 1
  }

  #messageId(place: number): string {
    return toMessageId({ runId: this.#options.runId, segment: this.#current.index }, place)
  }

  #restart({ attempt, iterationIndex }: RunEventOf<'llm_iteration_started'>): void {
    const turn = this.#turn
    if (turn?.attempt === attempt && turn.iterationIndex === iterationIndex) turn.isHeld = true
    else this.#closeTurn('incomplete', true)
  }

  #endTurn(event: RunEventOf<'llm_iteration_completed'>): void {
    const { attempt, iterationIndex, responseText: text = '', toolRequests = [] } = event
    const sent = this.#turn
    const isSame = sent?.attempt === attempt && sent.iterationIndex === iterationIndex
    if (isSame && !text.startsWith(sent.message.text)) this.#closeTurn('incomplete', true)
    if (text.trim() === '') {
      this.#closeTurn('incomplete', true)
      return
    }
    const { message } = this.#turnOf({ attempt, iterationIndex })
    this.#emit(...message.add(text.slice(message.text.length)))
    const isCalling = toolRequests.length > 0
    const isCut = event.finishReason === 'length' || event.finishReason === 'content_filter'
    const place = this.#closeTurn(isCut ? 'incomplete' : 'completed', false, isCalling)
    if (place === undefined) return
    if (isCalling) {
      this.#current.answer = []
      this.#current.commentary.push(place)
    } else {
      this.#current.answer.push(place)
    }
  }

  /** Closes the message of the turn. Void text is not part of the response at its end. Returns its place. */
  #closeTurn(
    status: 'completed' | 'incomplete',
    isVoid: boolean,
    isCalling = false,
  ): number | undefined {
    const turn = this.#turn
    if (turn === undefined) return undefined
    const phase = isVoid ? undefined : isCalling ? 'commentary' : 'final_answer'
    const { events, item } = turn.message.close(status, phase)
    this.#turn = undefined
    this.#emit(...events)
    if (!isVoid) this.#current.items[turn.place] = item
    return turn.place
  }

  /** Drops the text and the reasoning of a failed attempt from the response. */
  #voidAttempt(): void {
    this.#endThought('incomplete')
    this.#voidAnswer()
    const { items, reasoning, commentary } = this.#current
    for (const place of [...reasoning, ...commentary]) items[place] = undefined
    this.#current.reasoning = []
    this.#current.commentary = []
  }

  /** Drops the answer from the response. */
  #voidAnswer(): void {
    this.#closeTurn('incomplete', true)
    for (const place of this.#current.answer) this.#current.items[place] = undefined
    this.#current.answer = []
  }

  /** Sends the output of the output task, unless its text has been sent. */
  #sendOutput(output: string): void {
    this.#closeTurn('incomplete', true)
    const { items, answer } = this.#current
    const sent = answer.map((place) => readItemText(items[place])).join('')
    if (sent === output || output === '') return
    this.#voidAnswer()
    this.#sendText(output)
  }

  #sendText(text: string): void {
    this.#begin()
    const index = this.#place()
    const message = new WrittenMessage(this.#messageId(index), index)
    this.#emit(...message.open(), ...message.add(text))
    const { events, item } = message.close('completed', 'final_answer')
    this.#current.items[index] = item
    this.#emit(...events)
  }

  #addCall(review: WaitingReview): void {
    this.#begin()
    this.#closeTurn('incomplete', true)
    const index = this.#place()
    const { events, item } =
      review.kind === 'CLIENT_TOOL' ? toFunctionCall(review, index) : toApprovalItem(review, index)
    this.#current.items[index] = item
    this.#emit(...events)
  }

  /** Ends the segment where the run waits for its client. */
  #pause(): void {
    this.#begin()
    this.#pauses[this.#current.index] = this.#waits.reviews
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
    segment.usage = toSegmentUsage(segment.usageBefore, this.#usage)
    this.#emitState(type)
  }

  #closeIncomplete(reason: 'max_output_tokens' | 'content_filter'): void {
    this.#current.incomplete = { reason }
    this.#close('incomplete', 'response.incomplete')
  }

  #end(event: RunEventOf<'run_result'>): void {
    const { status, error, code } = event
    this.#start()
    this.#closeThought('incomplete')
    this.#closeTurn('incomplete', false)
    const segment = this.#current
    switch (status) {
      case 'COMPLETED': {
        // The output of a run that a reviewer ended early is that of another task.
        if (event.outputTask !== this.#outputTask) this.#sendText(readRunOutput(event) ?? '')
        if (this.#isCut) this.#closeIncomplete('max_output_tokens')
        else this.#close('completed', 'response.completed')
        return
      }
      case 'CANCELLED':
        this.#close('cancelled', 'response.incomplete')
        return
      default: {
        const { finishReason, refusal = error ?? '' } = this.#failure ?? {}
        if (finishReason === 'refusal') {
          this.#voidAnswer()
          const index = this.#place()
          const made = writeRefusal(this.#messageId(index), index, refusal)
          segment.items[index] = made.item
          this.#emit(...made.events)
          this.#close('completed', 'response.completed')
          return
        }
        const reason = finishReason === undefined ? undefined : INCOMPLETE[finishReason]
        if (reason !== undefined) {
          this.#closeIncomplete(reason)
          return
        }
        segment.error = {
          code: ERRORS[code ?? ''] ?? 'server_error',
          message: error ?? 'The run failed',
          type: 'server_error',
          param: null,
        }
        this.#close('failed', 'response.failed')
      }
    }
  }
}

/** Failure code of a run → code of the error; the other codes are errors of the server. */
const ERRORS: Readonly<Record<string, 'invalid_prompt' | 'rate_limit_exceeded' | undefined>> = {
  BUDGET_EXCEEDED: 'rate_limit_exceeded',
  REQUEST_REJECTED: 'invalid_prompt',
}

/** Finish reason of the last answer → reason of the incomplete response. */
const INCOMPLETE: Readonly<Record<string, 'max_output_tokens' | 'content_filter' | undefined>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

/** Returns the text of an item; empty for other items. */
export function readItemText(item: OutputItem | undefined): string {
  if (item?.type !== 'message') return ''
  return item.content.map((part) => (part.type === 'output_text' ? part.text : '')).join('')
}
