/**
 * No I/O: maps the events of a run to the chunks of one assistant message of the AI SDK.
 *
 * GW-C1 A run is one message with the id of the run. Every reader gets the same chunks for the same events, so a stream
 *    can be joined late and after a restart.
 * GW-C2 A model turn of the output task is a step, and its text is a text part, sent as the model writes it. When the
 *    turn begins again, `reset-step` takes back the step, and the parts of other tasks in it are sent again. Text of
 *    earlier turns and attempts remains; the answer is the last text.
 * GW-C14 The readable reasoning of the output task is a reasoning part before the text of its turn, streamed in the same
 *    way. Reasoning after the beginning of a text is another part, which does not end the text.
 * GW-C3 Tool calls of every task, except counted ones (GW-GP4), are tool parts with ids that are unique in the run. Calls
 *    of the server are `providerExecuted`; calls that wait for an answer of the client are not.
 * GW-C4 Tasks, delegations and the progress of tools are `data-` parts, which later ones with the same id replace. Of many
 *    tasks that one task has added, one part has the counts (GW-GP1).
 * GW-C5 A review is an approval of its tool call, or of a call of the tool `review` with the reviewed text. A question
 *    of a tool is a call that the client executes.
 * GW-C6 The message pauses where the run waits only for decisions (PROTO-W1): it finishes with `tool-calls`, so that
 *    `useChat` can send the answers. Reviews that a pause leaves open are sent again in a new step.
 * GW-C7 The output of the output task follows as another text if it differs from its last text, as after an edit.
 * GW-C8 A refused, filtered or truncated answer finishes the message with its reason, also if the task accepts a
 *    truncated one; any other failure is an `error` chunk, and a cancelled run an `abort` chunk. The metadata has the
 *    usage in every case.
 */
import { RunProjection } from '@tutti/protocol'
import { readRunCost, toCallId, type WaitingReview } from '@tutti/protocol/internal'

import { GroupProgress } from '../runs/group-progress.ts'
import {
  isForClient,
  toDelegationPart,
  toGroupPart,
  toReviewInput,
  toTaskPart,
  REVIEW_TOOL,
} from './parts.ts'

import type { ChatChunk, ChatFinishReason, ChatMetadata } from './wire.ts'
import type { LoggedRunEvent, RunOperation } from '@tutti/protocol'
import type {
  CallEnded,
  CallRequested,
  ClosedReview,
  RunEnded,
  TurnStarted,
} from '@tutti/protocol/internal'

/**
 * Maximum size of the parts of other tasks in one step that can be sent again, in characters of JSON. Beyond it a new
 * step begins, and a text before it can no longer be taken back.
 */
const MAX_STEP_SIZE = 1_000_000

/** A tool call that has not ended. */
interface OpenCall {
  readonly toolName: string
  readonly input: unknown
  /** Whether the client does not have it, because its task is only counted. */
  isHeld: boolean
}

