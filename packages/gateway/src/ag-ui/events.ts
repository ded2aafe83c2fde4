/**
 * Pure: maps the events of a run to those of one run of AG-UI.
 *
 *   run of Tutti     ├──────────────── review ────────────┼──────────── end
 *   runs of AG-UI    RUN_STARTED … RUN_FINISHED interrupt · RUN_STARTED … RUN_FINISHED success
 *
 * GW-Y5 A run of AG-UI is a segment of a run of Tutti. It ends with an interrupt where the run waits only for decisions
 *    (GW-W1), and with the run. The next segment begins with the event after that, so that no event is in two segments
 *    and none is lost. It is found by the reviews that its request answers, in any process and at any time.
 * GW-Y6 Text is that of the output task, streamed as the model writes it: one message per model turn. A turn after a cut
 *    answer continues its message. If the output of the task differs from its last message, as after an edit, the output
 *    replaces that message.
 * GW-Y21 The readable reasoning of the output task is one reasoning message per model turn, before its text. That of a
 *    completed turn remains; otherwise it is taken back like text.
 * GW-Y7 Text that did not become the output is taken back with a snapshot of the messages: that of a failed model call,
 *    of a failed attempt, of a lost process, and of an answer that the task did not accept. A conversation beyond
 *    4,000,000 characters keeps it as a separate message.
 * GW-Y8 Tool calls are those of all tasks. Their ids are unique in the conversation and begin with the id of the run. A
 *    result that belongs to a call of an earlier segment refers to it.
 * GW-Y20 Calls of client tools end a segment with `success` and their ids. The client executes them and sends their
 *    results as messages of the next request. The next segment does not repeat these results.
 * GW-Y9 A step is an attempt of a task. Steps that are open at an interrupt are closed, and the next segment opens them
 *    again.
 * GW-Y10 A completed run ends with `success`, a cancelled one with `cancelled`, and a failed one with RUN_ERROR and its
 *    failure code. The usage is that of the segment, per model.
 * GW-Y11 A stream that joins a run late first removes the messages of this segment from the conversation, so that no
 *    text appears twice.
 */
import {
  applyRunEvent,
  emptyRunState,
  readRunOutput,
  type LoggedRunEvent,
  type RunState,
  addEventUsage,
  NO_RUN_USAGE,
} from '@tutti/protocol'

import { RunWaits } from '../service/run-waits.ts'
import { toInterrupt } from './interrupt.ts'
import { SegmentUsage } from './segment-usage.ts'
import { diffStates, toAguiState, toSnapshot, type AguiRunIdentity } from './state.ts'
import { Transcript } from './transcript.ts'
import {
  AGUI_VERSION,
  type AguiEvent,
  type AguiMessage,
  type AguiOutcome,
  type AguiRunIds,
} from './wire.ts'

import type { RunEventOf, ReviewState } from '@tutti/protocol'

/** Types of the events that change the state of a run. Others would only retain the text of models. */
const STATE_EVENTS: ReadonlySet<string> = new Set([
  'run_queued',
  'run_resumed',
  'run_cancelling',
  'ensemble_started',
  'delegation_started',
  'delegation_completed',
  'delegation_failed',
  'review_requested',
  'review_decided',
  'review_timed_out',
  'review_withdrawn',
  'task_started',
  'task_completed',
  'task_attempt_failed',
  'task_failed',
  'task_skipped',
  'ensemble_completed',
  'run_result',
] satisfies readonly LoggedRunEvent['type'][])

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

/** Message of the output task that requests no tools. */
interface FinalMessage {
  readonly id: string
  readonly text: string
  /** Whether the model reached its output limit, so that its next turn may continue the text. */
  readonly isCut: boolean
}

/** Event of a model turn. */
type TurnEvent = Pick<RunEventOf<'token'>, 'taskName' | 'taskIndex' | 'attempt' | 'iterationIndex'>

