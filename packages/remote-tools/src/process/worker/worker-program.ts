/**
 * The program of a worker, as lines that come and go, until it is over.
 *
 * Its end is told once, with the reason: how it exited, or why it was ended. Whether that was asked for
 * is told too: what a program does of itself is a failure, and so is what makes it useless.
 */
import { CANCEL_GRACE_MS } from '@tutti/core'

import { DRAIN_MS, type ProcessExit, type ProcessStart, type RunningProcess } from '@tutti/net'
import { LineReader } from './line-reader.ts'

/** Told what the program does. */
export interface ProgramListener {
  onStarted(): void
  onLine(line: string): void
  /** A line was longer than the bound; it is lost. */
  onLongLine(): void
  onStderr(line: string): void
  /** Nothing of it is left. */
  onOver(reason: string, how: { readonly asked: boolean }): void
}

/** Bytes kept of a line of stderr: enough to read in a log. */
const MAX_STDERR_LINE_BYTES = 8_192

/** Starts the program; the signal aborts when it is not wanted any more. */
export type StartWorkerProgram = (signal: AbortSignal) => Promise<ProcessStart>

interface Ending {
  /** Undefined is how it exits. */
  readonly reason: string | undefined
  readonly asked: boolean
}

/** A program that is being started, runs or is over. */
export class WorkerProgram {
  /** Resolves when nothing of it is left. Never rejects. */
  readonly gone: Promise<void>
  readonly #listener: ProgramListener
  readonly #unwanted = new AbortController()
  readonly #resolveGone: () => void
  #program: RunningProcess | undefined
  #isOver = false
  /** Why the program is being ended, once it is. */
  #ending: Ending | undefined

  constructor(start: StartWorkerProgram, maxLineBytes: number, listener: ProgramListener) {
    this.#listener = listener
    const gone = Promise.withResolvers<void>()
    this.gone = gone.promise
    this.#resolveGone = gone.resolve
    void this.#run(start, maxLineBytes)
  }

  write(line: string): void {
    this.#program?.stdin.write(line)
  }

  /** Ends it and all it has started, because that is asked for; `reason` says why. */
  end(reason: string): void {
    this.#kill({ reason, asked: true })
  }

  /** The same, because the program is of no use any more. */
  fail(reason: string): void {
    this.#kill({ reason, asked: false })
  }

  /** Closes its stdin, and ends it when it does not exit within core's `CANCEL_GRACE_MS`. */
  finish(): void {
    void this.#finish()
  }

  /** Lets this process exit while the program runs; nothing before it is started. */
  unref(): void {
    this.#program?.unref()
  }

  /** Undoes {@link WorkerProgram.unref}. */
  ref(): void {
    this.#program?.ref()
  }

  async #run(start: StartWorkerProgram, maxLineBytes: number): Promise<void> {
    const started = await start(this.#unwanted.signal)
    if (!started.ok) {
      this.#over(started.message)
      return
    }
    const { process: program } = started
    this.#program = program
    const stdout = new LineReader(maxLineBytes, (line, { cut }) => {
      if (cut) this.#listener.onLongLine()
      else this.#listener.onLine(line)
    })
    readInto(stdout, program.stdout)
    const stderr = new LineReader(MAX_STDERR_LINE_BYTES, (line) => {
      this.#listener.onStderr(line)
    })
    readInto(stderr, program.stderr)
    program.stdin.on('error', () => void this.#lose('stdin'))
    program.stdout.on('end', () => void this.#lose('stdout'))
    if (this.#ending === undefined) this.#listener.onStarted()
    else this.#kill(this.#ending)
    const exit = await program.ended
    stdout.end()
    stderr.end()
    this.#over(exitReason(exit))
  }

  #kill(ending: Ending): void {
    this.#ending ??= ending
    this.#unwanted.abort()
    const program = this.#program
    if (program === undefined) return
    // A program that nothing can end is let go.
    void program.end().then(() => {
      this.#over('Worker was ended')
    })
  }

  async #finish(): Promise<void> {
    this.#unwanted.abort()
    const program = this.#program
    if (program === undefined) {
      this.#ending ??= { reason: 'Worker was ended before it was started', asked: true }
      return
    }
    this.#ending ??= { reason: undefined, asked: true }
    program.stdin.end()
    if (!(await program.endedWithin(CANCEL_GRACE_MS))) this.#kill(this.#ending)
  }

  /** A program that has closed a pipe and does not exit can do no more work. */
  async #lose(pipe: 'stdin' | 'stdout'): Promise<void> {
    const hasEnded = await this.#program?.endedWithin(DRAIN_MS)
    if (hasEnded === false && this.#ending === undefined) this.fail(`Worker closed its ${pipe}`)
  }

  #over(reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    const { asked = false } = this.#ending ?? {}
    this.#listener.onOver(this.#ending?.reason ?? reason, { asked })
    this.#resolveGone()
  }
}

function readInto(reader: LineReader, pipe: RunningProcess['stdout']): void {
  pipe.on('data', (chunk: Uint8Array) => {
    reader.add(chunk)
  })
}

function exitReason({ code, signal }: ProcessExit): string {
  return signal === null ? `Worker exited with code ${code}` : `Worker was killed by ${signal}`
}
