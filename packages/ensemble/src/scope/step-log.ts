/** The steps that an earlier process recorded, by task. They are replayed instead of repeated. */
import { TuttiError } from '@tutti/core'
import { toJsonForm, toPlainJson } from '@tutti/core/internal'

import { isOperationSlot } from './recorded-operations.ts'
import { findChosen, ReplayRecord, selectFrozenSteps } from './replay-record.ts'
import { ZERO_USAGE } from '../usage/usage.ts'

import type {
  EventGiven,
  ResultGiven,
  Revision,
  RunStep,
  StepError,
  StepOf,
  TaskStep,
} from '../ports/run-step.ts'
import type { RecordedReview } from './recorded-review.ts'
import type { ReplayMode } from '@tutti/protocol/internal'

/** Steps of a whole run. */
export class StepLog {
  readonly #tasks = new Map<string, TaskLog>()
  readonly #runSteps: RunStep[] = []
  readonly #given = new Map<string, GivenResult>()
  readonly #givenEvents: EventGiven[] = []
  /** Mode in which the run replays another one; undefined if it does not. */
  readonly replay: ReplayMode | undefined
  /** Steps of the replayed run; empty in a run that replays none. */
  readonly record: ReplayRecord

  constructor(steps: readonly RunStep[], replay?: ReplayMode) {
    const forkedAt = steps.findLastIndex(({ kind }) => kind === 'run_forked')
    this.replay = replay
    const copied = steps.slice(0, Math.max(0, forkedAt))
    const own = steps.slice(copied.length)
    this.record = new ReplayRecord(replay === undefined ? [] : copied, own)
    for (const step of this.#selectCopied(copied)) this.#add(step, true)
    for (const step of own) this.#add(step, false)
  }

  /** Returns the copied steps that the tasks continue from. */
  #selectCopied(copied: readonly RunStep[]): readonly RunStep[] {
    if (this.replay === undefined) return copied
    if (this.replay === 'frozen') return selectFrozenSteps(copied)
    return copied.filter(({ kind }) => kind === 'result_given')
  }

  /** Steps that belong to no task, in order. */
  get runSteps(): readonly RunStep[] {
    return this.#runSteps
  }

  /** Returns the steps of one task; empty if it has not begun. */
  task(taskName: string): TaskLog {
    return this.#tasks.get(taskName) ?? EMPTY
  }

  /** Whether the log of the run has the end of a completed task. A frozen replay takes others from its record. */
  hasEnd(taskName: string): boolean {
    return this.replay !== 'frozen' || this.task(taskName).own('task_completed').length > 0
  }

  /** Returns the output that the request of a fork gives to an attempt at a task; undefined if its agent must answer. */
  findGiven(taskName: string, attempt: number): ResultGiven | undefined {
    const given = this.#given.get(taskName)
    return given?.attempt === attempt ? given.step : undefined
  }

