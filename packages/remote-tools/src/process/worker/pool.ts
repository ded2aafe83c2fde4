/**
 * The programs of a tool in worker mode.
 *
 * L1 A call goes to a program without work, else to a new one, else to that with the least work.
 * L2 At most `size` programs take calls; one that is being ended is replaced at once.
 * L3 A program is started for a call, never of itself, and not when it keeps failing (`restarts.ts`).
 * L4 A call that finds no room waits for its turn, and stops waiting when it is aborted.
 */
import { createLimiter, sleep, ToolResult, type Limiter } from '@tutti/core'

import { interrupted, type ProcessCall } from '../run-once.ts'
import { quietClock, startProcess } from '@tutti/net'
import { decideStart, NO_FAILURES, withFailure, type FailureRow } from './restarts.ts'
import { Worker } from './worker.ts'

import type { ResolvedProgramOptions } from '../options.ts'
import type { ResolvedWorkerOptions } from './options.ts'

/** Keeps programs and gives them calls. */
export class WorkerPool {
  readonly #options: ResolvedProgramOptions
  readonly #worker: ResolvedWorkerOptions
  readonly #workers = new Set<Worker>()
  readonly #turns: Limiter
  #failures: FailureRow = NO_FAILURES
  #isClosed = false

  constructor(options: ResolvedProgramOptions, worker: ResolvedWorkerOptions) {
    this.#options = options
    this.#worker = worker
    this.#turns = createLimiter({ maxConcurrent: worker.size * worker.concurrency })
  }

  /**
   * Has a call answered, or says why there is no answer.
   *
   * @throws {TypeError} when the input cannot be written as JSON.
   */
  async run(call: ProcessCall): Promise<ToolResult> {
    const { signal } = call.context
    let hasTurn = await this.#takeTurn(signal)
    const release = (): void => {
      if (hasTurn) this.#turns.release()
      hasTurn = false
    }
    // The program of a call that is aborted ends by itself; its turn is free for the next.
    signal.addEventListener('abort', release, { once: true })
    try {
      if (signal.aborted) return interrupted(this.#options, signal)
      const worker = this.#workerForCall()
      return await (worker instanceof Worker ? worker.run(call) : worker)
    } finally {
      signal.removeEventListener('abort', release)
      release()
    }
  }

  /** Ends all programs, after the calls they work on; resolves when none is left. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#workers].map((worker) => worker.close()))
  }

  /** Waits for a turn; none when the signal aborts before that. */
  async #takeTurn(signal: AbortSignal): Promise<boolean> {
    if (this.#turns.tryAcquire()) return true
    try {
      await this.#turns.acquire(signal)
      return true
    } catch {
      return false
    }
  }

  /** A worker with room, or the result that there is none. */
  #workerForCall(): Worker | ToolResult {
    if (this.#isClosed) return ToolResult.failure('Tool is closed')
    const open = [...this.#workers].filter((worker) => worker.isOpen)
    const [best] = open
      .filter((worker) => worker.load < this.#worker.concurrency)
      .toSorted((a, b) => a.load - b.load)
    if (best !== undefined && (best.load === 0 || open.length >= this.#worker.size)) return best
    const now = this.#options.clock.elapsed()
    const decision = decideStart(this.#failures, this.#worker.maxRestarts, now)
    if (best !== undefined && !(decision.start && decision.waitMs === 0)) return best
    return decision.start ? this.#addWorker(decision.waitMs) : ToolResult.failure(decision.message)
  }

  #addWorker(waitMs: number): Worker {
    const { clock } = this.#options
    const quiet = { ...this.#options, clock: quietClock(clock) }
    const worker: Worker = new Worker({
      options: this.#options,
      worker: this.#worker,
      start: async (signal) => {
        if (waitMs > 0) await sleep(clock, waitMs, signal)
        if (signal.aborted) return { ok: false, message: 'Worker was ended before it was started' }
        return startProcess(quiet)
      },
      listener: {
        onAnswer: () => {
          this.#failures = NO_FAILURES
        },
        onFailure: (reason) => {
          this.#failures = withFailure(this.#failures, reason, clock.elapsed())
        },
        onReopen: () => {
          const open = [...this.#workers].filter((other) => other.isOpen)
          if (open.length > this.#worker.size) worker.retire()
        },
        onGone: () => {
          this.#workers.delete(worker)
        },
      },
    })
    this.#workers.add(worker)
    return worker
  }
}
