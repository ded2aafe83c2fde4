/** The cancel of a run that is followed: sent, sent again when the server was away, and waited for within a bound. */
import { TuttiClientError, type TuttiClient } from '@tutti/client'
import { errorMessage } from '@tutti/core'

import type { Display } from './display.ts'

/** How long a job that was told to end waits for its run to end: less than what supervisors give it. */
export const CANCEL_WAIT_MS = 20_000

/** Wait before a cancel that did not reach the server is sent again. */
const AGAIN_MS = 1_000

/** The run to cancel, and where its cancel is reported. */
export interface CancelTarget {
  readonly client: TuttiClient
  readonly runId: string
  readonly display: Display
}

/** At most one cancel of one run. */
export class Cancelling {
  readonly #target: CancelTarget
  readonly #leave: () => void
  #isAwaySaid = false
  #again: NodeJS.Timeout | undefined
  #isBegun = false
  #bound: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(target: CancelTarget, leave: () => void) {
    this.#target = target
    this.#leave = leave
  }

  get isAsked(): boolean {
    return this.#isBegun
  }

  begin(): void {
    if (this.#isBegun) return
    this.#isBegun = true
    void this.#send()
  }

  /** Cancels as nobody can be asked; told twice, leaves at once. */
  beginBySignal(): void {
    const { display, runId } = this.#target
    if (this.#isBegun) {
      this.#leave()
      return
    }
    display.say(`Cancelling ${runId}`)
    this.#bound = setTimeout(() => {
      display.say(`${runId} has not ended within ${CANCEL_WAIT_MS / 1_000} s`)
      this.#leave()
    }, CANCEL_WAIT_MS)
    this.begin()
  }

  stop(): void {
    clearTimeout(this.#bound)
    clearTimeout(this.#again)
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
      retryAfterMs = AGAIN_MS,
    } = TuttiClientError.isInstance(error) ? error : {}
    // One that is over needs none; its end comes with its events.
    if (code === 'RUN_COMPLETED') return
    if (retryable === true) {
      if (!this.#isAwaySaid)
        display.say(`The cancel is sent again until the server hears it: ${errorMessage(error)}`)
      this.#isAwaySaid = true
      this.#again = setTimeout(() => void this.#send(), retryAfterMs)
      return
    }
    display.say(`Cannot cancel ${runId}: ${errorMessage(error)}`)
    this.#isBegun = false
    // What the server refuses it refuses again: a job that was told to end does not wait for it.
    if (this.#bound !== undefined) this.#leave()
  }
}
