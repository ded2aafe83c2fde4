/**
 * The operations that a handler asked for in an attempt, as an earlier process recorded them.
 *
 * An operation is identified by its number in the order in which the code asks. When the handler runs again, each
 * operation takes its record by this number.
 */
import { describeOrdinal, replayMismatchError } from './replay.ts'

import type { StepOf, TaskStep } from '../ports/run-step.ts'

/** Work that a handler asks for. */
export type OperationKind = 'tasks' | 'call' | 'step' | 'question' | 'wait'

/** A task that an operation added. */
export interface RecordedChild {
  readonly begun: StepOf<'delegation_begun'>
  /** Whether its start is copied from the parent of a fork. */
  readonly isCopied: boolean
  /** Position of its end among the steps of the attempt; absent if no end is recorded. */
  endedAt?: number
}

/** An operation in the steps of its attempt. */
export interface RecordedOperation {
  readonly kind: OperationKind
  /** Added tasks by name. */
  readonly children: Map<string, RecordedChild>
  callBegun?: StepOf<'tool_begun'>
  callEnded?: StepOf<'tool_ended'>
  step?: StepOf<'handler_step'>
  /** Last failed try at a step, which another one follows. */
  stepFailed?: StepOf<'handler_step_failed'>
  /** Number of such tries. */
  failures?: number
  /** Position of its last end among the steps of the attempt; absent before its first end. */
  endedAt?: number
}

/** Tasks, questions and waits by the ids in later steps. */
interface Ids {
  readonly children: Map<string, RecordedChild>
  readonly reviews: Map<string, RecordedOperation>
}

/** Id of a question, a wait or a call of a handler, unique in its attempt. */
export function toOperationId(kind: 'call' | 'question' | 'wait', ordinal: number): string {
  return `${kind}-${ordinal}`
}

const OPERATION_SLOT = /^tool\/0\/(call|question|wait)-(\d+)\//

/** Whether the slot of a review is that of an operation of a handler. */
export function isOperationSlot(slot: string): boolean {
  return OPERATION_SLOT.test(slot)
}

/** Whether the slot of a review is that of a wait of a handler. */
export function isWaitSlot(slot: string): boolean {
  return OPERATION_SLOT.exec(slot)?.[1] === 'wait'
}

/** The steps of a task. */
interface OperationLog {
  /** Steps that are copied from the parent of a fork. */
  readonly copied: readonly TaskStep[]
  /** Returns the steps of an attempt, in order. */
  ofAttempt(attempt: number): readonly TaskStep[]
  markReplayed(step: TaskStep): void
}

/** An attempt at a task. */
interface OperationAttempt {
  readonly taskName: string
  readonly attempt: number
}

/** Operations of one attempt, by number. */
export class RecordedOperations {
  readonly #log: OperationLog
  readonly #identity: OperationAttempt
  readonly #operations = new Map<number, RecordedOperation>()
  readonly #compensations = new Map<number, RecordedOperation>()
  readonly #copied: ReadonlySet<TaskStep>

  constructor(log: OperationLog, identity: OperationAttempt) {
    this.#log = log
    this.#identity = identity
    this.#copied = new Set(log.copied)
    const ids: Ids = { children: new Map(), reviews: new Map() }
    for (const [at, step] of log.ofAttempt(identity.attempt).entries()) this.#read(step, at, ids)
  }

