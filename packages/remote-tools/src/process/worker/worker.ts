/**
 * One program that answers many calls.
 *
 * W1 A call is answered by the line with its id, whatever else the program writes and in whatever order.
 * W2 The end of the program fails the calls it has not answered, and no others.
 * W3 A call that is aborted ends the program, since nobody knows what state it is in. One that works on
 *    several calls is told first, and goes on when it answers within `CANCEL_ANSWER_MS`.
 * W4 A program without work does not keep this process alive, and is ended after its idle time.
 * W5 A retired program takes no more calls, and ends when it has answered those it has.
 */
import { silentLogger, ToolResult, type Clock, type LogFields, type Logger } from '@tutti/core'
import { quietClock } from '@tutti/net'

import { logDebug } from '../log-debug.ts'
import { interrupted, type ProcessCall } from '../run-once.ts'
import { decodeWorkerMessage, encodeCall, encodeCancel } from './messages.ts'
import { WorkerProgram, type StartWorkerProgram } from './worker-program.ts'

import type { ResolvedProgramOptions } from '../options.ts'
import type { ResolvedWorkerOptions } from './options.ts'

/** How long a worker of several calls may take to say that it has stopped one of them. */
export const CANCEL_ANSWER_MS = 500

/** Told what becomes of a worker. */
export interface WorkerListener {
  onAnswer(): void
  /** It ended, or had to be ended, when it should not have. */
  onFailure(reason: string): void
  /** It takes calls again: it has stopped those that were aborted. */
  onReopen(): void
  /** Nothing of it is left. */
  onGone(): void
}

/** What a worker is made of. */
export interface WorkerParts {
  readonly options: ResolvedProgramOptions
  readonly worker: ResolvedWorkerOptions
  readonly start: StartWorkerProgram
  readonly listener: WorkerListener
}

interface PendingCall {
  readonly call: ProcessCall
  /** Its message to the program. */
  readonly line: string
  settle(result: ToolResult): void
}

/** A program of a pool. It is started when it is made. */
export class Worker {
  readonly #parts: WorkerParts
  readonly #clock: Clock
  readonly #program: WorkerProgram
  readonly #calls = new Map<string, PendingCall>()
  /** Calls in flight that were aborted, each with what stops the wait for its answer. */
  readonly #aborted = new Map<string, () => void>()
  readonly #lastWords = new RecentLines()
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
        this.#lastWords.add(line)
        this.#log('Worker wrote to stderr', { line })
      },
      onOver: (reason, { asked }) => {
        this.#onOver(reason, asked)
      },
    })
  }

  /** Whether it takes calls. */
  get isOpen(): boolean {
    return this.#phase !== 'over' && !this.#isRetired && this.#aborted.size === 0
  }

  /** Calls it works on. */
  get load(): number {
    return this.#calls.size
  }

  /**
   * Gives the program a call; resolves with its answer, or with why there is none.
   *
   * @throws {TypeError} when the input cannot be written as JSON.
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
    if (this.#hasAnswered) this.#lastWords.clear()
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

  /** Takes no more calls. */
  retire(): void {
    this.#isRetired = true
    if (this.#calls.size === 0) this.#rest()
  }

  /** Takes no more calls, and ends; resolves when nothing of it is left. Never rejects. */
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
    if (this.#calls.size === 0) this.#rest()
    this.#stopTimer = this.#clock.after(startTimeoutMs, () => {
      this.#program.fail(`Worker was not ready within ${startTimeoutMs} ms`)
    })
  }

  #onReady(): void {
    if (this.#phase !== 'starting') return
    this.#phase = 'ready'
    this.#stopTimer?.()
    for (const { line } of this.#calls.values()) this.#program.write(line)
    if (this.#calls.size === 0) this.#rest()
  }

  #onLine(line: string): void {
    const message = decodeWorkerMessage(line, this.#parts.options)
    if (message?.type === 'ready') this.#onReady()
    else if (message !== undefined && this.#calls.has(message.id)) {
      this.#answer(message.id, message.result)
    } else if (line.trim() !== '') {
      this.#log('Worker wrote a line that answers no call', { line: line.slice(0, 200) })
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
    if (this.#calls.size === 0) this.#rest()
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
      this.#settle(id, this.#interrupted(pending))
      if (this.#calls.size === 0) this.#rest()
      return
    }
    if (this.#parts.worker.concurrency === 1) {
      this.#aborted.set(id, () => undefined)
      this.#endUnfinished('Worker was ended')
      return
    }
    this.#program.write(encodeCancel(id))
    const stopWait = this.#clock.after(CANCEL_ANSWER_MS, () => {
      this.#endUnfinished('Worker was ended: it did not stop another call that was aborted')
    })
    this.#aborted.set(id, stopWait)
  }

  #endUnfinished(reason: string): void {
    this.#isRetired = true
    this.#program.end(reason)
  }

  /** There is no work. */
  #rest(): void {
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
    const why = asked ? reason : this.#withLastWords(reason)
    this.#phase = 'over'
    this.#stopTimer?.()
    for (const stopWait of this.#aborted.values()) stopWait()
    for (const [id, pending] of this.#calls) {
      const wasAborted = this.#aborted.has(id)
      this.#settle(id, wasAborted ? this.#interrupted(pending) : ToolResult.failure(why))
    }
    if (!asked && (hadCalls || !this.#hasAnswered)) this.#parts.listener.onFailure(why)
    this.#parts.listener.onGone()
  }

  /** A call never reads what was said of another one. */
  #withLastWords(reason: string): string {
    const said = this.#lastWords.text()
    const isOfOneCall = this.#parts.worker.concurrency === 1 || !this.#hasAnswered
    return said === '' || !isOfOneCall ? reason : `${reason}: ${said}`
  }

  #settle(id: string, result: ToolResult): void {
    this.#calls.get(id)?.settle(result)
    this.#calls.delete(id)
  }

  #interrupted({ call }: PendingCall): ToolResult {
    return interrupted(this.#parts.options, call.context.signal)
  }

  #log(message: string, fields: LogFields): void {
    logDebug(this.#logger, message, { command: this.#parts.options.command, ...fields })
  }
}

/** The number of lines to keep: the end of a stack trace. */
const MAX_LINES = 20

/** The last lines of a stream. */
class RecentLines {
  #lines: string[] = []

  add(line: string): void {
    this.#lines.push(line)
    if (this.#lines.length > MAX_LINES) this.#lines.shift()
  }

  clear(): void {
    this.#lines = []
  }

  /** The lines; empty when there are none. */
  text(): string {
    return this.#lines.join('\n').trim()
  }
}
