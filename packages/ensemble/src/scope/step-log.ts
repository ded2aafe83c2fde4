/** The steps that an earlier process recorded, by task. They are replayed instead of repeated. */
import { TuttiError } from '@tutti/core'

import type { Revision, RunStep, StepError, StepOf, TaskStep } from '../ports/run-step.ts'

/** Steps of a whole run. */
export class StepLog {
  readonly #tasks = new Map<string, TaskLog>()
  readonly #runSteps: RunStep[] = []

  constructor(steps: readonly RunStep[]) {
    for (const step of steps) {
      if (isTaskStep(step)) this.#add(step)
      else this.#runSteps.push(step)
    }
  }

  /** Steps that belong to no task, in order. */
  get runSteps(): readonly RunStep[] {
    return this.#runSteps
  }

  /** Returns the steps of one task; empty if it has not begun. */
  task(taskName: string): TaskLog {
    return this.#tasks.get(taskName) ?? EMPTY
  }

  /** Whether there are no steps. */
  get isEmpty(): boolean {
    return this.#tasks.size === 0 && this.#runSteps.length === 0
  }

  /** Whether the run has begun. A run that has not can still have recorded commands. */
  get hasBegun(): boolean {
    return this.#runSteps.some(({ kind }) => kind === 'run_begun') || this.#tasks.size > 0
  }

  /** Names of all tasks with steps. */
  get taskNames(): readonly string[] {
    return [...this.#tasks.keys()]
  }

  #add(step: TaskStep): void {
    const log = this.#tasks.get(step.taskName) ?? new TaskLog()
    this.#tasks.set(step.taskName, log)
    log.add(step)
  }
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

  /** Whether there are any steps. */
  get isKnown(): boolean {
    return this.#steps.length > 0
  }

  /** Adds a step. */
  add(step: TaskStep): void {
    this.#steps.push(step)
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

const NONE: readonly never[] = []

/** Shared log of all tasks without steps; it stays empty. */
const EMPTY = new TaskLog()

function isTaskStep(step: RunStep): step is TaskStep {
  return 'attempt' in step
}

/** Converts an error to its form in a step. */
export function toStepError({ code, message, retryable, details }: TuttiError): StepError {
  return { code, message, retryable, ...(details === undefined ? {} : { details }) }
}

/** Converts the form of an error in a step to the error. */
export function fromStepError({ code, message, retryable, details }: StepError): TuttiError {
  return new TuttiError(code, message, {
    retryable,
    ...(details === undefined ? {} : { details }),
  })
}
