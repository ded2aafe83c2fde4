/**
 * No I/O: maps the events of a run to those of one run of AG-UI.
 *
 *   run of Tutti     ├──────────────── review ────────────┼──────────── end
 *   runs of AG-UI    RUN_STARTED … RUN_FINISHED interrupt · RUN_STARTED … RUN_FINISHED success
 *
 * GW-Y5 A run of AG-UI is a segment of a run of Tutti. It ends with an interrupt where the run waits only for decisions
 *    (PROTO-W1), and with the run. The next segment begins with the event after that, so that no event is in two segments
 *    and none is lost. It is found by the reviews that its request answers, in any process and at any time.
 * GW-Y20 Calls of client tools end a segment with `success` and their ids. The client executes them and sends their
 *    results as messages of the next request. The next segment does not repeat these results.
 * GW-Y9 A step is an attempt of a task that is not only counted (GW-GP1). Steps that are open at an interrupt are closed,
 *    and the next segment opens them again.
 * GW-Y10 A completed run ends with `success`, a cancelled one with `cancelled`, and a failed one with RUN_ERROR and its
 *    failure code. The usage is that of the segment, per model.
 * GW-Y11 A stream that joins a run late first removes the messages of this segment from the conversation, so that no
 *    text appears twice.
 */
import { RunProjection, type LoggedRunEvent, type RunOperation } from '@tutti/protocol'
import type {
  CallRequested,
  WaitingReview,
  RunEnded,
  TaskOperation,
} from '@tutti/protocol/internal'

import { GroupProgress } from '../runs/group-progress.ts'
import { toInterrupt } from './interrupt.ts'
import { AguiMessages } from './messages.ts'
import { SegmentUsage } from './segment-usage.ts'
import { AguiStateFold, type AguiRunIdentity } from './state.ts'
import {
  AGUI_VERSION,
  type AguiEvent,
  type AguiMessage,
  type AguiOutcome,
  type AguiRunIds,
} from './wire.ts'

/** A run of AG-UI, as its request describes it. */
export interface AguiSegment {
  readonly ids: AguiRunIds
  readonly run: AguiRunIdentity
  /** State of the client. */
  readonly state: unknown
  /** Conversation of the client. */
  readonly messages: readonly AguiMessage[]
  /** Ids of the reviews that the request answers; empty for the first segment. */
  readonly answered: ReadonlySet<string>
}

/** Makes the events of one run of AG-UI from the events of the run, in order from the first. */
export class AguiRun {
  readonly #segment: AguiSegment
  readonly #projection = new RunProjection()
  readonly #messages: AguiMessages
  readonly #usage = new SegmentUsage()
  readonly #steps = new Set<string>()
  /** Id of a call of a client tool → its review. */
  readonly #clientCalls = new Map<string, string>()
  readonly #groups = new GroupProgress()
  readonly #state: AguiStateFold
  /** Open calls of counted tasks, which have no messages before a review. */
  readonly #held = new Map<string, CallRequested>()
  #hasBegun = false
  #isDone = false

  constructor(segment: AguiSegment) {
    this.#segment = segment
    this.#messages = new AguiMessages(segment.run.runId, segment.messages)
    this.#state = new AguiStateFold(segment.run, this.#groups)
  }

  /** Whether the segment has ended. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Ids of the calls of client tools so far → their reviews. */
  get clientCalls(): ReadonlyMap<string, string> {
    return this.#clientCalls
  }

  /** Returns the events before the first event of the run. */
  start(): readonly AguiEvent[] {
    const started = {
      type: 'RUN_STARTED',
      ...this.#segment.ids,
      protocolVersion: AGUI_VERSION,
    } as const
    return this.#segment.answered.size === 0 ? [started, ...this.#begin()] : [started]
  }

