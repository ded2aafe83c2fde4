/** Runs a task when its next work is due. */
import type { Clock } from '@tutti/core'

/** A task whose next work is due at a known time. */
export interface DueTask {
  readonly clock: Clock
  /** Maximum time between two runs of the task, in milliseconds; finds work that other processes have stored. */
  readonly maxWaitMs: () => number
  /** Returns the time until its next work, in milliseconds. */
  readonly task: () => Promise<number>
  readonly onError: (error: unknown) => void
}

/** Runs a task at once when it starts, then whenever work is due, never twice at the same time. */
export class DueLoop {
  readonly #options: DueTask
  /** Time of the next run, by `Clock.elapsed`. */
  #nextAt = Infinity
  #stopTimer: (() => void) | undefined
  #isRunning = false
  #isStarted = false

  constructor(options: DueTask) {
    this.#options = options
  }

  /** Starts to run the task, until the returned function is called. */
  start(): () => void {
    this.#isStarted = true
    this.wakeIn(0)
    return () => {
      this.#isStarted = false
      this.#stopTimer?.()
    }
  }

  /** Runs the task no later than in `ms` milliseconds. */
  wakeIn(ms: number): void {
    const { clock, maxWaitMs } = this.#options
    const at = clock.elapsed() + Math.min(Math.max(ms, 0), maxWaitMs())
    if (at >= this.#nextAt) return
    this.#nextAt = at
    if (!this.#isRunning) this.#setTimer()
  }

  #setTimer(): void {
    if (!this.#isStarted) return
    const { clock } = this.#options
    this.#stopTimer?.()
    this.#stopTimer = clock.after(Math.max(0, this.#nextAt - clock.elapsed()), () => {
      void this.#run()
    })
  }

  async #run(): Promise<void> {
    const { maxWaitMs, task, onError } = this.#options
    this.#isRunning = true
    // A wake while the task runs sets an earlier time.
    this.#nextAt = Infinity
    let nextInMs = maxWaitMs()
    try {
      nextInMs = await task()
    } catch (error) {
      onError(error)
    }
    this.wakeIn(nextInMs)
    this.#isRunning = false
    this.#setTimer()
  }
}
