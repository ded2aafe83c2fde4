/**
 * Folds the events of a run into operations for readers: what a chat, a stream or a task list has to show.
 *
 *   events ─▶ RunProjection ─▶ operations ─▶ AG-UI · AI SDK · chat completions · responses · A2A · MCP · tasks · threads
 *
 * A reader that shows a run maps these operations to its protocol. Only what the operations do not contain, such as the
 * progress of a tool, is read from the event itself. {@link RunState} is the other fold: a snapshot of the whole run.
 *
 * PROTO-T5 Operations follow from the events alone, so every reader gets the same ones, live or later.
 * PROTO-T6 A run has one end, with one reason, from its `run_result`.
 * PROTO-T7 After a handoff, the next agent writes the text of the output task.
 */
import { CALLER_REVIEW_KINDS, type WaitingRunStatus } from '../schemas/enums.ts'
import { readRunOutput } from '../run-state/run-messages.ts'
import type { DelegationState } from '../run-state/run-state.ts'
import { addEventUsage, NO_RUN_USAGE, type RunUsage } from '../run-usage.ts'
import { RequestedCalls, toCallId } from './requested-calls.ts'
import { OutputText } from './output-text.ts'
import { toTurnKey } from './turn-key.ts'
import { RunWaits } from './run-waits.ts'

import type { RunEvent, RunEventOf } from '../schemas/run-event.ts'
import type { WaitingReview, RunEnded, RunOperation, TaskOperation } from './operations.ts'

/** Options of {@link RunProjection}. */
export interface RunProjectionOptions {
  /** Name of the output task, if the events begin after the one that states it. @default none */
  readonly outputTask?: string | undefined
  /** Delegations before the first event, oldest first; its handoffs say who writes the text. @default none */
  readonly delegations?: readonly EarlierDelegation[]
}

/** A delegation before the first event. */
type EarlierDelegation = Pick<DelegationState, 'taskName' | 'workerTask' | 'handoff'>

/** Folds the events of one run, in order. No I/O. */
export class RunProjection {
  #operations: RunOperation[] = []
  readonly #text = new OutputText((operation) => this.#operations.push(operation))
  readonly #calls = new RequestedCalls()
  readonly #waits = new RunWaits()
  #usage = NO_RUN_USAGE
  #outputTask: string | undefined
  /** Names of the tasks to which the output task was handed off. */
  readonly #receivers = new Set<string>()
  /** Whether the output task accepted an answer that was cut. */
  #isCut = false
  #refusal: string | undefined

  constructor({ outputTask, delegations = [] }: RunProjectionOptions = {}) {
    this.#outputTask = outputTask
    for (const delegation of delegations) this.#delegate(delegation)
  }

  /** Name of the task whose output is the run's output; undefined before the run has started. */
  get outputTask(): string | undefined {
    return this.#outputTask
  }

  /** Text that the output task has written in its newest turn, and in the turns that it continues. */
  get text(): string {
    return this.#text.text
  }

  /** Usage so far. */
  get usage(): RunUsage {
    return this.#usage
  }

  /** Reviews that wait for a decision, oldest first. */
  get reviews(): readonly WaitingReview[] {
    return this.#calls.reviews
  }

  /** Whether the run waits, and its caller can decide at least one open review. */
  get isWaiting(): boolean {
    return this.waitingStatus === 'WAITING_REVIEW'
  }

  /** Status of a run that waits; undefined for any other run. */
  get waitingStatus(): WaitingRunStatus | undefined {
    return this.#waits.status
  }

  /** Takes the next event. Returns its operations; none for most events. */
  take(event: RunEvent): readonly RunOperation[] {
    this.#operations = []
    this.#usage = addEventUsage(this.#usage, event)
    this.#waits.take(event)
    this.#fold(event)
    return this.#operations
  }

