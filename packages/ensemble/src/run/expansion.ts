/**
 * Decides when a map over items stops and how it ends. No I/O.
 *
 * ENS-P10 A map refuses anything but a list, more than `maxItems` items, items that are not JSON unless each has its own task,
 *    two equal keys, tasks whose calls exceed a budget, and tasks whose texts are larger than 64 MB together, before any task
 *    begins.
 * ENS-P11 A map stops, and cancels its tasks in flight, when it cannot end otherwise: at the first failure with `fail`, at
 *    more than `maxFailures`, and as soon as `until.succeeded` tasks are completed. What it returns is in the order of the
 *    items.
 */
import { TuttiError } from '@tutti/core'

import type { MapSettings } from '../definition/operations.ts'
import type { TaskOutcome } from '../scope/task-outcome.ts'

/** Counts the outcomes of one map. */
export class Expansion {
  readonly #settings: MapSettings
  readonly #maxFailures: number
  /** Outcomes of the tasks that the map itself has cancelled. */
  readonly #cancelled = new Set<TaskOutcome>()
  #succeeded = 0
  #failed = 0

  constructor(settings: MapSettings) {
    this.#settings = settings
    const { onError = 'fail', maxFailures = onError === 'fail' ? 0 : Infinity } = settings
    this.#maxFailures = maxFailures
  }

  /**
   * Counts an outcome. Outcomes are counted in the order in which the tasks ended, because a task that is cancelled after
   * the map must stop has not failed. Returns whether the map must stop.
   */
  add(outcome: TaskOutcome): boolean {
    if (outcome.kind === 'completed') this.#succeeded += 1
    else if (this.#mustStop && isCancelled(outcome)) this.#cancelled.add(outcome)
    else this.#failed += 1
    return this.#mustStop
  }

  /** Whether the map itself has cancelled the task. */
  hasCancelled(outcome: TaskOutcome): boolean {
    return this.#cancelled.has(outcome)
  }

  /**
   * Checks that the map has succeeded.
   *
   * @param first the failure of the first item that failed by itself.
   * @throws {TuttiError} that failure, or TASK_FAILED with the number of failures.
   */
  assertSucceeded(first: TuttiError | undefined): void {
    const { onError = 'fail', until } = this.#settings
    if (this.#isEnough || first === undefined) return
    if (onError === 'fail') throw first
    const cause = `the first failure: ${first.message}`
    if (this.#failed > this.#maxFailures) {
      throw new TuttiError(
        'TASK_FAILED',
        `More than ${this.#maxFailures} tasks failed, and no more may; ${cause}`,
        { cause: first },
      )
    }
    if (until === undefined) return
    throw new TuttiError(
      'TASK_FAILED',
      `${this.#succeeded} tasks succeeded, and ${until.succeeded} must; ${cause}`,
      { cause: first },
    )
  }

  get #mustStop(): boolean {
    return this.#isEnough || this.#failed > this.#maxFailures
  }

  get #isEnough(): boolean {
    const { until } = this.#settings
    return until !== undefined && this.#succeeded >= until.succeeded
  }
}

function isCancelled(outcome: TaskOutcome): boolean {
  if (outcome.kind === 'not_begun') return outcome.exit === undefined
  return outcome.kind === 'failed' && outcome.error.code === 'CANCELLED'
}
