/**
 * The program of a worker: writes and reads its lines, and reports its end.
 *
 * The end is reported once, with the reason: its exit, or why it was ended. `asked` is false for failures: the program
 * ended by itself, or was ended because it was unusable.
 */
import { CANCEL_GRACE_MS } from '@tutti/core/internal'

import {
  DRAIN_MS,
  type ProcessExit,
  type ProcessStart,
  type RunningProcess,
} from '@tutti/net/internal'
import { LineReader } from './line-reader.ts'

/** Callbacks for the output and the end of the program. */
export interface ProgramListener {
  onStarted(): void
  onLine(line: string): void
  /** Called when a line exceeded the limit and was dropped. */
  onLongLine(): void
  onStderr(line: string): void
  /** Called once, when the process tree has ended. */
  onOver(reason: string, how: { readonly asked: boolean }): void
}

/** Maximum number of bytes of a line of stderr that a log shows. */
const MAX_STDERR_LINE_BYTES = 8_192

/** Starts the program. The signal aborts when the program is no longer needed. */
export type StartWorkerProgram = (signal: AbortSignal) => Promise<ProcessStart>

interface Ending {
  /** Reason to report; undefined for the exit code or signal. */
  readonly reason: string | undefined
  readonly asked: boolean
}

/** A program, from its start to its end. */
export class WorkerProgram {
  /** Resolves when the process tree has ended. Never rejects. */
  readonly gone: Promise<void>
  readonly #listener: ProgramListener
  readonly #unwanted = new AbortController()
  readonly #resolveGone: () => void
  #program: RunningProcess | undefined
  #isOver = false
  /** The requested end; undefined while the program should run. */
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

  /** Ends the process tree on request, with the reason. */
  end(reason: string): void {
    this.#kill({ reason, asked: true })
  }

  /** Ends the process tree because of a failure, with the reason. */
  fail(reason: string): void {
    this.#kill({ reason, asked: false })
  }

  /** Closes stdin, and ends the program if it does not exit within core's `CANCEL_GRACE_MS`. */
  finish(): void {
    void this.#finish()
  }

  /** Lets this process exit while the program runs. Has no effect before the start. */
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
    program.stdin.on('error', () => void this.#onPipeClosed('stdin'))
    program.stdout.on('end', () => void this.#onPipeClosed('stdout'))
    if (this.#ending === undefined) this.#listener.onStarted()
    else this.#kill(this.#ending)
    const exit = await program.ended
    stdout.end()
    stderr.end()
    this.#over(explainExit(exit))
  }

  #kill(ending: Ending): void {
    this.#ending ??= ending
    this.#unwanted.abort()
    const program = this.#program
    if (program === undefined) return
    // A program that cannot be killed is abandoned.
    void program.end().then(() => {
      this.#over('Worker was ended')
    })
  }

  async #finish(): Promise<void> {
    this.#unwanted.abort()
    const program = this.#program
    if (program === undefined) {
      this.#ending ??= { reason: 'Worker was ended before it started', asked: true }
      return
    }
    this.#ending ??= { reason: undefined, asked: true }
    program.stdin.end()
    if (!(await program.endedWithin(CANCEL_GRACE_MS))) this.#kill(this.#ending)
  }

  /** Fails a program that has closed a pipe but does not exit, since it can answer no more calls. */
  async #onPipeClosed(pipe: 'stdin' | 'stdout'): Promise<void> {
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

function explainExit({ code, signal }: ProcessExit): string {
  return signal === null ? `Worker exited with code ${code}` : `Worker was killed by ${signal}`
}
