/**
 * One program that answers many calls.
 *
 * REMOTE-W1 The line with the id of a call answers it. Answers may have any order, and other lines are ignored.
 * REMOTE-W2 The end of the program fails only the calls that it has not answered.
 * REMOTE-W3 An aborted call ends the program, because its state is unknown. A program with a `concurrency` above 1
 *    gets a cancel message first, and continues if it answers within `CANCEL_ANSWER_MS`.
 * REMOTE-W4 An idle program does not keep this process alive, and is ended after its idle time.
 * REMOTE-W5 A retired program takes no more calls, and ends when it has answered its calls.
 */
import { ToolResult, type Clock, type Logger } from '@tutti/core'
import { limitText, reportPartialOutput, silentLogger, type LogFields } from '@tutti/core/internal'
import { quietClock } from '@tutti/net/internal'

import { logDebug } from '../log-debug.ts'
import { interruptedResult, PARTIAL_LENGTH, type ProcessCall } from '../run-once.ts'
import { decodeWorkerMessage, encodeCall, encodeCancel } from './messages.ts'
import { WorkerProgram, type StartWorkerProgram } from './worker-program.ts'

import type { ResolvedProgramOptions } from '../options.ts'
import type { ResolvedWorkerOptions } from '../worker-options.ts'

/** Time for a program with several calls to confirm that it has stopped one of them, in milliseconds. */
export const CANCEL_ANSWER_MS = 500

/** Callbacks for the state of a worker. */
export interface WorkerListener {
  onAnswer(): void
  /** Called when it ended unexpectedly or was ended as unusable. */
  onFailure(reason: string): void
  /** Called when it takes calls again after it has stopped the aborted ones. */
  onReopen(): void
  /** Called when its process tree has ended. */
  onGone(): void
}

/** Options and callbacks of a worker. */
export interface WorkerParts {
  readonly options: ResolvedProgramOptions
  readonly worker: ResolvedWorkerOptions
  readonly start: StartWorkerProgram
  readonly listener: WorkerListener
}

interface PendingCall {
  readonly call: ProcessCall
  /** Message for the program. */
  readonly line: string
  settle(result: ToolResult): void
}

