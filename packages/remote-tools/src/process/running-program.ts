/**
 * One started program, from its start, through execa, to the end of everything it has started itself.
 *
 * P1 A program leads a process group of its own. To end it is to end the group, and what has left the
 *    group as far as it can be found: SIGTERM, time to clean up, SIGKILL.
 * P2 Whoever waits for a program never waits for what it has left behind: after its exit, a pipe that
 *    something else still holds is closed after `DRAIN_MS`, and the rest of its group is ended.
 * P3 What runs when this process exits or is ended by a signal is ended with it.
 * P4 A program that cannot be started is a value that says why.
 */
import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { setImmediate } from 'node:timers'

import { errorMessage, type Clock } from '@tutti/core'

import { environmentOf } from './environment.ts'
import { signalMarked, TREE_VARIABLE } from './process-tree.ts'
import { startFailure } from './start-failure.ts'

import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { ResolvedProgramOptions } from './options.ts'

/**
 * How long what a program wrote may take to arrive after its exit. It is in the pipe by then, so that
 * only what another process writes can come later.
 */
export const DRAIN_MS = 200

/** How long a killed program may take to be gone; one that takes longer hangs in the system itself. */
const DEATH_MS = 500

/** How a program ended: with a code, or by a signal. */
export interface ProgramExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A started program, or why there is none. */
export type ProgramStart =
  | { readonly ok: true; readonly program: RunningProgram }
  | { readonly ok: false; readonly message: string }

/** Starts a program; `variables` are added to its environment. */
export async function startProgram(
  options: ResolvedProgramOptions,
  variables: Readonly<Record<string, string>> = {},
): Promise<ProgramStart> {
  const { execa } = await loadExeca()
  const { command, args, cwd } = options
  const mark = randomUUID()
  const env = { ...ownEnvironment(options), ...variables, [TREE_VARIABLE]: mark }
  try {
    const started = execa(command, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env,
      extendEnv: false,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      buffer: false,
      reject: false,
      killDescendants: true,
      // The signal that ends what runs when this process exits: there is no second chance then.
      killSignal: 'SIGKILL',
      forceKillAfterDelay: false,
      cleanup: true,
    })
    if (started.pid !== undefined) {
      const child = started.nodeChildProcess
      const signalGroup = (signal: NodeJS.Signals): void => void started.kill(signal)
      return { ok: true, program: new RunningProgram({ child, signalGroup, mark }, options) }
    }
    return failed(await startFailure(options, await started))
  } catch (error) {
    return failed(errorMessage(error))
  }
}

function failed(reason: string): ProgramStart {
  return { ok: false, message: `Failed to start process: ${reason}` }
}

let execaModule: Promise<typeof import('execa')> | undefined

/** Loaded late, since to import a tool should cost little, and asked for once. */
function loadExeca(): Promise<typeof import('execa')> {
  execaModule ??= import('execa')
  return execaModule
}

function ownEnvironment(options: ResolvedProgramOptions): Record<string, string> {
  // oxlint-disable-next-line node/no-process-env -- what programs inherit is in no other place
  const variables = process.env
  return environmentOf(options, { variables, platform: process.platform })
}

/** What there is of a program that was started. */
interface StartedProgram {
  readonly child: ChildProcess
  /** Signals its whole group, also when the program itself has exited. */
  readonly signalGroup: (signal: NodeJS.Signals) => void
  /** What the processes that it starts carry; see `process-tree.ts`. */
  readonly mark: string
}

/** A program that runs, with its three pipes. */
export class RunningProgram {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** How it ended, once all that it wrote has been read. Never rejects. */
  readonly ended: Promise<ProgramExit>
  readonly #started: StartedProgram
  readonly #clock: Clock
  readonly #killGraceMs: number
  readonly #exited: Promise<ProgramExit>
  /** It has exited, and nobody holds its pipes. */
  readonly #closed: Promise<void>
  #ending: Promise<void> | undefined

  constructor(
    started: StartedProgram,
    { clock, killGraceMs }: Pick<ResolvedProgramOptions, 'clock' | 'killGraceMs'>,
  ) {
    const { child } = started
    const { pid, stdin, stdout, stderr } = child
    if (pid === undefined || stdin === null || stdout === null || stderr === null) {
      throw new TypeError('Cannot follow a program that has no process id or lacks a pipe')
    }
    this.pid = pid
    this.stdin = stdin
    this.stdout = stdout
    this.stderr = stderr
    this.#started = started
    this.#clock = clock
    this.#killGraceMs = killGraceMs
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve({ code, signal })
      })
    })
    this.#closed = new Promise((resolve) => {
      child.once('close', () => {
        resolve()
      })
    })
    this.ended = this.#endOfItself()
  }

  /**
   * Ends the program and all it has started; resolves when it is gone, and the rest gone or sent
   * SIGKILL. Never rejects.
   */
  end(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  /** Waits for the end of the program, at most `delayMs`; whether it came. Never rejects. */
  endedWithin(delayMs: number): Promise<boolean> {
    return this.#within(this.ended, delayMs)
  }

  /** Lets this process exit while the program runs. */
  unref(): void {
    this.#started.child.unref()
    for (const pipe of this.#pipes()) pipe.unref()
  }

  /** Undoes {@link RunningProgram.unref}. */
  ref(): void {
    this.#started.child.ref()
    for (const pipe of this.#pipes()) pipe.ref()
  }

  async #endOfItself(): Promise<ProgramExit> {
    const exit = await this.#exited
    await this.#within(this.#closed, DRAIN_MS)
    if (this.#ending === undefined) this.#leave()
    await this.#ending
    return exit
  }

  async #end(): Promise<void> {
    if (this.#killGraceMs > 0) {
      void this.#signalTree('SIGTERM')
      await this.#within(this.#closed, this.#killGraceMs)
    }
    await this.#signalTree('SIGKILL')
    await this.#within(this.#exited, DEATH_MS)
    await this.#within(this.#closed, DRAIN_MS)
    this.#leave()
  }

  async #signalTree(signal: NodeJS.Signals): Promise<void> {
    this.#started.signalGroup(signal)
    await signalMarked(this.#started.mark, signal)
  }

  /**
   * Lets go of a program that has exited, and ends what it has left in its group. The number of a group
   * that is empty is free; for another group to have it by now, all numbers would have been in use.
   */
  #leave(): void {
    this.#started.signalGroup('SIGKILL')
    for (const pipe of this.#pipes()) pipe.destroy()
  }

  #pipes(): readonly Socket[] {
    // NOTE: the pipes of a child process are sockets; their declared types say less.
    return [this.stdin, this.stdout, this.stderr] as Socket[]
  }

  /** Whether `promise` resolves before `delayMs` and one more look at what has arrived are over. */
  #within(promise: Promise<unknown>, delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const stopTimer = this.#clock.after(delayMs, () => {
        setImmediate(resolve, false)
      })
      void promise.then(() => {
        stopTimer()
        resolve(true)
      })
    })
  }
}
