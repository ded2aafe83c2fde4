/** The steps that an earlier process recorded, by task: they are replayed instead of repeated. */
import { TuttiError } from '@tutti/core'

import type { Revision, RunStep, StepError, StepOf, TaskStep } from '../ports/run-step.ts'

/** The steps of a whole run. */
export class StepLog {
  readonly #tasks = new Map<string, TaskLog>()
  readonly #runSteps: RunStep[] = []

  constructor(steps: readonly RunStep[]) {
    for (const step of steps) {
      if (isTaskStep(step)) this.#add(step)
      else this.#runSteps.push(step)
    }
  }

  /** The steps that are of no task, in order. */
  get runSteps(): readonly RunStep[] {
    return this.#runSteps
  }

  /** The steps of one task; none when it has not begun. */
  task(taskName: string): TaskLog {
    return this.#tasks.get(taskName) ?? EMPTY
  }

  /** Whether nothing has happened yet. */
  get isEmpty(): boolean {
    return this.#tasks.size === 0 && this.#runSteps.length === 0
  }

  /** Whether the run has begun; before that people may have asked something of it. */
  get hasBegun(): boolean {
    return this.#runSteps.some(({ kind }) => kind === 'run_begun') || this.#tasks.size > 0
  }

  /** Names of all tasks that have steps. */
  get taskNames(): readonly string[] {
    return [...this.#tasks.keys()]
  }

  #add(step: TaskStep): void {
    const log = this.#tasks.get(step.taskName) ?? new TaskLog()
    this.#tasks.set(step.taskName, log)
    log.add(step)
  }
}

/** Where a task stands. */
export interface AttemptHistory {
  /** The attempt to continue or to begin, from 1. */
  readonly attempt: number
  /** Whether that attempt began already. */
  readonly begun: boolean
  /** Attempts that failed by themselves, which count against the retries of the task. */
  readonly failures: number
  /** Times a reviewer sent the task back. */
  readonly revisions: number
  /** The revision that a reviewer requested. */
  readonly revision: Revision | undefined
}

/** A task that nothing is known of. */
export const NOT_BEGUN: AttemptHistory = {
  attempt: 1,
  begun: false,
  failures: 0,
  revisions: 0,
  revision: undefined,
}

/** The steps of one task. */
export class TaskLog {
  readonly #steps: TaskStep[] = []

  /** Whether there is any step. */
  get isKnown(): boolean {
    return this.#steps.length > 0
  }

  /** Adds what is known. */
  add(step: TaskStep): void {
    this.#steps.push(step)
  }

  /** The first step of that kind in that attempt for which `is` holds. */
  find<K extends TaskStep['kind']>(
    kind: K,
    attempt: number,
    is: (step: StepOf<K>) => boolean = () => true,
  ): StepOf<K> | undefined {
    if (this.#steps.length === 0) return undefined
    const isKind = (step: TaskStep): step is StepOf<K> & TaskStep => step.kind === kind
    return this.#steps
      .filter((step) => step.attempt === attempt)
      .filter(isKind)
      .find(is)
  }

  /** All steps of that kind. */
  of<K extends TaskStep['kind']>(kind: K): readonly StepOf<K>[] {
    if (this.#steps.length === 0) return NONE
    return this.#steps.filter((step): step is StepOf<K> => step.kind === kind)
  }

  /** How far the task is. */
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

  /** Working time of that attempt so far, in milliseconds. */
  workedMs(attempt: number): number {
    return Math.max(
      0,
      ...this.#steps.filter((step) => step.attempt === attempt).map(({ taskMs }) => taskMs),
    )
  }
}

const NONE: readonly never[] = []

/** The log of every task that has not begun; it stays empty. */
const EMPTY = new TaskLog()

function isTaskStep(step: RunStep): step is TaskStep {
  return 'attempt' in step
}

/** An error as a step holds it. */
export function toStepError({ code, message, retryable, details }: TuttiError): StepError {
  return { code, message, retryable, ...(details === undefined ? {} : { details }) }
}

/** The error that a step holds. */
export function fromStepError({ code, message, retryable, details }: StepError): TuttiError {
  return new TuttiError(code, message, {
    retryable,
    ...(details === undefined ? {} : { details }),
  })
}
