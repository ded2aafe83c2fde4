/** Cancels a followed run: sends the cancel, repeats it while the server is unreachable, and limits the wait for the end. */
import { TuttiClientError, type TuttiClient } from '@tutti/client'
import { errorMessage } from '@tutti/core/internal'

import type { Display } from './display.ts'

/** Time to wait for the end of a run after a signal, in milliseconds; shorter than the grace period of supervisors. */
export const CANCEL_WAIT_MS = 20_000

/** Delay before a cancel that did not reach the server is sent again, in milliseconds. */
const RESEND_MS = 1_000

/** Run to cancel, and the display that reports it. */
export interface CancelTarget {
  readonly client: TuttiClient
  readonly runId: string
  readonly display: Display
}

/** The cancel of one run. It is sent at most once at a time. */
export class Cancelling {
  readonly #target: CancelTarget
  readonly #leave: () => void
  #hasReportedLoss = false
  #resendTimer: NodeJS.Timeout | undefined
  #isRequested = false
  #waitTimer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(target: CancelTarget, leave: () => void) {
    this.#target = target
    this.#leave = leave
  }

  get isRequested(): boolean {
    return this.#isRequested
  }

  begin(): void {
    if (this.#isRequested) return
    this.#isRequested = true
    void this.#send()
  }

  /** Cancels the run without a prompt. A second call leaves at once. */
  beginBySignal(): void {
    const { display, runId } = this.#target
    if (this.#isRequested) {
      this.#leave()
      return
    }
    display.print(`Cancelling ${runId}`)
    this.#waitTimer = setTimeout(() => {
      display.print(`${runId} did not end within ${CANCEL_WAIT_MS / 1_000} s`)
      this.#leave()
    }, CANCEL_WAIT_MS)
    this.begin()
  }

  stop(): void {
    clearTimeout(this.#waitTimer)
    clearTimeout(this.#resendTimer)
    this.#isStopped = true
  }

  async #send(): Promise<void> {
    const { client, runId } = this.#target
    try {
      await client.runs.cancel(runId)
    } catch (error) {
      if (!this.#isStopped) this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    const { display, runId } = this.#target
    const {
      code,
      retryable,
      retryAfterMs = RESEND_MS,
    } = TuttiClientError.isInstance(error) ? error : {}
    // The run has ended already; its last event will arrive.
    if (code === 'RUN_COMPLETED') return
    if (retryable === true) {
      if (!this.#hasReportedLoss)
        display.print(`The server is unreachable, retrying the cancel: ${errorMessage(error)}`)
      this.#hasReportedLoss = true
      this.#resendTimer = setTimeout(() => void this.#send(), retryAfterMs)
      return
    }
    display.print(`Cannot cancel ${runId}: ${errorMessage(error)}`)
    this.#isRequested = false
    // The server would refuse again, so a command that received a signal does not wait.
    if (this.#waitTimer !== undefined) this.#leave()
  }
}