  /** Returns the events for a batch of events of the run. */
  after(events: readonly LoggedRunEvent[]): readonly AguiEvent[] {
    const sent: AguiEvent[] = []
    for (const event of events) {
      const { made, ended } = this.#advance(event)
      if (this.#hasBegun) {
        for (const one of made) this.#messages.add(one)
        sent.push(...made)
      } else if (this.#reachesBegin(event)) {
        sent.push(...this.#begin())
      }
      if (!this.#hasBegun) continue
      if (ended !== undefined) sent.push(...this.#end(), this.#toEnd(ended))
      else if (this.#isPaused()) sent.push(...this.#end(), this.#toPause())
      if (this.#isDone) break
    }
    return sent
  }

  /** Applies events without making those of AG-UI. */
  fold(events: readonly LoggedRunEvent[]): void {
    for (const event of events) this.#advance(event)
  }

  /** Whether an event, which was applied, is the last one before this segment. */
  #reachesBegin({ type }: LoggedRunEvent): boolean {
    const { isWaiting } = this.#projection
    if (!isWaiting && !type.startsWith('review_') && type !== 'run_result') return false
    const answered = [...this.#segment.answered].map((id) => this.#state.run.findReview(id))
    if (answered.includes(undefined)) return type === 'run_result'
    return isWaiting || answered.some((review) => review?.status !== 'OPEN')
  }

  *#begin(): Generator<AguiEvent> {
    this.#hasBegun = true
    this.#usage.clear()
    yield* this.#messages.begin()
    yield { type: 'STATE_SNAPSHOT', snapshot: this.#state.toSnapshot(this.#segment.state) }
    for (const name of this.#state.running) yield* this.#startStep(name)
  }

  /** Whether the run waits only for reviews that this request has not answered. */
  #isPaused(): boolean {
    const { isWaiting, reviews } = this.#projection
    return isWaiting && !reviews.some(({ reviewId }) => this.#segment.answered.has(reviewId))
  }

  /** Applies an event. Returns its events, and the end of the run. */
  #advance(event: LoggedRunEvent): { readonly made: AguiEvent[]; readonly ended?: RunEnded } {
    const group = this.#groups.take(event)
    const operations = this.#projection.take(event)
    const { usage, waitingStatus } = this.#projection
    this.#usage.add(event)
    const isCounted = group !== undefined
    const made = operations.flatMap((operation) => [...this.#show(operation, isCounted)])
    const delta = this.#state.take(event, { usage, waitingStatus, group })
    if (delta.length > 0) made.push({ type: 'STATE_DELTA', delta })
    const ended = operations.find((operation) => operation.type === 'ended')
    return { made, ...(ended === undefined ? {} : { ended }) }
  }

  /** Yields the events of an operation, except those of its state. */
  *#show(operation: RunOperation, isCounted: boolean): Generator<AguiEvent> {
    switch (operation.type) {
      case 'task':
        if (!isCounted) yield* this.#changeStep(operation)
        return
      case 'call_requested':
        if (isCounted) this.#held.set(operation.callId, operation)
        else yield* this.#messages.after(operation)
        return
      case 'call_ended':
        if (!this.#held.delete(operation.callId)) yield* this.#messages.after(operation)
        return
      case 'review_opened':
        yield* this.#showHeld(operation.review.callId)
        this.#askClient(operation.review)
        return
      default:
        yield* this.#messages.after(operation)
    }
  }

  *#showHeld(callId: string | undefined): Generator<AguiEvent> {
    const held = callId === undefined ? undefined : this.#held.get(callId)
    if (held === undefined) return
    this.#held.delete(held.callId)
    yield* this.#messages.after(held)
  }

  #askClient(review: WaitingReview): void {
    const toolCallId = review.kind === 'CLIENT_TOOL' ? this.#toCallId(review) : undefined
    if (toolCallId !== undefined) this.#clientCalls.set(toolCallId, review.reviewId)
  }

  *#changeStep({ name, status }: TaskOperation): Generator<AguiEvent> {
    if (status === 'RUNNING') yield* this.#startStep(name)
    else yield* this.#finishStep(name)
  }

  *#startStep(stepName: string): Generator<AguiEvent> {
    if (this.#steps.has(stepName) || !this.#hasBegun) return
    this.#steps.add(stepName)
    yield { type: 'STEP_STARTED', stepName }
  }

  *#finishStep(stepName: string): Generator<AguiEvent> {
    if (this.#steps.delete(stepName)) yield { type: 'STEP_FINISHED', stepName }
  }

  /** Ends everything that is open in the segment. */
  *#end(): Generator<AguiEvent> {
    this.#isDone = true
    yield* this.#messages.close()
    for (const stepName of this.#steps) yield* this.#finishStep(stepName)
  }

  /** Returns the end of a segment where the run waits for its client. */
  #toPause(): AguiEvent {
    return {
      type: 'RUN_FINISHED',
      ...this.#segment.ids,
      outcome: this.#toOutcome(this.#projection.reviews),
      usage: this.#usage.entries,
    }
  }

  /** Returns what the client must decide, or else the calls that it must execute. */
  #toOutcome(open: readonly WaitingReview[]): AguiOutcome {
    const interrupts = open.flatMap((review) =>
      review.kind === 'CLIENT_TOOL' ? [] : [toInterrupt(review, this.#toCallId(review))],
    )
    if (interrupts.length > 0) return { type: 'interrupt', interrupts }
    const pendingToolCallIds = open.flatMap((review) => this.#toCallId(review) ?? [])
    return { type: 'success', pendingToolCallIds }
  }

  /** Returns the id by which the client knows the call under a review. */
  #toCallId({ callId }: WaitingReview): string | undefined {
    return callId === undefined ? undefined : this.#messages.toCallId(callId)
  }

  /** Returns the end of a segment with the run. */
  #toEnd({ status, output, error: message, code }: RunEnded): AguiEvent {
    const usage = this.#usage.entries
    if (status === 'FAILED') return { type: 'RUN_ERROR', message, code, usage }
    const finished = { type: 'RUN_FINISHED', ...this.#segment.ids, usage } as const
    if (status === 'CANCELLED') return { ...finished, outcome: { type: 'cancelled' } }
    const { outputTask = '' } = this.#state.run.facts
    const finishReason = this.#state.run.findTask(outputTask)?.finishReason
    return {
      ...finished,
      outcome: { type: 'success' },
      ...(output === undefined ? {} : { result: output }),
      ...(finishReason === undefined ? {} : { metadata: { finishReason } }),
    }
  }
}