/** Makes the events of one run of AG-UI from the events of the run, in order from the first. */
export class AguiRun {
  readonly #segment: AguiSegment
  readonly #transcript: Transcript
  /** Ids of the messages of earlier segments. */
  readonly #earlier = new Set<string>()
  readonly #usage = new SegmentUsage()
  readonly #steps = new Set<string>()
  /** Id of a call for the client → the call. */
  readonly #calls = new Map<string, Pick<RunEventOf<'tool_called'>, 'taskName' | 'toolCallId'>>()
  /** Id of a call of a client tool → its review. */
  readonly #clientCalls = new Map<string, string>()
  /** Ids of the calls whose results the client has. */
  readonly #answeredCalls: ReadonlySet<string>
  readonly #waits = new RunWaits()
  #run: RunState = emptyRunState()
  #totals = NO_RUN_USAGE
  #state: ReturnType<typeof toAguiState>
  /** Id of the message that is being written. */
  #open: string | undefined
  /** Id of the message to which tokens of the current turn were written. */
  #written: string | undefined
  /** Reasoning message of the current turn of the output task. */
  #reasoning: { readonly id: string; isOpen: boolean } | undefined
  /** Turn of the output task that was entered last, with the id of its message. */
  #turn: { readonly key: string; readonly id: string } | undefined
  /** Last message of the output task, if it is complete and requests no tools. */
  #answer: FinalMessage | undefined
  /** Number of texts that were taken back, which makes the ids of later ones different. */
  #takenBack = 0
  #hasBegun = false
  #isDone = false

