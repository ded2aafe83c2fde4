/** Collects the reasons why a run ends as it does: a failure, an exhausted budget, an early exit. */
import { TuttiError } from '@tutti/core'

import { THE_RUN } from '../usage/budget.ts'

import type { ExitReason } from './run-events.ts'
import type { RunEnding } from './run-result.ts'
import type { CancelMode } from '@tutti/protocol/internal'

/** Conditions of the end of a run. */
export interface EndingConditions {
  /** Whether every scheduled task is completed. */
  readonly isDone: boolean
  readonly cancelMode: CancelMode | undefined
  readonly signal: AbortSignal
}

/** Collects reasons against completing a run. The first of each kind counts. */
export class Verdict {
  #failure: TuttiError | undefined
  /** Difference between the steps and the code, which takes precedence over the failures that it caused. */
  #mismatch: TuttiError | undefined
  /** Error of a handler whose compensations failed. */
  #uncompensated: TuttiError | undefined
  /** Error of the run's exhausted budget. */
  #usedUp: TuttiError | undefined
  /** Error with which a reviewer ended the run early. */
  #exit: TuttiError | undefined

  /** Whether a reviewer ended the run early. */
  get isExited(): boolean {
    return this.#exit !== undefined
  }

  /** Whether the budget of the run is exhausted. */
  get isUsedUp(): boolean {
    return this.#usedUp !== undefined
  }

  /**
   * Records the failure of a task. That of a delegated task does not fail the run, because it goes to the
   * agent that delegated it.
   */
  fail(error: TuttiError, { isDelegated }: { readonly isDelegated: boolean }): void {
    const isOfRun = error.details?.['of'] === THE_RUN
    if (error.code === 'BUDGET_EXCEEDED' && isOfRun) this.#usedUp ??= error
    if (error.code === 'REPLAY_MISMATCH') this.#mismatch ??= error
    if (error.code === 'COMPENSATION_FAILED') this.#uncompensated ??= error
    if (error.code === 'EXIT_EARLY') this.#exit ??= error
    else if (!isDelegated) this.#failure ??= error
  }

  /** Records that a reviewer ended the run early. */
  endEarly(exit: TuttiError): void {
    this.#exit ??= exit
  }

  /** Returns the final status of the run. */
  ending({ isDone, cancelMode, signal }: EndingConditions): RunEnding {
    if (isDone) return 'COMPLETED'
    if (cancelMode !== undefined) return 'CANCELLED'
    if (signal.aborted) return 'FAILED'
    return this.#failure === undefined && this.#exit !== undefined ? 'COMPLETED' : 'FAILED'
  }

  /** Returns the reason of the end, on the wire. */
  exitReason(status: RunEnding): ExitReason {
    if (status === 'FAILED') return 'ERROR'
    if (status === 'CANCELLED' || this.#exit === undefined) return status
    return this.#exit.details?.['timedOut'] === true ? 'TIMEOUT' : 'USER_EXIT_EARLY'
  }

  /** Returns the error of the run. A cancelled run has one if a compensation failed, or could not run with changed code. */
  error(status: RunEnding, signal: AbortSignal): TuttiError | undefined {
    if (status === 'CANCELLED') return this.#uncompensated ?? this.#mismatch
    return status === 'FAILED' ? this.#reason(signal) : undefined
  }

  /** Returns the reason why the run fails. An exhausted budget takes precedence over failures that it caused. */
  #reason(signal: AbortSignal): TuttiError | undefined {
    if (this.#mismatch !== undefined) return this.#mismatch
    const reason: unknown = signal.reason
    if (TuttiError.isInstance(reason) && reason.code === 'BUDGET_EXCEEDED') {
      return this.#failure?.code === 'BUDGET_EXCEEDED' ? this.#failure : reason
    }
    return this.#usedUp ?? this.#failure
  }

  /** Returns the reason why a pending task will not run. */
  explainSkip(status: RunEnding, signal: AbortSignal): string {
    if (status === 'CANCELLED') return 'The run was cancelled'
    const why = this.#reason(signal) ?? this.#exit
    return why?.message ?? 'The manager did not delegate it'
  }
}