/** A program of a pool. The constructor starts it. */
export class Worker {
  readonly #parts: WorkerParts
  readonly #clock: Clock
  readonly #program: WorkerProgram
  readonly #calls = new Map<string, PendingCall>()
  /** Aborted calls in flight, each with the function that stops the wait for its answer. */
  readonly #aborted = new Map<string, () => void>()
  readonly #stderr = new RecentLines()
  #phase: 'starting' | 'ready' | 'over' = 'starting'
  #isRetired = false
  #callCount = 0
  #hasAnswered = false
  #stopTimer: (() => void) | undefined
  #logger: Logger = silentLogger

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.#clock = quietClock(parts.options.clock)
    this.#program = new WorkerProgram(parts.start, parts.options.maxOutputBytes, {
      onStarted: () => {
        this.#onStarted()
      },
      onLine: (line) => {
        this.#onLine(line)
      },
      onLongLine: () => {
        this.#onLongLine()
      },
      onStderr: (line) => {
        this.#stderr.add(line)
        this.#log('Worker wrote to stderr', { line })
      },
      onOver: (reason, { asked }) => {
        this.#onOver(reason, asked)
      },
    })
  }

  /** Whether it takes new calls. */
  get isOpen(): boolean {
    return this.#phase !== 'over' && !this.#isRetired && this.#aborted.size === 0
  }

  /** Number of calls in flight. */
  get load(): number {
    return this.#calls.size
  }

  /**
   * Sends a call to the program; resolves with its answer or with a failed result.
   *
   * @throws {TypeError} when the input cannot be serialized as JSON.
   */
  run(call: ProcessCall): Promise<ToolResult> {
    const { signal, logger } = call.context
    const id = String(this.#callCount + 1)
    const line = encodeCall(id, call.input, call.context)
    this.#logger = logger
    this.#callCount += 1
    if (this.#callCount >= this.#parts.worker.maxCallsPerWorker) this.#isRetired = true
    this.#program.ref()
    if (this.#phase === 'ready') this.#stopTimer?.()
    if (this.#hasAnswered) this.#stderr.clear()
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#abort(id)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#calls.set(id, {
        call,
        line,
        settle(result) {
          signal.removeEventListener('abort', onAbort)
          resolve(result)
        },
      })
      if (this.#phase === 'ready') this.#program.write(line)
    })
  }

  /** Stops taking calls. */
  retire(): void {
    this.#isRetired = true
    if (this.#calls.size === 0) this.#onIdle()
  }

  /** Stops taking calls and ends the program. Resolves when its process tree has ended. Never rejects. */
  async close(): Promise<void> {
    this.#isRetired = true
    this.#program.ref()
    this.#program.finish()
    await this.#program.gone
  }

  #onStarted(): void {
    const { startTimeoutMs } = this.#parts.worker
    if (startTimeoutMs === undefined) {
      this.#onReady()
      return
    }
    if (this.#calls.size === 0) this.#onIdle()
    this.#stopTimer = this.#clock.after(startTimeoutMs, () => {
      this.#program.fail(`Worker was not ready within ${startTimeoutMs} ms`)
    })
  }

  #onReady(): void {
    if (this.#phase !== 'starting') return
    this.#phase = 'ready'
    this.#stopTimer?.()
    for (const { line } of this.#calls.values()) this.#program.write(line)
    if (this.#calls.size === 0) this.#onIdle()
  }

  #onLine(line: string): void {
    const message = decodeWorkerMessage(line, this.#parts.options)
    if (message?.type === 'ready') this.#onReady()
    else if (message !== undefined && this.#calls.has(message.id)) {
      this.#answer(message.id, message.result)
    } else if (line.trim() !== '') {
      this.#log('Worker wrote a line that does not answer a call', { line: line.slice(0, 200) })
    }
  }

  #answer(id: string, result: ToolResult): void {
    this.#hasAnswered = true
    this.#parts.listener.onAnswer()
    this.#settle(id, result)
    const stopWait = this.#aborted.get(id)
    if (stopWait !== undefined) {
      stopWait()
      this.#aborted.delete(id)
      if (this.isOpen) this.#parts.listener.onReopen()
    }
    if (this.#calls.size === 0) this.#onIdle()
  }

  #onLongLine(): void {
    const { maxOutputBytes } = this.#parts.options
    const reason = `Worker wrote a line longer than ${maxOutputBytes} bytes`
    const [id, ...others] = this.#calls.keys()
    if (id === undefined) return
    if (others.length > 0) this.#program.fail(reason)
    else this.#answer(id, ToolResult.failure(reason))
  }

  #abort(id: string): void {
    const pending = this.#calls.get(id)
    if (pending === undefined) return
    if (this.#phase === 'starting') {
      this.#settle(id, this.#interruptedResult(pending))
      if (this.#calls.size === 0) this.#onIdle()
      return
    }
    if (this.#parts.worker.concurrency === 1) {
      const printed = limitText(this.#stderr.text(), PARTIAL_LENGTH)
      reportPartialOutput(pending.call.context.signal, printed)
      this.#aborted.set(id, () => undefined)
      this.#endNow('Worker was ended')
      return
    }
    this.#program.write(encodeCancel(id))
    const stopWait = this.#clock.after(CANCEL_ANSWER_MS, () => {
      this.#endNow('Worker was ended: it did not stop another call, which was aborted')
    })
    this.#aborted.set(id, stopWait)
  }

  #endNow(reason: string): void {
    this.#isRetired = true
    this.#program.end(reason)
  }

  /** Starts the idle time, or ends a retired program. */
  #onIdle(): void {
    const { idleTimeoutMs } = this.#parts.worker
    if (this.#isRetired) this.#program.finish()
    this.#program.unref()
    if (this.#isRetired || this.#phase !== 'ready' || idleTimeoutMs === Infinity) return
    this.#stopTimer = this.#clock.after(idleTimeoutMs, () => {
      this.retire()
    })
  }

  #onOver(reason: string, asked: boolean): void {
    const hadCalls = this.#calls.size > 0
    const why = asked ? reason : this.#addStderr(reason)
    this.#phase = 'over'
    this.#stopTimer?.()
    for (const stopWait of this.#aborted.values()) stopWait()
    for (const [id, pending] of this.#calls) {
      const wasAborted = this.#aborted.has(id)
      this.#settle(id, wasAborted ? this.#interruptedResult(pending) : ToolResult.failure(why))
    }
    if (!asked && (hadCalls || !this.#hasAnswered)) this.#parts.listener.onFailure(why)
    this.#parts.listener.onGone()
  }

  /** Adds the last lines of stderr, unless they may belong to another call. */
  #addStderr(reason: string): string {
    const lines = this.#stderr.text()
    const isOfOneCall = this.#parts.worker.concurrency === 1 || !this.#hasAnswered
    return lines === '' || !isOfOneCall ? reason : `${reason}: ${lines}`
  }

  #settle(id: string, result: ToolResult): void {
    this.#calls.get(id)?.settle(result)
    this.#calls.delete(id)
  }

  #interruptedResult({ call }: PendingCall): ToolResult {
    return interruptedResult(this.#parts.options, call.context.signal)
  }

  #log(message: string, fields: LogFields): void {
    logDebug(this.#logger, message, { command: this.#parts.options.command, ...fields })
  }
}

/** Number of lines to retain; enough for the end of a stack trace. */
const MAX_LINES = 20

/** Retains the last lines of a stream. */
class RecentLines {
  #lines: string[] = []

  add(line: string): void {
    this.#lines.push(line)
    if (this.#lines.length > MAX_LINES) this.#lines.shift()
  }

  clear(): void {
    this.#lines = []
  }

  /** Returns the lines as text; empty when there are none. */
  text(): string {
    return this.#lines.join('\n').trim()
  }
}