  constructor(segment: AguiSegment) {
    this.#segment = segment
    this.#transcript = new Transcript(segment.messages)
    this.#answeredCalls = new Set(
      segment.messages.flatMap(({ id, toolCallId }) => (this.#isOwn(id) ? [] : (toolCallId ?? []))),
    )
    this.#state = toAguiState(segment.run, this.#run, this.#totals)
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
      const made = [...this.#advance(event)]
      if (this.#hasBegun) {
        for (const one of made) this.#transcript.add(one)
        sent.push(...made)
      } else if (this.#reachesBegin()) {
        sent.push(...this.#begin())
        if (event.type === 'run_result') sent.push(...this.#finish(event))
      }
      if (this.#hasBegun && this.#isPaused()) sent.push(...this.#interrupt())
      if (this.#isDone) break
    }
    return sent
  }

  /** Applies events without making those of AG-UI. */
  fold(events: readonly LoggedRunEvent[]): void {
    for (const event of events) Array.from(this.#advance(event))
  }

  /** Whether the event that was applied last is the last one before this segment. */
  #reachesBegin(): boolean {
    const answered = this.#run.reviews.filter(({ reviewId }) =>
      this.#segment.answered.has(reviewId),
    )
    if (answered.length < this.#segment.answered.size) return this.#run.outputs !== undefined
    return this.#waits.isWaiting || answered.some(({ status }) => status !== 'OPEN')
  }

  *#begin(): Generator<AguiEvent> {
    this.#hasBegun = true
    this.#open = undefined
    this.#reasoning = undefined
    this.#usage.clear()
    if (this.#transcript.drop((id) => this.#isOwn(id) && !this.#earlier.has(id))) {
      yield { type: 'MESSAGES_SNAPSHOT', messages: this.#transcript.messages }
    }
    yield { type: 'STATE_SNAPSHOT', snapshot: toSnapshot(this.#segment.state, this.#state) }
    for (const { name, status } of this.#run.tasks) {
      if (status === 'RUNNING') yield* this.#startStep(name)
    }
  }

  /** Whether the run made a message. */
  #isOwn(messageId: string): boolean {
    return messageId.startsWith(`${this.#segment.run.runId}:`)
  }

  /** Whether the run waits only for reviews that this request has not answered. */
  #isPaused(): boolean {
    return this.#waits.isWaiting && !this.#run.reviews.some((review) => this.#isAnswered(review))
  }

  #isAnswered({ reviewId, status }: ReviewState): boolean {
    return status === 'OPEN' && this.#segment.answered.has(reviewId)
  }

  *#advance(event: LoggedRunEvent): Generator<AguiEvent> {
    const before = this.#run
    this.#waits.take(event)
    this.#totals = addEventUsage(this.#totals, event)
    this.#usage.add(event)
    this.#run = foldState(before, event)
    yield* this.#eventsOf(event)
    if (this.#run === before && event.type !== 'llm_iteration_completed') return
    const state = toAguiState(this.#segment.run, this.#run, this.#totals)
    const delta = diffStates(this.#state, state)
    this.#state = state
    if (delta.length > 0) yield { type: 'STATE_DELTA', delta }
    if (event.type === 'run_result' && this.#hasBegun) yield* this.#finish(event)
  }

  *#eventsOf(event: LoggedRunEvent): Generator<AguiEvent> {
    switch (event.type) {
      case 'run_resumed':
      case 'run_forked':
        yield* this.#takeBackOpen()
        break
      case 'task_started':
        yield* this.#startStep(event.taskName)
        break
      case 'reasoning':
        if (this.#isFinal(event.taskName)) yield* this.#reason(toTurnKey(event), event.text)
        break
      case 'token':
        if (this.#isFinal(event.taskName)) {
          yield* this.#write(yield* this.#enter(toTurnKey(event)), event.token)
        }
        break
      case 'llm_iteration_completed':
        yield* this.#turnEvents(event)
        break
      case 'llm_iteration_failed':
        if (this.#isFinal(event.taskName)) yield* this.#takeBackOpen()
        break
      case 'tool_called':
        yield* this.#resultEvents(event)
        break
      case 'review_requested':
        this.#askClient(event)
        break
      case 'task_completed':
        if (this.#isFinal(event.taskName)) yield* this.#outputEvents(event)
        yield* this.#finishStep(event.taskName)
        break
      case 'task_attempt_failed':
      case 'task_failed':
        if (this.#isFinal(event.taskName)) yield* this.#attemptFailed(event.type)
        yield* this.#finishStep(event.taskName)
        break
      default:
    }
  }

  #isFinal(taskName: string): boolean {
    return taskName === this.#run.outputTask
  }

  #toId(key: string): string {
    return `${this.#segment.run.runId}:${key}`
  }

  /**
   * Enters a turn of the output task. Its text continues a message that was cut, and replaces a message that was not the
   * answer.
   */
  *#enter(key: string): Generator<AguiEvent, string> {
    if (this.#turn?.key === key) return this.#turn.id
    const before = this.#answer
    if (before?.isCut === true) {
      this.#turn = { key, id: before.id }
      return before.id
    }
    if (before !== undefined) yield* this.#takeBack(before.id)
    const id = this.#toId(this.#takenBack === 0 ? key : `${key}.${this.#takenBack}`)
    this.#turn = { key, id }
    return id
  }

  /** Writes reasoning to the message of its turn, which it opens if necessary. */
  *#reason(key: string, delta: string): Generator<AguiEvent> {
    const suffix = this.#takenBack === 0 ? '' : `.${this.#takenBack}`
    this.#reasoning ??= { id: this.#toId(`${key}${suffix}:reasoning`), isOpen: false }
    const { id: messageId, isOpen } = this.#reasoning
    if (!isOpen) {
      this.#reasoning.isOpen = true
      this.#remember(messageId)
      yield { type: 'REASONING_START', messageId }
      yield { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' }
    }
    yield { type: 'REASONING_MESSAGE_CONTENT', messageId, delta }
  }

  *#closeReasoning(): Generator<AguiEvent> {
    if (this.#reasoning?.isOpen !== true) return
    this.#reasoning.isOpen = false
    const { id: messageId } = this.#reasoning
    yield { type: 'REASONING_MESSAGE_END', messageId }
    yield { type: 'REASONING_END', messageId }
  }

  /** Writes text to a message, which it opens if necessary. */
  *#write(messageId: string, delta: string): Generator<AguiEvent> {
    yield* this.#closeReasoning()
    if (this.#open !== messageId) {
      yield* this.#close()
      this.#open = messageId
      this.#remember(messageId)
      yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
    }
    this.#written = messageId
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
  }

  *#close(): Generator<AguiEvent> {
    yield* this.#closeReasoning()
    if (this.#open === undefined) return
    yield { type: 'TEXT_MESSAGE_END', messageId: this.#open }
    this.#open = undefined
  }

  /** Closes the message that is being written and the reasoning before it, and takes them back. */
  *#takeBackOpen(): Generator<AguiEvent> {
    const open = [this.#reasoning?.id, this.#open].filter((id) => id !== undefined)
    if (open.length === 0) return
    yield* this.#close()
    this.#reasoning = undefined
    yield* this.#takeBack(...open)
  }

  *#takeBack(...messageIds: readonly string[]): Generator<AguiEvent> {
    this.#takenBack += 1
    this.#turn = undefined
    this.#answer = undefined
    for (const messageId of messageIds) this.#earlier.delete(messageId)
    if (!this.#hasBegun) return
    const messages = this.#transcript.takeBack(messageIds)
    if (messages !== undefined) yield { type: 'MESSAGES_SNAPSHOT', messages }
  }

  #remember(messageId: string): void {
    if (!this.#hasBegun) this.#earlier.add(messageId)
  }

  *#turnEvents(event: RunEventOf<'llm_iteration_completed'>): Generator<AguiEvent> {
    const { taskName, toolRequests = [] } = event
    const messageId = this.#isFinal(taskName)
      ? yield* this.#finalTurn(event)
      : this.#toId(toTurnKey(event))
    for (const { id = '', name, arguments: delta } of toolRequests) {
      const toolCallId = `${messageId}:${id}`
      this.#calls.set(toolCallId, { taskName, toolCallId: id })
      this.#remember(messageId)
      yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId: messageId }
      if (delta !== '') yield { type: 'TOOL_CALL_ARGS', toolCallId, delta }
      yield { type: 'TOOL_CALL_END', toolCallId }
    }
  }

  /** Completes the text of a turn of the output task. Returns the id of its message. */
  *#finalTurn({
    responseText = '',
    toolRequests = [],
    finishReason,
    ...event
  }: RunEventOf<'llm_iteration_completed'>): Generator<AguiEvent, string> {
    const before = this.#answer
    const id = yield* this.#enter(toTurnKey(event))
    // A model that does not stream has no tokens.
    const isWritten = this.#written === id
    if (!isWritten && responseText !== '') yield* this.#write(id, responseText)
    this.#written = undefined
    const isCut = finishReason === 'length' && toolRequests.length === 0
    yield* isCut ? this.#closeReasoning() : this.#close()
    this.#reasoning = undefined
    const text = before?.id === id ? before.text + responseText : responseText
    this.#answer = toolRequests.length > 0 || text === '' ? undefined : { id, text, isCut }
    return id
  }

  *#resultEvents({
    taskName,
    toolCallId: id,
    parentToolCallId,
    toolResult,
  }: RunEventOf<'tool_called'>): Generator<AguiEvent> {
    if (parentToolCallId !== undefined) return
    const toolCallId = this.#findCall(taskName, id)
    // A call of a handler, which no model requested.
    if (toolCallId === undefined) return
    this.#calls.delete(toolCallId)
    if (this.#answeredCalls.has(toolCallId)) return
    const messageId = `${toolCallId}:result`
    this.#remember(messageId)
    const content = toolResult ?? ''
    yield { type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool' }
  }

  #askClient({ kind, taskName, toolCallId, reviewId }: RunEventOf<'review_requested'>): void {
    const call = kind === 'CLIENT_TOOL' ? this.#findCall(taskName, toolCallId) : undefined
    if (call !== undefined) this.#clientCalls.set(call, reviewId)
  }

  /** Returns the id by which the client knows a call. */
  #findCall(taskName: string, id: string | undefined): string | undefined {
    return [...this.#calls].findLast(
      ([, call]) => call.taskName === taskName && call.toolCallId === id,
    )?.[0]
  }

  *#outputEvents(event: RunEventOf<'task_completed'>): Generator<AguiEvent> {
    yield* this.#close()
    const { output, taskIndex, attempt } = event
    if (this.#answer?.text === output || output === '') return
    if (this.#answer !== undefined) yield* this.#takeBack(this.#answer.id)
    yield* this.#write(this.#toId(`${taskIndex}.${attempt}.output`), output)
    yield* this.#close()
  }

  *#attemptFailed(type: 'task_attempt_failed' | 'task_failed'): Generator<AguiEvent> {
    yield* this.#takeBackOpen()
    if (type === 'task_failed' || this.#answer === undefined) return
    yield* this.#takeBack(this.#answer.id)
  }

  *#startStep(stepName: string): Generator<AguiEvent> {
    if (this.#steps.has(stepName) || !this.#hasBegun) return
    this.#steps.add(stepName)
    yield { type: 'STEP_STARTED', stepName }
  }

  *#finishStep(stepName: string): Generator<AguiEvent> {
    if (this.#steps.delete(stepName)) yield { type: 'STEP_FINISHED', stepName }
  }

  *#finishSteps(): Generator<AguiEvent> {
    for (const stepName of this.#steps) yield* this.#finishStep(stepName)
  }

  /** Ends the segment where the run waits for its client. */
  *#interrupt(): Generator<AguiEvent> {
    yield* this.#close()
    yield* this.#finishSteps()
    this.#isDone = true
    yield {
      type: 'RUN_FINISHED',
      ...this.#segment.ids,
      outcome: this.#toOutcome(this.#run.reviews.filter(({ status }) => status === 'OPEN')),
      usage: this.#usage.entries,
    }
  }

  /** Returns what the client must decide, or else the calls that it must execute. */
  #toOutcome(open: readonly ReviewState[]): AguiOutcome {
    const interrupts = open.flatMap((review) =>
      review.kind === 'CLIENT_TOOL'
        ? []
        : [toInterrupt(review, this.#findCall(review.taskName, review.toolCallId))],
    )
    if (interrupts.length > 0) return { type: 'interrupt', interrupts }
    const ids = new Set(open.map(({ reviewId }) => reviewId))
    const pendingToolCallIds = [...this.#clientCalls].flatMap(([toolCallId, reviewId]) =>
      ids.has(reviewId) ? [toolCallId] : [],
    )
    return { type: 'success', pendingToolCallIds }
  }

  /** Ends the segment with the run. */
  *#finish(event: RunEventOf<'run_result'>): Generator<AguiEvent> {
    yield* this.#close()
    yield* this.#finishSteps()
    this.#isDone = true
    const { status, error = 'The run failed', code = 'TASK_FAILED' } = event
    const usage = this.#usage.entries
    if (status === 'FAILED') {
      yield { type: 'RUN_ERROR', message: error, code, usage }
      return
    }
    const finished = { type: 'RUN_FINISHED', ...this.#segment.ids, usage } as const
    if (status === 'CANCELLED') {
      yield { ...finished, outcome: { type: 'cancelled' } }
      return
    }
    const name = this.#run.outputTask
    const output = readRunOutput(event)
    const finishReason = this.#run.tasks.find((task) => task.name === name)?.finishReason
    yield {
      ...finished,
      outcome: { type: 'success' },
      ...(output === undefined ? {} : { result: output }),
      ...(finishReason === undefined ? {} : { metadata: { finishReason } }),
    }
  }
}

/** Returns the id of the run to which the id of a message or a call belongs; none for an id of the client. */
export function readRunId(id = ''): readonly string[] {
  const colon = id.indexOf(':')
  return colon === -1 ? [] : [id.slice(0, colon)]
}

function toTurnKey({ taskIndex, attempt, iterationIndex }: TurnEvent): string {
  return `${taskIndex}.${attempt}.${iterationIndex}`
}

/** Returns the state of a run after an event, without the outputs of its tasks. */
function foldState(run: RunState, event: LoggedRunEvent): RunState {
  if (!STATE_EVENTS.has(event.type)) return run
  if (event.type !== 'task_completed') return applyRunEvent(run, event)
  const { structuredOutput: _, parts: __, ...rest } = event
  return applyRunEvent(run, { ...rest, output: '' })
}