  /** Number of operations that have an end. */
  get endedCount(): number {
    return [...this.#operations.values()].filter(({ endedAt }) => endedAt !== undefined).length
  }

  /** Returns the operation with this number; undefined if it is not recorded. */
  get(ordinal: number): RecordedOperation | undefined {
    return this.#operations.get(ordinal)
  }

  /** Returns the compensation with this number; undefined if it is not recorded. */
  compensation(ordinal: number): RecordedOperation | undefined {
    return this.#compensations.get(ordinal)
  }

  /** Number of recorded compensations, up to the last one. */
  get compensationCount(): number {
    return Math.max(-1, ...this.#compensations.keys()) + 1
  }

  /** Returns the operation with this number and marks it as replayed; undefined if it is not recorded. */
  take(ordinal: number): RecordedOperation | undefined {
    const operation = this.#operations.get(ordinal)
    for (const step of [operation?.callBegun, operation?.callEnded, operation?.step]) {
      if (step !== undefined) this.#log.markReplayed(step)
    }
    return operation
  }

  /**
   * Checks that the code has asked for all recorded operations.
   *
   * @param count number of operations for which it has asked.
   * @throws {TuttiError} REPLAY_MISMATCH with the first one for which it has not asked.
   */
  assertAsked(count: number): void {
    const missing = [...this.#operations.keys()].filter((ordinal) => ordinal >= count)
    if (missing.length === 0) return
    const ordinal = Math.min(...missing)
    throw replayMismatchError({
      taskName: this.#identity.taskName,
      step: describeOrdinal(ordinal),
      recorded: describeRecordedOperation(this.#operations.get(ordinal)),
      asked: 'the end of the handler',
    })
  }

  #read(step: TaskStep, at: number, { children, reviews }: Ids): void {
    switch (step.kind) {
      case 'handler_step':
        Object.assign(this.#getStep(step), { step, endedAt: at })
        return
      case 'handler_step_failed': {
        const operation = this.#getStep(step)
        operation.stepFailed = step
        operation.failures = (operation.failures ?? 0) + 1
        return
      }
      case 'tool_begun':
        if (step.ordinal !== undefined) this.#get(step.ordinal, 'call').callBegun = step
        return
      case 'tool_ended':
        if (step.ordinal === undefined) return
        Object.assign(this.#get(step.ordinal, 'call'), { callEnded: step, endedAt: at })
        return
      case 'delegation_begun': {
        if (step.ordinal === undefined) return
        const operation = this.#get(step.ordinal, 'tasks')
        const child: RecordedChild = { begun: step, isCopied: this.#copied.has(step) }
        operation.children.set(step.workerTask, child)
        children.set(step.delegationId, child)
        return
      }
      case 'delegation_ended': {
        const child = children.get(step.delegationId)
        if (child === undefined) return
        child.endedAt = at
        this.#get(child.begun.ordinal ?? 0, 'tasks').endedAt = at
        return
      }
      case 'gate_opened': {
        const [, kind, ordinal] = OPERATION_SLOT.exec(step.slot) ?? []
        if (kind !== 'call' && kind !== 'question' && kind !== 'wait') return
        const operation = this.#get(Number(ordinal), kind)
        if (kind !== 'call') reviews.set(step.reviewId, operation)
        return
      }
      case 'gate_closed': {
        const operation = reviews.get(step.reviewId)
        if (operation !== undefined) operation.endedAt = at
        return
      }
      default:
    }
  }

  #getStep({
    ordinal,
    isCompensation,
  }: StepOf<'handler_step' | 'handler_step_failed'>): RecordedOperation {
    const among = isCompensation === true ? this.#compensations : this.#operations
    return this.#get(ordinal, 'step', among)
  }

  #get(ordinal: number, kind: OperationKind, among = this.#operations): RecordedOperation {
    const known = among.get(ordinal) ?? { kind, children: new Map() }
    among.set(ordinal, known)
    return known
  }
}

/** Returns the name of a recorded step; undefined for another operation. */
export function nameOfStep({ step, stepFailed }: RecordedOperation): string | undefined {
  return step?.name ?? stepFailed?.name
}

/** Returns a recorded operation, for people. */
export function describeRecordedOperation(operation: RecordedOperation | undefined): string {
  switch (operation?.kind) {
    case 'step':
      return `step "${nameOfStep(operation)}"`
    case 'call': {
      const { callBegun, callEnded = callBegun } = operation
      return callEnded === undefined
        ? 'a call of a tool'
        : `a call of tool "${callEnded.toolName}" with input ${callEnded.inputDigest}`
    }
    case 'tasks':
      return describeTasks([...operation.children.keys()])
    case 'question':
      return 'a question'
    case 'wait':
      return 'a wait'
    default:
      return 'nothing'
  }
}

/** Returns the tasks that an operation adds, for people. */
export function describeTasks(names: readonly string[]): string {
  const [first = '', second] = names
  if (second === undefined) return `task "${first}"`
  return `${names.length} tasks, the first of them "${first}"`
}