/** Makes the chunks of a message from the events of its run, in order. */
export class ChatChunks {
  readonly #runId: string
  readonly #run = new RunProjection()
  /** Number of text parts and of reasoning parts so far. */
  readonly #counts = { text: 0, reasoning: 0 }
  /** Id of the open text part, and of the open reasoning part. */
  readonly #open: { text?: string | undefined; reasoning?: string | undefined } = {}
  /** Whether a turn of the output task has begun. */
  #hasTurn = false
  /** Whether the newest turn has a part. */
  #hasWritten = false
  /** Chunks of other tasks in the open step. */
  #others: ChatChunk[] = []
  #othersSize = 0
  readonly #groups = new GroupProgress()
  /** Calls that have not ended, by their id. */
  readonly #calls = new Map<string, OpenCall>()
  /** Ids of calls whose reviews were rejected. */
  readonly #denied = new Set<string>()
  /** Ids of reviews that the client has. */
  readonly #shown = new Set<string>()
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
    return this.#run.isWaiting
  }

  /** Open reviews, oldest first. */
  get reviews(): readonly WaitingReview[] {
    return this.#run.reviews
  }

  /** Returns the chunk that begins or continues the message. */
  start(): ChatChunk {
    return { type: 'start', messageId: this.#runId, messageMetadata: { runId: this.#runId } }
  }

  /** Returns the chunks of the next event. */
  after(event: LoggedRunEvent): readonly ChatChunk[] {
    const group = this.#groups.take(event)
    const isCounted = group !== undefined
    const chunks = this.#run
      .take(event)
      .flatMap((operation) => [...this.#translate(operation, isCounted)])
    const other =
      group === undefined ? this.#toOther(event) : group.counts && toGroupPart(group.counts)
    return other === undefined ? chunks : [...chunks, this.#add(other)]
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

  *#translate(operation: RunOperation, isCounted: boolean): Generator<ChatChunk> {
    switch (operation.type) {
      case 'task':
        if (!isCounted) yield this.#add(toTaskPart(operation))
        return
      case 'turn_started':
        yield* this.#beginTurn(operation)
        return
      case 'block_grown':
        yield* this.#write(
          operation.block.kind === 'reasoning' ? 'reasoning' : 'text',
          operation.delta,
        )
        return
      case 'block_closed':
        yield* operation.block.kind === 'reasoning' ? this.#close('reasoning') : this.#closeParts()
        return
      case 'call_requested':
        yield* this.#requestCall(operation, isCounted)
        return
      case 'call_ended':
        yield* this.#endCall(operation)
        return
      case 'review_opened':
        yield* this.#request(operation.review)
        return
      case 'review_closed':
        yield* this.#closeReview(operation)
        return
      case 'ended':
        yield* this.#end(operation)
        return
      default:
    }
  }

  /** Returns the part of an event that is not in the operations. */
  #toOther(event: LoggedRunEvent): ChatChunk | undefined {
    switch (event.type) {
      case 'tool_progress': {
        const { toolName, message, fraction, taskName } = event
        const id = toCallId(event)
        const data = { toolCallId: id, toolName, taskName, message, fraction }
        return { type: 'data-progress', id, data }
      }
      case 'delegation_started':
      case 'delegation_completed':
      case 'delegation_failed':
        return toDelegationPart(event)
      default:
        return undefined
    }
  }

  /** Remembers a chunk of another task while its step is open. */
  #add(chunk: ChatChunk): ChatChunk {
    this.#others.push(chunk)
    this.#othersSize += JSON.stringify(chunk).length
    return chunk
  }

  *#beginTurn({ isRestart }: TurnStarted): Generator<ChatChunk> {
    if (isRestart && this.#hasWritten) {
      this.#open.text = undefined
      this.#open.reasoning = undefined
      yield { type: 'reset-step' }
      yield* this.#others
    } else if (!isRestart && this.#hasTurn) {
      yield* this.#nextStep()
    }
    this.#hasTurn = true
    this.#hasWritten = false
  }

  *#nextStep(): Generator<ChatChunk> {
    yield* this.#closeParts()
    this.#others = []
    this.#othersSize = 0
    yield { type: 'finish-step' }
    yield { type: 'start-step' }
  }

  *#write(kind: 'text' | 'reasoning', delta: string): Generator<ChatChunk> {
    if (this.#othersSize > MAX_STEP_SIZE) yield* this.#nextStep()
    this.#hasWritten = true
    let id = this.#open[kind]
    if (id === undefined) {
      this.#counts[kind] += 1
      id = `${kind}-${this.#counts[kind]}`
      this.#open[kind] = id
      yield { type: `${kind}-start`, id }
    }
    yield { type: `${kind}-delta`, id, delta }
  }

  *#close(kind: 'text' | 'reasoning'): Generator<ChatChunk> {
    const id = this.#open[kind]
    if (id === undefined) return
    this.#open[kind] = undefined
    yield { type: `${kind}-end`, id }
  }

  *#closeParts(): Generator<ChatChunk> {
    yield* this.#close('reasoning')
    yield* this.#close('text')
  }

  *#requestCall(
    { callId: toolCallId, toolName, arguments: text }: CallRequested,
    isHeld: boolean,
  ): Generator<ChatChunk> {
    const input = parseJson(text)
    this.#calls.set(toolCallId, { toolName, input, isHeld })
    const head = { type: 'tool-input-available', toolCallId, toolName } as const
    if (!isHeld) yield this.#add({ ...head, input, providerExecuted: true })
  }

  *#endCall({ callId: toolCallId, event }: CallEnded): Generator<ChatChunk> {
    const isHeld = this.#calls.get(toolCallId)?.isHeld === true
    this.#calls.delete(toolCallId)
    if (isHeld) return
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
    const { reviewId, callId, prompt, taskDescription } = review
    const toolCallId = callId ?? reviewId
    const call = callId === undefined ? undefined : this.#calls.get(callId)
    const isQuestion = isForClient(review)
    const toolName = call?.toolName ?? review.toolName ?? REVIEW_TOOL
    const input = call?.input ?? toReviewInput(review)
    if (call?.isHeld !== false || isQuestion || this.#shown.has(reviewId)) {
      const head = { type: 'tool-input-available', toolCallId, toolName } as const
      if (call !== undefined) call.isHeld = false
      yield this.#add({ ...head, input, providerExecuted: !isQuestion })
    }
    this.#shown.add(reviewId)
    if (isQuestion) return
    const reason = prompt ?? taskDescription
    yield this.#add({ type: 'tool-approval-request', approvalId: reviewId, toolCallId, reason })
  }

  *#closeReview({ review, event }: ClosedReview): Generator<ChatChunk> {
    this.#shown.delete(review.reviewId)
    const toolCallId = review.callId ?? review.reviewId
    const isDecided = event.type === 'review_decided'
    const isRejected = isDecided && event.decision === 'REJECT' && !isForClient(review)
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

  *#end({ status, reason, refusal, error }: RunEnded): Generator<ChatChunk> {
    this.#isDone = true
    if (refusal !== '') yield* this.#write('text', refusal)
    yield* this.#closeParts()
    if (reason === 'cancelled') yield { type: 'abort', reason: 'The run was cancelled' }
    const finishReason = FINISH_REASONS[reason]
    if (finishReason !== undefined) {
      yield { type: 'finish', finishReason, messageMetadata: this.#metadata(status) }
      return
    }
    // Clients read nothing after an error.
    yield { type: 'message-metadata', messageMetadata: this.#metadata(status) }
    yield { type: 'error', errorText: error }
  }

  #metadata(status: string): ChatMetadata {
    const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = this.#run.usage
    const totalTokens = inputTokens + outputTokens
    const costUsd = readRunCost(this.#run.usage)
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

/** Reason of the end of a run → reason of the end of its message; undefined for an error. */
const FINISH_REASONS: Readonly<Record<RunEnded['reason'], ChatFinishReason | undefined>> = {
  stop: 'stop',
  length: 'length',
  refusal: 'content-filter',
  content_filter: 'content-filter',
  cancelled: 'interrupted',
  failed: undefined,
}

/** Parses the arguments of a call; text that is not JSON stays text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
