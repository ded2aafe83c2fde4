/** Why a run ends as it does: what failed, which budget is used up, who ended it early. */
import { TuttiError } from '@tutti/core'

import { THE_RUN } from '../usage/budget.ts'

import type { ExitReason } from './run-events.ts'
import type { RunEnding } from './run-result.ts'
import type { CancelMode } from '@tutti/protocol'

/** The conditions of an ending. */
export interface EndingFacts {
  /** Whether every task that starts by itself is completed. */
  readonly isDone: boolean
  readonly cancelMode: CancelMode | undefined
  readonly signal: AbortSignal
}

/** The reasons against completing a run. The first of each kind counts. */
export class Verdict {
  #failure: TuttiError | undefined
  /** That the budget of the run is used up. */
  #usedUp: TuttiError | undefined
  /** The early exit that ended the run without a failure. */
  #exit: TuttiError | undefined

  /** Whether a reviewer ended the run early. */
  get isExited(): boolean {
    return this.#exit !== undefined
  }

  /** Whether the budget of the run is used up. */
  get isUsedUp(): boolean {
    return this.#usedUp !== undefined
  }

  /** Takes the failure of a task; that of a delegated one is for the agent that delegated it. */
  fail(error: TuttiError, { isDelegated }: { readonly isDelegated: boolean }): void {
    const isOfRun = error.details?.['of'] === THE_RUN
    if (error.code === 'BUDGET_EXCEEDED' && isOfRun) this.#usedUp ??= error
    if (error.code === 'EXIT_EARLY') this.#exit ??= error
    else if (!isDelegated) this.#failure ??= error
  }

  /** Takes that a reviewer wants no more. */
  endEarly(exit: TuttiError): void {
    this.#exit ??= exit
  }

  /** How the run ends. */
  ending({ isDone, cancelMode, signal }: EndingFacts): RunEnding {
    if (isDone) return 'COMPLETED'
    if (cancelMode !== undefined) return 'CANCELLED'
    if (signal.aborted) return 'FAILED'
    return this.#failure === undefined && this.#exit !== undefined ? 'COMPLETED' : 'FAILED'
  }

  /** The same in the words of the wire. */
  exitReason(status: RunEnding): ExitReason {
    if (status === 'FAILED') return 'ERROR'
    if (status === 'CANCELLED' || this.#exit === undefined) return status
    return this.#exit.details?.['timedOut'] === true ? 'TIMEOUT' : 'USER_EXIT_EARLY'
  }

  /** Why the run failed; a used-up budget is the reason before what failed because of it. */
  error(signal: AbortSignal): TuttiError | undefined {
    const reason: unknown = signal.reason
    if (TuttiError.isInstance(reason) && reason.code === 'BUDGET_EXCEEDED') {
      return this.#failure?.code === 'BUDGET_EXCEEDED' ? this.#failure : reason
    }
    return this.#usedUp ?? this.#failure
  }

  /** Why a task that has not begun will not. */
  whySkipped(status: RunEnding, signal: AbortSignal): string {
    if (status === 'CANCELLED') return 'The run was cancelled'
    const why = this.error(signal) ?? this.#exit
    return why?.message ?? 'The manager did not delegate it'
  }
}
