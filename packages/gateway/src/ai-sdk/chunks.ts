/**
 * Pure: maps the events of a run to the chunks of one assistant message of the AI SDK.
 *
 * GW-C1 A run is one message with the id of the run. Every reader gets the same chunks for the same events, so a stream
 *    can be joined late and after a restart.
 * GW-C2 A model turn of the output task is a step, and its text is a text part, sent as the model writes it. When the
 *    turn begins again, `reset-step` takes back the step, and the parts of other tasks in it are sent again. Text of
 *    earlier turns and attempts remains; the answer is the last text.
 * GW-C14 The readable reasoning of the output task is a reasoning part before the text of its turn, streamed in the same
 *    way. Reasoning after the beginning of a text is another part, which does not end the text.
 * GW-C3 Tool calls of every task are tool parts with ids that are unique in the run. Calls of the server are
 *    `providerExecuted`; calls that wait for an answer of the client are not.
 * GW-C4 Tasks, delegations and the progress of tools are `data-` parts, which later ones with the same id replace.
 * GW-C5 A review is an approval of its tool call, or of a call of the tool `review` with the reviewed text. A question
 *    of a tool is a call that the client executes.
 * GW-C6 The message pauses where the run waits only for decisions (GW-W1): it finishes with `tool-calls`, so that
 *    `useChat` can send the answers. Reviews that a pause leaves open are sent again in a new step.
 * GW-C7 The output of the output task follows as another text if it differs from its last text, as after an edit.
 * GW-C8 A refused, filtered or truncated answer finishes the message with its reason, also if the task accepts a
 *    truncated one; any other failure is an `error` chunk, and a cancelled run an `abort` chunk. The metadata has the
 *    usage in every case.
 */
import {
  readRunOutput,
  addEventUsage,
  NO_RUN_USAGE,
  readRunCost,
  type RunUsage,
} from '@tutti/protocol'

import { isCallOf, toCallId } from '../service/call-ids.ts'
import { asksQuestion } from '../service/decision-in-text.ts'
import { RunWaits, type WaitingReview } from '../service/run-waits.ts'

import type { ChatChunk, ChatFinishReason, ChatMetadata } from './wire.ts'
import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'

/**
 * Maximum size of the parts of other tasks in one step that can be sent again, in characters of JSON. Beyond it a new
 * step begins, and a text before it can no longer be taken back.
 */
const MAX_STEP_SIZE = 1_000_000

/** Name of the tool whose calls are reviews of tasks. */
export const REVIEW_TOOL = 'review'

/** A review as the client sees it. */
interface ShownReview {
  readonly toolCallId: string
  /** Whether the client answers with a value instead of an approval. */
  readonly isQuestion: boolean
}

/** Makes the chunks of a message from the events of its run, in order. */
export class ChatChunks {
  readonly #runId: string
  readonly #waits = new RunWaits()
  #usage: RunUsage = NO_RUN_USAGE
  #outputTask = ''
  /** Position of the open turn of the output task, such as `1.0`. */
  #turn = ''
  /** Number of text parts so far. */
  #texts = 0
  /** Text of the newest turn of the output task. */
  #text = ''
  /** Text of the turns since the newest tool call; an answer that was cut continues in the next turn. */
  #answer = ''
  #isTextOpen = false
  /** Number of reasoning parts so far. */
  #reasonings = 0
  #isReasoningOpen = false
  /** Whether the newest turn of the output task has a reasoning part. */
  #hasReasoned = false
  /** Explanation of the model that refused. */
  #refusal = ''
  /** Whether the output task has accepted an answer that was cut. */
  #isCut = false
  /** Chunks of other tasks in the open step. */
  #others: ChatChunk[] = []
  #othersSize = 0
  /** Arguments and name of each call that has not ended, by its id. */
  readonly #calls = new Map<string, { readonly toolName: string; readonly input: unknown }>()
  /** Reviews that were rejected, by the id of their call. */
  readonly #denied = new Set<string>()
  /** Calls that open reviews are shown as, by the id of the review. */
  readonly #shown = new Map<string, ShownReview>()
  #isDone = false

  constructor(runId: string) {
    this.#runId = runId
  }

  /** Whether the run has ended. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Whether the run waits only for decisions. */
  get isWaiting(): boolean {
    return this.#waits.isWaiting
  }

  /** Open reviews, oldest first. */
  get reviews(): readonly WaitingReview[] {
    return this.#waits.reviews
  }

