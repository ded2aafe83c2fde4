/**
 * Takes from the steps of a replayed run what its replay does not do again.
 *
 * ENS-E25 A frozen replay makes no call: not of a model, tool, handler, reviewer or memory. It fails with REPLAY_MISMATCH
 *    at the first call without a step, at a request that differs, and at an output that differs.
 * ENS-E26 A replay with live models makes no other call: results of tools and handlers and decisions of reviewers come
 *    from the record, and one that is not in the record fails with REPLAY_MISMATCH.
 */
import { RecordedOperations, type RecordedOperation } from './recorded-operations.ts'
import { toStepToolCall } from './replay.ts'

import type { ToolCall } from '@tutti/core'
import type { RunStep, StepOf, TaskStep } from '../ports/run-step.ts'
import type { RecordedReview } from './recorded-review.ts'

/**
 * Returns the steps of a replayed run from which its tasks are executed again without a call. Failed attempts are not
 * executed again, and neither are delegated tasks, whose outputs are results of tool calls. A task that received a conversation
 * is executed again like the task that handed it off.
 */
export function selectFrozenSteps(steps: readonly RunStep[]): readonly RunStep[] {
  const workers = new Set<string>()
  for (const step of steps) {
    if (step.kind !== 'delegation_begun') continue
    if (step.handoff === undefined || workers.has(step.taskName)) workers.add(step.workerTask)
  }
  const failed = new Set(
    steps.flatMap((step) => (step.kind === 'task_failed' ? [toAttemptKey(step)] : [])),
  )
  return steps.filter((step) => {
    switch (step.kind) {
      case 'run_begun':
      case 'tasks_changed':
      case 'run_forked':
      case 'cancel_asked':
      case 'model_switched':
      case 'model_failed':
      case 'task_skipped':
        return false
      case 'task_completed':
        return workers.has(step.taskName)
      case 'task_begun':
        return workers.has(step.taskName) || failed.has(toAttemptKey(step))
      default:
        return true
    }
  })
}

/** Identifies an attempt at a task of a run. */
interface AttemptPosition {
  readonly taskName: string
  readonly attempt: number
}

/** Returns the task that a choice let run, by the steps of its tasks; see {@link ReplayRecord.findChosen}. */
export function findChosen(
  steps: readonly RunStep[],
  names: readonly string[],
): string | null | undefined {
  for (const step of steps) {
    if (!('taskName' in step) || step.taskName === undefined) continue
    if (!names.includes(step.taskName)) continue
    if (step.kind === 'task_begun' && step.refusal === undefined) return step.taskName
    if (step.kind === 'task_skipped' && step.chosen !== undefined) return step.chosen
  }
  return undefined
}

function toAttemptKey({ taskName, attempt }: AttemptPosition): string {
  return JSON.stringify([taskName, attempt])
}

/** Identifies a review of a run. */
export interface ReviewPosition extends AttemptPosition {
  readonly slot: string
}

/** The steps of a replayed run, by what they record. */
export class ReplayRecord {
  readonly #steps: readonly RunStep[]
  /** Steps by task, so that a lookup does not read those of all tasks. */
  readonly #tasks = new Map<string, TaskStep[]>()
  readonly #operations = new Map<string, RecordedOperations>()
  readonly #taken = new Set<RunStep>()

  /** @param own steps that the replay itself has recorded; their calls have taken their results. */
  constructor(steps: readonly RunStep[], own: readonly RunStep[]) {
    this.#steps = steps
    for (const step of steps) {
      if (!('attempt' in step)) continue
      const known = this.#tasks.get(step.taskName)
      if (known === undefined) this.#tasks.set(step.taskName, [step])
      else known.push(step)
    }
    for (const step of steps.length === 0 ? [] : own) {
      if (step.kind === 'tool_ended') this.#takeEnd(step)
    }
  }

  /** Takes the result of a tool call. Equal calls get their results in the recorded order, and then the last one again. */
  takeCall(
    taskName: string,
    call: Pick<ToolCall, 'name' | 'arguments'>,
  ): StepOf<'tool_ended'> | undefined {
    return this.#takeEnd({ taskName, ...toStepToolCall(call) })
  }