  /** Returns the event that a wait of a fork gets, because the same wait of its parent got it; undefined if there is none. */
  findGivenEvent(taskName: string, wait: EventGiven['wait']): EventGiven | undefined {
    const { attempt, slot, basis } = wait
    return this.#givenEvents.find(
      (given) =>
        given.taskName === taskName &&
        given.wait.attempt === attempt &&
        given.wait.slot === slot &&
        given.wait.basis === basis,
    )
  }

  /**
   * Returns the task that a choice let run; null if it skipped all of them, undefined if it must be made. A replay makes no
   * choice that is in its record.
   *
   * @param names names of its tasks.
   */
  findChosen(names: readonly string[]): string | null | undefined {
    const begun = names.flatMap((name) => this.task(name).of('task_begun'))
    const chosen = findChosen([...this.#runSteps, ...begun], names)
    return chosen === undefined ? this.record.findChosen(names) : chosen
  }

  /** Whether there are no steps. */
  get isEmpty(): boolean {
    return this.#tasks.size === 0 && this.#runSteps.length === 0
  }

  /** Whether the run has begun. A run that has not can still have recorded commands. */
  get hasBegun(): boolean {
    const hasTasks = this.replay === undefined && this.#tasks.size > 0
    return hasTasks || this.#runSteps.some(({ kind }) => kind === 'run_begun')
  }

  /** Names of all tasks with steps. */
  get taskNames(): readonly string[] {
    return [...this.#tasks.keys()]
  }

  /** Whether a task of this run has begun. The steps of a replayed run do not count. */
  hasTask(taskName: string): boolean {
    const log = this.task(taskName)
    return this.replay === undefined ? log.isKnown : log.isContinued
  }

  /** Adds a step. The usage of a copied one does not count. */
  #add(step: RunStep, isCopied: boolean): void {
    if (!isTaskStep(step)) {
      this.#runSteps.push(step)
      if (step.kind === 'result_given') {
        const { attempt, begun } = this.task(step.taskName).progress()
        this.#given.set(step.taskName, { attempt: begun ? attempt + 1 : attempt, step })
      } else if (step.kind === 'event_given') this.#givenEvents.push(step)
      return
    }
    const log = this.#tasks.get(step.taskName) ?? new TaskLog()
    this.#tasks.set(step.taskName, log)
    if (isCopied) log.addCopied(step)
    else log.add(step)
  }
}

/** An output that the request of a fork gives, and the attempt that answers with it. */
interface GivenResult {
  readonly attempt: number
  readonly step: ResultGiven
}

/** Log of a run without steps. */
export const NO_STEPS = new StepLog([])

/** Progress of a task over its attempts. */
export interface AttemptHistory {
  /** Number of the attempt to continue or to begin, from 1. */
  readonly attempt: number
  /** Whether that attempt has already begun. */
  readonly begun: boolean
  /** Number of failed attempts that count against the retries of the task; rejections do not. */
  readonly failures: number
  /** Number of times that a reviewer rejected the output. */
  readonly revisions: number
  /** Revision that a reviewer requested. */
  readonly revision: Revision | undefined
}

/** History of a task without steps. */
export const NOT_BEGUN: AttemptHistory = {
  attempt: 1,
  begun: false,
  failures: 0,
  revisions: 0,
  revision: undefined,
}

/** Steps of one task. */
export class TaskLog {
  readonly #steps: TaskStep[] = []
  readonly #replayed = new Set<TaskStep>()
  /** Number of steps, from the first one on, that are copied from the parent of a fork. */
  #copied = 0

  /** Whether there are any steps. */
  get isKnown(): boolean {
    return this.#steps.length > 0
  }

  /** Whether there are steps that are not copied, or an end that a replay does not repeat. */
  get isContinued(): boolean {
    return this.#steps.length > this.#copied || this.hasEnded
  }

  /** Whether the task was completed or failed for good. */
  get hasEnded(): boolean {
    return this.#steps.some(isEnd)
  }

  /** Adds a step. */
  add(step: TaskStep): void {
    this.#steps.push(step)
  }

  /** Steps that are copied from the parent of a fork. */
  get copied(): readonly TaskStep[] {
    return this.#copied === 0 ? NONE : this.#steps.slice(0, this.#copied)
  }

  /** Adds a step that is copied from the parent of a fork, which has paid for it. */
  addCopied(step: TaskStep): void {
    this.#steps.push('used' in step ? { ...step, used: ZERO_USAGE } : step)
    this.#copied = this.#steps.length
  }

  /** Returns the first step of `kind` in the attempt for which `is` returns true. */
  find<K extends TaskStep['kind']>(
    kind: K,
    attempt: number,
    is?: (step: StepOf<K>) => boolean,
  ): StepOf<K> | undefined {
    if (this.#steps.length === 0) return undefined
    const isKind = (step: TaskStep): step is StepOf<K> & TaskStep => step.kind === kind
    return this.#steps
      .filter((step) => step.attempt === attempt)
      .filter(isKind)
      .find((step) => is?.(step) ?? true)
  }

  /**
   * Returns the last review that was opened in a slot, of one attempt or of all; undefined if there is none.
   *
   * @param attempt its attempt. @default any attempt
   */
  findReview(slot: string, attempt?: number): RecordedReview | undefined {
    const opened = this.of('gate_opened').findLast(
      (step) => step.slot === slot && (attempt === undefined || step.attempt === attempt),
    )
    if (opened === undefined) return undefined
    const { reviewId } = opened
    const closed = this.of('gate_closed').find((step) => step.reviewId === reviewId)
    return { opened, closed, isCopied: this.#isCopied(closed ?? opened) }
  }

  #isCopied(step: TaskStep): boolean {
    return this.#steps.indexOf(step) < this.#copied
  }

  /** Returns all steps of `kind` that are not copied from the parent of a fork. Only their usage counts. */
  own<K extends TaskStep['kind']>(kind: K): readonly StepOf<K>[] {
    if (this.#copied === this.#steps.length) return NONE
    const own = this.#steps.slice(this.#copied)
    return own.filter((step): step is StepOf<K> => step.kind === kind)
  }

  /** Returns the steps of an attempt, in order. */
  ofAttempt(attempt: number): readonly TaskStep[] {
    return this.#steps.filter((step) => step.attempt === attempt)
  }

  /** Marks a step as replayed. */
  markReplayed(step: TaskStep): void {
    this.#replayed.add(step)
  }

  /**
   * Returns the first recorded outcome of the attempt that was not replayed.
   *
   * @param isCounted whether a step counts. @default all
   */
  findUnreplayed(
    attempt: number,
    isCounted: (step: TaskStep) => boolean = () => true,
  ): TaskStep | undefined {
    const isHandled = this.find('handler_ended', attempt) !== undefined
    return this.#steps.find(
      (step) =>
        step.attempt === attempt &&
        isCounted(step) &&
        !this.#replayed.has(step) &&
        !(isHandled && isInsideHandler(step)) &&
        this.#isOutcome(step),
    )
  }

  /** Whether the code must ask for the step. That a call began is of no interest after its end. */
  #isOutcome(step: TaskStep): boolean {
    if (step.kind !== 'tool_begun') return OUTCOMES.has(step.kind)
    const { attempt, iterationIndex, position } = step
    const isSameCall = (other: StepOf<'tool_ended'>): boolean =>
      other.iterationIndex === iterationIndex && other.position === position
    return this.find('tool_ended', attempt, isSameCall) === undefined
  }

  /** Returns all steps of `kind`. */
  of<K extends TaskStep['kind']>(kind: K): readonly StepOf<K>[] {
    if (this.#steps.length === 0) return NONE
    return this.#steps.filter((step): step is StepOf<K> => step.kind === kind)
  }

  /** Returns the progress of the task. */
  progress(): AttemptHistory {
    if (this.#steps.length === 0) return NOT_BEGUN
    const failed = this.of('task_failed')
    const last = failed.at(-1)
    const attempt = Math.max(1, (last?.attempt ?? 0) + 1)
    const revisions = failed.filter(({ revision }) => revision !== undefined).length
    return {
      attempt,
      begun: this.find('task_begun', attempt) !== undefined,
      failures: failed.length - revisions,
      revisions,
      revision: last?.revision,
    }
  }

  /** Returns the working time of the attempt so far, in milliseconds. */
  workedMs(attempt: number): number {
    return Math.max(
      0,
      ...this.#steps.filter((step) => step.attempt === attempt).map(({ taskMs }) => taskMs),
    )
  }
}

/** Kinds of steps that record an outcome of a task's agent or handler. */
const OUTCOMES: ReadonlySet<TaskStep['kind']> = new Set([
  'model_turn',
  'tool_ended',
  'handler_ended',
  'handler_step',
])

/** Whether the step is a call or an operation of a handler, which does not ask for it when its output is recorded, too. */
function isInsideHandler(step: TaskStep): boolean {
  return step.kind === 'tool_ended' || isOperation(step)
}

/** Whether the step records an operation of a handler: a task, a call, a step, a question or a wait. */
export function isOperation(step: TaskStep): boolean {
  if (step.kind === 'gate_opened') return isOperationSlot(step.slot)
  return 'ordinal' in step && step.ordinal !== undefined
}

/** Whether a handler has recorded operations in an attempt that has not ended. Its compensations may have to run. */
export function hasOpenHandler(steps: readonly RunStep[]): boolean {
  const open = new Set<string>()
  for (const step of steps) {
    if (!isTaskStep(step)) continue
    const key = JSON.stringify([step.taskName, step.attempt])
    if (HANDLER_ENDS.has(step.kind)) open.delete(key)
    else if (step.kind === 'compensation_begun' || isOperation(step)) open.add(key)
  }
  return open.size > 0
}

/** Kinds of steps after which a handler is not called again in its attempt. */
const HANDLER_ENDS: ReadonlySet<TaskStep['kind']> = new Set([
  'handler_ended',
  'task_completed',
  'task_failed',
])

const NONE: readonly never[] = []

/** Shared log of all tasks without steps; it stays empty. */
const EMPTY = new TaskLog()

/** Whether the step is the end of its task. */
function isEnd(step: TaskStep): boolean {
  return step.kind === 'task_completed' || (step.kind === 'task_failed' && !step.willRetry)
}

function isTaskStep(step: RunStep): step is TaskStep {
  return 'attempt' in step
}

/** Converts an error to its form in a step. */
export function toStepError({ code, message, retryable, details }: TuttiError): StepError {
  const plain = details === undefined ? undefined : toPlainDetails(details)
  return { code, message, retryable, ...(plain === undefined ? {} : { details: plain }) }
}

/** Returns details as JSON; undefined if they have no JSON form. User code can throw errors with any details. */
function toPlainDetails(details: object): StepError['details'] {
  const form = toJsonForm(details)
  if (!form.ok) return undefined
  try {
    return JSON.parse(JSON.stringify(toPlainJson(form.value)))
  } catch {
    return undefined
  }
}

/** Converts the form of an error in a step to the error. */
export function fromStepError({ code, message, retryable, details }: StepError): TuttiError {
  return new TuttiError(code, message, {
    retryable,
    ...(details === undefined ? {} : { details }),
  })
}