  /** Returns the chunk that begins or continues the message. */
  start(): ChatChunk {
    return { type: 'start', messageId: this.#runId, messageMetadata: { runId: this.#runId } }
  }

  /** Returns the chunks of the next event. */
  after(event: LoggedRunEvent): readonly ChatChunk[] {
    this.#waits.take(event)
    this.#usage = addEventUsage(this.#usage, event)
    return [...this.#translate(event)]
  }

  /** Returns the chunks that pause the message after the event with this `seq`. */
  pause(seq: number): readonly ChatChunk[] {
    const messageMetadata = { ...this.#metadata('WAITING_REVIEW'), seq }
    return [...this.#closeParts(), { type: 'finish', finishReason: 'tool-calls', messageMetadata }]
  }

  /** Returns open reviews again, for a message that continues without a decision of them. */
  repeat(reviews: readonly WaitingReview[]): readonly ChatChunk[] {
    return reviews.flatMap((review) => [...this.#request(review)])
  }

  *#translate(event: LoggedRunEvent): Generator<ChatChunk> {
    switch (event.type) {
      case 'ensemble_started':
        this.#outputTask = event.outputTask
        for (const { name, agentRole } of event.tasks) {
          yield this.#add(toTaskPart({ taskName: name, agentRole, status: 'PENDING' }))
        }
        return
      case 'run_resumed':
        this.#outputTask = event.outputTask
        for (const { name, agentRole } of event.addedTasks ?? []) {
          yield this.#add(toTaskPart({ taskName: name, agentRole, status: 'PENDING' }))
        }
        return
      case 'task_started':
        yield this.#add(toTaskPart({ ...event, status: 'RUNNING' }))
        return
      case 'task_attempt_failed':
        yield this.#add(toTaskPart({ ...event, status: 'FAILED', reason: event.reason }))
        return
      case 'task_failed':
        if (event.taskName === this.#outputTask) this.#refusal = event.refusal ?? ''
        yield this.#add(toTaskPart({ ...event, status: 'FAILED', reason: event.reason }))
        return
      case 'task_skipped':
        yield this.#add(toTaskPart({ ...event, status: 'SKIPPED', reason: event.reason }))
        return
      case 'task_completed':
        yield this.#add(toTaskPart({ ...event, status: 'COMPLETED' }))
        if (event.taskName !== this.#outputTask) return
        this.#isCut = event.finishReason === 'length'
        yield* this.#output(event.output)
        return
      case 'llm_iteration_started':
        if (event.taskName === this.#outputTask) yield* this.#beginTurn(event)
        return
      case 'reasoning':
        if (event.taskName === this.#outputTask) yield* this.#reason(event.text)
        return
      case 'token':
        if (event.taskName === this.#outputTask) yield* this.#write(event.token)
        return
      case 'llm_iteration_completed':
        yield* this.#endTurn(event)
        return
      case 'tool_progress': {
        const { toolName, message, fraction, taskName } = event
        const id = toCallId(event)
        const data = { toolCallId: id, toolName, taskName, message, fraction }
        yield this.#add({ type: 'data-progress', id, data })
        return
      }
      case 'tool_called':
        yield* this.#endCall(event)
        return
      case 'delegation_started':
      case 'delegation_completed':
      case 'delegation_failed':
        yield this.#add(toDelegationPart(event))
        return
      case 'review_requested':
        yield* this.#request(event)
        return
      case 'review_decided':
      case 'review_timed_out':
      case 'review_withdrawn':
        yield* this.#closeReview(event)
        return
      case 'run_result':
        yield* this.#end(event)
        return
      default:
        return
    }
  }

  /** Remembers a chunk of another task while its step is open. */
  #add(chunk: ChatChunk): ChatChunk {
    this.#others.push(chunk)
    this.#othersSize += JSON.stringify(chunk).length
    return chunk
  }

  *#beginTurn({
    attempt,
    iterationIndex,
  }: RunEventOf<'llm_iteration_started'>): Generator<ChatChunk> {
    const turn = `${attempt}.${iterationIndex}`
    if (turn === this.#turn && (this.#text !== '' || this.#hasReasoned)) {
      this.#isTextOpen = false
      this.#isReasoningOpen = false
      this.#answer = this.#answer.slice(0, this.#answer.length - this.#text.length)
      yield { type: 'reset-step' }
      yield* this.#others
    } else if (turn !== this.#turn) {
      if (this.#turn !== '') yield* this.#nextStep()
      if (iterationIndex === 0) this.#answer = ''
      this.#turn = turn
    }
    this.#text = ''
    this.#hasReasoned = false
  }

  *#nextStep(): Generator<ChatChunk> {
    yield* this.#closeParts()
    this.#others = []
    this.#othersSize = 0
    yield { type: 'finish-step' }
    yield { type: 'start-step' }
  }

  *#reason(delta: string): Generator<ChatChunk> {
    if (this.#othersSize > MAX_STEP_SIZE) yield* this.#nextStep()
    if (!this.#isReasoningOpen) {
      this.#reasonings += 1
      this.#isReasoningOpen = true
      this.#hasReasoned = true
      yield { type: 'reasoning-start', id: this.#reasoningId }
    }
    yield { type: 'reasoning-delta', id: this.#reasoningId, delta }
  }

  get #reasoningId(): string {
    return `reasoning-${this.#reasonings}`
  }

  *#closeReasoning(): Generator<ChatChunk> {
    if (!this.#isReasoningOpen) return
    this.#isReasoningOpen = false
    yield { type: 'reasoning-end', id: this.#reasoningId }
  }

  *#closeParts(): Generator<ChatChunk> {
    yield* this.#closeReasoning()
    yield* this.#closeText()
  }

  *#write(delta: string): Generator<ChatChunk> {
    if (this.#othersSize > MAX_STEP_SIZE) yield* this.#nextStep()
    yield* this.#closeReasoning()
    if (!this.#isTextOpen) {
      this.#texts += 1
      this.#isTextOpen = true
      yield { type: 'text-start', id: this.#textId }
    }
    this.#text += delta
    this.#answer += delta
    yield { type: 'text-delta', id: this.#textId, delta }
  }

  get #textId(): string {
    return `text-${this.#texts}`
  }

  *#closeText(): Generator<ChatChunk> {
    if (!this.#isTextOpen) return
    this.#isTextOpen = false
    yield { type: 'text-end', id: this.#textId }
  }

  *#endTurn(event: RunEventOf<'llm_iteration_completed'>): Generator<ChatChunk> {
    const { taskName, responseText = '', toolRequests = [] } = event
    if (taskName === this.#outputTask) {
      // A model that does not stream has written nothing.
      if (this.#text === '' && responseText !== '') yield* this.#write(responseText)
      yield* this.#closeParts()
      if (toolRequests.length > 0) this.#answer = ''
    }
    for (const { id = '', name: toolName, arguments: text } of toolRequests) {
      const toolCallId = toCallId({ ...event, toolCallId: id })
      const input = parseJson(text)
      this.#calls.set(toolCallId, { toolName, input })
      const head = { type: 'tool-input-available', toolCallId, toolName } as const
      yield this.#add({ ...head, input, providerExecuted: true })
    }
  }

  *#endCall(event: RunEventOf<'tool_called'>): Generator<ChatChunk> {
    if (event.parentToolCallId !== undefined) return
    const toolCallId = toCallId(event)
    if (!this.#calls.delete(toolCallId)) return
    if (this.#denied.delete(toolCallId)) {
      yield this.#add({ type: 'tool-output-denied', toolCallId })
      return
    }
    const { outcome, structuredResult, toolResult } = event
    if (outcome === 'FAILURE') {
      yield this.#add({ type: 'tool-output-error', toolCallId, errorText: toolResult ?? 'Error' })
      return
    }
    const output = structuredResult ?? toolResult
    yield this.#add({ type: 'tool-output-available', toolCallId, output })
  }

  *#request(review: WaitingReview): Generator<ChatChunk> {
    const { reviewId, prompt, taskDescription } = review
    const callId = [...this.#calls.keys()].findLast((id) => isCallOf(id, review))
    const toolCallId = callId ?? reviewId
    const call = callId === undefined ? undefined : this.#calls.get(callId)
    const isQuestion = isForClient(review)
    const toolName = call?.toolName ?? review.toolName ?? REVIEW_TOOL
    const input = call?.input ?? toReviewInput(review)
    if (call === undefined || isQuestion || this.#shown.has(reviewId)) {
      const head = { type: 'tool-input-available', toolCallId, toolName } as const
      yield this.#add({ ...head, input, providerExecuted: !isQuestion })
    }
    this.#shown.set(reviewId, { toolCallId, isQuestion })
    if (isQuestion) return
    const reason = prompt ?? taskDescription
    yield this.#add({ type: 'tool-approval-request', approvalId: reviewId, toolCallId, reason })
  }

  *#closeReview(
    event: RunEventOf<'review_decided' | 'review_timed_out' | 'review_withdrawn'>,
  ): Generator<ChatChunk> {
    const shown = this.#shown.get(event.reviewId)
    if (shown === undefined) return
    this.#shown.delete(event.reviewId)
    const { toolCallId, isQuestion } = shown
    const isDecided = event.type === 'review_decided'
    const isRejected = isDecided && event.decision === 'REJECT' && !isQuestion
    if (this.#calls.has(toolCallId)) {
      // The end of the call follows.
      if (isRejected) this.#denied.add(toolCallId)
      return
    }
    if (isRejected) {
      yield this.#add({ type: 'tool-output-denied', toolCallId })
      return
    }
    const output = isDecided ? event.decision : event.type
    yield this.#add({ type: 'tool-output-available', toolCallId, output })
  }

  /** Sends the output of the output task if it differs from its text. */
  *#output(output: string): Generator<ChatChunk> {
    if (['', this.#text, this.#answer].includes(output)) return
    yield* this.#closeText()
    this.#text = ''
    yield* this.#write(output)
    yield* this.#closeText()
  }

  *#end(event: RunEventOf<'run_result'>): Generator<ChatChunk> {
    const { status, code, error = '' } = event
    this.#isDone = true
    // The output of a run that a reviewer ended early is that of another task.
    if (status === 'COMPLETED' && event.outputTask !== this.#outputTask) {
      yield* this.#output(readRunOutput(event) ?? '')
    }
    if (code === 'MODEL_REFUSED') yield* this.#output(this.#refusal)
    yield* this.#closeParts()
    if (status === 'CANCELLED') {
      yield { type: 'abort', reason: 'The run was cancelled' }
      yield this.#finish('interrupted', status)
      return
    }
    const completed = this.#isCut ? 'length' : 'stop'
    const finishReason = status === 'COMPLETED' ? completed : FINISH_REASONS[code ?? '']
    if (finishReason !== undefined) {
      yield this.#finish(finishReason, status)
      return
    }
    // Clients read nothing after an error.
    yield { type: 'message-metadata', messageMetadata: this.#metadata(status) }
    yield { type: 'error', errorText: error }
  }

  #finish(finishReason: ChatFinishReason, status: string): ChatChunk {
    return { type: 'finish', finishReason, messageMetadata: this.#metadata(status) }
  }

  #metadata(status: string): ChatMetadata {
    const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = this.#usage
    const totalTokens = inputTokens + outputTokens
    const costUsd = readRunCost(this.#usage)
    return {
      runId: this.#runId,
      status,
      usage: {
        inputTokens,
        outputTokens,
        totalTokens,
        cachedInputTokens,
        ...(reasoningTokens === 0 ? {} : { reasoningTokens }),
      },
      ...(costUsd === undefined ? {} : { costUsd }),
    }
  }
}

/** Failure code of a run → reason of the end of its message; the other codes are errors. */
const FINISH_REASONS: Readonly<Record<string, ChatFinishReason | undefined>> = {
  MODEL_REFUSED: 'content-filter',
  CONTENT_FILTERED: 'content-filter',
  OUTPUT_TRUNCATED: 'length',
}

/** Whether a review asks the client for a value instead of an approval. */
export function isForClient(review: WaitingReview): boolean {
  return review.kind === 'CLIENT_TOOL' || asksQuestion(review)
}

function toReviewInput({
  timing,
  taskName,
  taskDescription,
  taskOutput,
  prompt,
  toolInput,
}: WaitingReview): Readonly<Record<string, unknown>> {
  return {
    timing,
    taskName,
    taskDescription,
    ...(timing === 'AFTER_EXECUTION' ? { taskOutput } : {}),
    ...(prompt === undefined || prompt === null ? {} : { prompt }),
    ...(toolInput === undefined ? {} : { toolInput }),
  }
}

interface TaskPart {
  readonly taskName: string
  readonly agentRole?: string
  readonly attempt?: number
  readonly status: string
  readonly reason?: string
}

function toTaskPart({ taskName, agentRole, attempt, status, reason }: TaskPart): ChatChunk {
  const data = { name: taskName, status, agentRole, attempt, reason }
  return { type: 'data-task', id: taskName, data }
}

function toDelegationPart(
  event: RunEventOf<'delegation_started' | 'delegation_completed' | 'delegation_failed'>,
): ChatChunk {
  const { delegationId, delegatingAgentRole, workerRole, taskName, workerTask } = event
  const data = { delegatingAgentRole, workerRole, taskName, workerTask, ...toDelegationEnd(event) }
  return { type: 'data-delegation', id: delegationId, data }
}

function toDelegationEnd(
  event: RunEventOf<'delegation_started' | 'delegation_completed' | 'delegation_failed'>,
): Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'delegation_started':
      return { status: 'RUNNING' }
    case 'delegation_completed':
      return { status: 'COMPLETED', durationMs: event.durationMs }
    case 'delegation_failed':
      return { status: 'FAILED', reason: event.reason }
  }
}

/** Parses the arguments of a call; text that is not JSON stays text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