  /**
   * Returns the end of the handler of a task for an input: of the same attempt, else its output in another attempt, else its
   * failure in the last one.
   */
  findHandler(
    { taskName, attempt }: AttemptPosition,
    inputDigest: string,
  ): StepOf<'handler_ended' | 'task_failed'> | undefined {
    const outputs = this.#of(taskName, 'handler_ended').filter(
      (step) => step.inputDigest === inputDigest,
    )
    const failures = this.#of(taskName, 'task_failed').filter(
      (step) => step.inputDigest === inputDigest,
    )
    return (
      outputs.find((step) => step.attempt === attempt) ??
      failures.find((step) => step.attempt === attempt) ??
      outputs.at(-1) ??
      failures.at(-1)
    )
  }

  /** Whether the handler of a task added tasks. */
  hasChildren(taskName: string): boolean {
    return this.#of(taskName, 'delegation_begun').some(({ ordinal }) => ordinal !== undefined)
  }

  /** Returns an operation of a handler; undefined if the attempt has none with this number. */
  findOperation(
    { taskName, attempt }: AttemptPosition,
    ordinal: number,
  ): RecordedOperation | undefined {
    const key = toAttemptKey({ taskName, attempt })
    let operations = this.#operations.get(key)
    if (operations === undefined) {
      const steps = this.#stepsOf(taskName).filter((step) => step.attempt === attempt)
      const log = { copied: NONE, ofAttempt: () => steps, markReplayed: () => undefined }
      operations = new RecordedOperations(log, { taskName, attempt })
      this.#operations.set(key, operations)
    }
    return operations.get(ordinal)
  }

  /** Returns the end of a step of a handler, or of a compensation, in the last attempt that has it. */
  findStep(
    taskName: string,
    {
      ordinal,
      name,
      isCompensation,
    }: Pick<StepOf<'handler_step'>, 'ordinal' | 'name' | 'isCompensation'>,
  ): StepOf<'handler_step'> | undefined {
    return this.#of(taskName, 'handler_step').findLast(
      (step) =>
        step.ordinal === ordinal && step.name === name && step.isCompensation === isCompensation,
    )
  }

  /** Returns the end of a call by a handler, in the last attempt that has it. */
  findCall(taskName: string, ordinal: number): StepOf<'tool_ended'> | undefined {
    return this.#of(taskName, 'tool_ended').findLast((step) => step.ordinal === ordinal)
  }

  /** Returns a review that ended. */
  findReview({ taskName, attempt, slot }: ReviewPosition): RecordedReview | undefined {
    const opened = this.#of(taskName, 'gate_opened').findLast(
      (step) => step.attempt === attempt && step.slot === slot,
    )
    const closed = this.#of(taskName, 'gate_closed').find(
      ({ reviewId }) => reviewId === opened?.reviewId,
    )
    return opened === undefined || closed === undefined
      ? undefined
      : { opened, closed, isCopied: true }
  }

  /** Returns the notes of a task, those of its last attempt. */
  findNotes(taskName: string): StepOf<'notes_read'> | undefined {
    return this.#of(taskName, 'notes_read').at(-1)
  }

  /**
   * Returns the task that a choice let run; null if it skipped all of them, undefined if the record has no choice.
   *
   * @param names names of its tasks.
   */
  findChosen(names: readonly string[]): string | null | undefined {
    return findChosen(this.#steps, names)
  }

  /** Returns the output of a completed task. */
  findOutput(taskName: string): string | undefined {
    return this.#of(taskName, 'task_completed').at(-1)?.output
  }

  #takeEnd({
    taskName,
    toolName,
    inputDigest,
  }: Pick<StepOf<'tool_ended'>, 'taskName' | 'toolName' | 'inputDigest'>):
    | StepOf<'tool_ended'>
    | undefined {
    const equal = this.#of(taskName, 'tool_ended').filter(
      (step) => step.toolName === toolName && step.inputDigest === inputDigest,
    )
    const next = equal.find((step) => !this.#taken.has(step)) ?? equal.at(-1)
    if (next !== undefined) this.#taken.add(next)
    return next
  }

  #stepsOf(taskName: string): readonly TaskStep[] {
    return this.#tasks.get(taskName) ?? NONE
  }

  #of<K extends TaskStep['kind']>(taskName: string, kind: K): readonly StepOf<K>[] {
    return this.#stepsOf(taskName).filter(
      (step): step is StepOf<K> & TaskStep => step.kind === kind,
    )
  }
}

const NONE: readonly never[] = []
