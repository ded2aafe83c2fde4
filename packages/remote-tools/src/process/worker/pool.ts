/**
 * The pool of programs of a tool in worker mode.
 *
 * REMOTE-L1 A call goes to an idle program, otherwise to a new one, otherwise to the one with the fewest calls.
 * REMOTE-L2 At most `size` programs take calls. A program that is ending is replaced immediately.
 * REMOTE-L3 Only a call starts a program, and not while it keeps failing (`restarts.ts`).
 * REMOTE-L4 A call without a free slot waits, and stops waiting when it is aborted.
 */
import { createLimiter, ToolResult, type Limiter } from '@tutti/core'
import { sleep } from '@tutti/core/internal'

import { interruptedResult, type ProcessCall } from '../run-once.ts'
import { quietClock, startProcess } from '@tutti/net/internal'
import { decideStart, NO_FAILURES, addFailure, type FailureRow } from './restarts.ts'
import { Worker } from './worker.ts'

import type { ResolvedProgramOptions } from '../options.ts'
import type { ResolvedWorkerOptions } from '../worker-options.ts'

/** Distributes calls over a pool of programs. */
export class WorkerPool {
  readonly #options: ResolvedProgramOptions
  readonly #worker: ResolvedWorkerOptions
  readonly #workers = new Set<Worker>()
  readonly #slots: Limiter
  #failures: FailureRow = NO_FAILURES
  #isClosed = false

  constructor(options: ResolvedProgramOptions, worker: ResolvedWorkerOptions) {
    this.#options = options
    this.#worker = worker
    this.#slots = createLimiter({ maxConcurrent: worker.size * worker.concurrency })
  }

  /**
   * Runs a call. Failures are failed results.
   *
   * @throws {TypeError} when the input cannot be serialized as JSON.
   */
  async run(call: ProcessCall): Promise<ToolResult> {
    const { signal } = call.context
    let hasSlot = await this.#takeSlot(signal)
    const release = (): void => {
      if (hasSlot) this.#slots.release()
      hasSlot = false
    }
    // The worker ends the program of an aborted call; the slot is free for the next call.
    signal.addEventListener('abort', release, { once: true })
    try {
      if (signal.aborted) return interruptedResult(this.#options, signal)
      const worker = this.#findWorker()
      return await (worker instanceof Worker ? worker.run(call) : worker)
    } finally {
      signal.removeEventListener('abort', release)
      release()
    }
  }

  /** Ends all programs after their calls. Resolves when none is running. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#workers].map((worker) => worker.close()))
  }

  /** Waits for a slot; resolves with false when the signal aborts first. */
  async #takeSlot(signal: AbortSignal): Promise<boolean> {
    if (this.#slots.tryAcquire()) return true
    try {
      await this.#slots.acquire(signal)
      return true
    } catch {
      return false
    }
  }

  /** Returns a worker with free capacity, or the result of the call when there is none. */
  #findWorker(): Worker | ToolResult {
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
        if (signal.aborted) return { ok: false, message: 'Worker was ended before it started' }
        return startProcess(quiet)
      },
      listener: {
        onAnswer: () => {
          this.#failures = NO_FAILURES
        },
        onFailure: (reason) => {
          this.#failures = addFailure(this.#failures, reason, clock.elapsed())
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