  #fold(event: RunEvent): void {
    switch (event.type) {
      case 'ensemble_started':
        this.#outputTask = event.outputTask
        this.#plan(event.tasks)
        return
      case 'run_resumed':
        this.#text.withdrawTurn()
        if (event.outputTask !== this.#outputTask) this.#text.reset()
        this.#outputTask = event.outputTask
        this.#plan(event.addedTasks ?? [])
        return
      case 'run_forked':
        this.#text.withdrawTurn()
        return
      case 'task_started':
        if (this.#isOutput(event)) this.#text.withdrawTurn()
        this.#task(event, 'RUNNING')
        return
      case 'delegation_started':
        this.#delegate(event)
        return
      case 'llm_iteration_started':
        if (this.#writesOutput(event)) this.#text.begin(event)
        return
      case 'reasoning':
        if (this.#writesOutput(event)) this.#text.reason(event, event.text)
        return
      case 'token':
        if (this.#writesOutput(event)) this.#text.write(event, event.token)
        return
      case 'llm_iteration_completed':
        this.#completeTurn(event)
        return
      case 'llm_iteration_failed':
        if (this.#writesOutput(event)) this.#text.withdrawTurn()
        return
      case 'tool_called': {
        const callId = this.#calls.end(event)
        if (callId !== undefined) this.#operations.push({ type: 'call_ended', callId, event })
        return
      }
      case 'task_completed':
        this.#completeTask(event)
        return
      case 'task_attempt_failed':
      case 'task_failed':
        this.#failTask(event)
        return
      case 'task_skipped':
        this.#task(event, 'SKIPPED')
        return
      case 'review_requested':
        if (!CALLER_REVIEW_KINDS.includes(event.kind)) return
        this.#operations.push({ type: 'review_opened', review: this.#calls.open(event) })
        return
      case 'review_decided':
      case 'review_timed_out':
      case 'review_withdrawn': {
        const review = this.#calls.close(event.reviewId)
        if (review !== undefined) this.#operations.push({ type: 'review_closed', review, event })
        return
      }
      case 'run_result':
        this.#end(event)
        return
      default:
        return
    }
  }

  #isOutput({ taskName }: { readonly taskName: string }): boolean {
    return taskName === this.#outputTask
  }

  /** Whether the task writes the output: the output task, or one to which it was handed off. */
  #writesOutput({ taskName }: { readonly taskName: string }): boolean {
    return taskName === this.#outputTask || this.#receivers.has(taskName)
  }

  #delegate({ taskName, workerTask, handoff }: EarlierDelegation): void {
    const isReceiver = handoff !== undefined && this.#writesOutput({ taskName })
    if (isReceiver && workerTask !== undefined) this.#receivers.add(workerTask)
  }

  #plan(tasks: readonly { readonly name: string; readonly agentRole: string }[]): void {
    for (const { name, agentRole } of tasks) {
      const isOutput = name === this.#outputTask
      this.#operations.push({ type: 'task', name, agentRole, status: 'PENDING', isOutput })
    }
  }

  #task(
    event: Pick<TaskOperation, 'agentRole' | 'attempt' | 'reason' | 'code'> & {
      readonly taskName: string
    },
    status: TaskOperation['status'],
    result?: TaskOperation['result'],
  ): void {
    const { taskName: name, agentRole, attempt, reason, code } = event
    this.#operations.push({
      type: 'task',
      name,
      status,
      isOutput: this.#isOutput(event),
      ...(agentRole === undefined ? {} : { agentRole }),
      ...(attempt === undefined ? {} : { attempt }),
      ...(reason === undefined ? {} : { reason }),
      ...(code === undefined ? {} : { code }),
      ...(result === undefined ? {} : { result }),
    })
  }

  #completeTurn(event: RunEventOf<'llm_iteration_completed'>): void {
    const { toolRequests = [] } = event
    const turnId = this.#writesOutput(event) ? this.#text.complete(event) : toTurnKey(event)
    for (const { id: toolCallId = '', name: toolName, arguments: args } of toolRequests) {
      const callId = toCallId({ ...event, toolCallId })
      this.#calls.add(callId)
      this.#operations.push({
        type: 'call_requested',
        callId,
        turnId,
        toolName,
        arguments: args,
      })
    }
  }

  #completeTask(event: RunEventOf<'task_completed'>): void {
    if (this.#isOutput(event)) {
      this.#isCut = event.finishReason === 'length'
      this.#text.state(event.output)
    }
    const { taskName, output, structuredOutput, parts } = event
    this.#task(event, 'COMPLETED', {
      taskName,
      output,
      ...(structuredOutput === undefined ? {} : { structuredOutput }),
      ...(parts === undefined ? {} : { parts }),
    })
  }

  #failTask(event: RunEventOf<'task_attempt_failed' | 'task_failed'>): void {
    const isRetried = event.type === 'task_attempt_failed'
    if (this.#writesOutput(event)) {
      this.#text.withdrawTurn()
      if (isRetried) this.#text.withdrawAnswer()
    }
    this.#refusal = event.refusal ?? this.#refusal
    this.#task(event, isRetried ? 'RETRYING' : 'FAILED')
  }

  #end(event: RunEventOf<'run_result'>): void {
    const { status, code = '' } = event
    const error = status === 'FAILED' ? (event.error ?? 'The run failed') : ''
    const output = status === 'COMPLETED' ? readRunOutput(event) : undefined
    // The output of a run that a reviewer ended early is that of another task.
    if (output !== undefined && event.outputTask !== this.#outputTask) this.#text.state(output)
    const reason = this.#readReason(event)
    this.#operations.push({
      type: 'ended',
      status,
      reason,
      ...(output === undefined ? {} : { output }),
      refusal: reason === 'refusal' ? (this.#refusal ?? error) : '',
      error,
      code: status === 'FAILED' && code === '' ? 'TASK_FAILED' : code,
      usage: this.#usage,
      event,
    })
  }

  #readReason({ status, code = '' }: RunEventOf<'run_result'>): RunEnded['reason'] {
    if (status === 'CANCELLED') return 'cancelled'
    if (status === 'COMPLETED') return this.#isCut ? 'length' : 'stop'
    return FAILURE_REASONS.get(code) ?? 'failed'
  }
}

/** Failure code of a run → reason of its end; others are failures. */
const FAILURE_REASONS: ReadonlyMap<string, RunEnded['reason']> = new Map([
  ['MODEL_REFUSED', 'refusal'],
  ['CONTENT_FILTERED', 'content_filter'],
  ['OUTPUT_TRUNCATED', 'length'],
])
