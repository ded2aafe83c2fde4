/**
 * One child process, from its start through execa to the end of its whole process tree.
 *
 * NET-P1 A child process leads its own process group. Ending it ends the group, and descendants that have left the
 *    group where they can be found: SIGTERM, time to clean up, SIGKILL.
 * NET-P2 Waiting for a child process never waits for processes that it leaves behind: after its exit, a pipe that
 *    another process still holds is closed after `DRAIN_MS`, and the rest of its group is ended.
 * NET-P3 Child processes that run when this process exits, or is ended by a signal, are ended with it; after SIGKILL
 *    by a watcher, see `survivor-watch.ts`.
 * NET-P4 A failed start is a value with the reason.
 */
import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { setImmediate } from 'node:timers'

import type { Clock } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { buildEnvironment } from './environment.ts'
import { signalMarked, TREE_VARIABLE } from './process-tree.ts'
import { explainStartFailure } from './start-failure.ts'
import { watchForSurvival } from './survivor-watch.ts'

import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { ResolvedProcessOptions } from './options.ts'

/**
 * Time after the exit for the output to arrive, in milliseconds. The output is in the pipe by then; only another
 * process that holds the pipe can write later.
 */
export const DRAIN_MS = 200

/** Time for a killed process to be gone, in milliseconds; one that takes longer hangs in the kernel. */
const DEATH_MS = 500

/** The end of a process: its exit code, or the signal that ended it. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A started process, or the reason why it did not start. */
export type ProcessStart =
  | { readonly ok: true; readonly process: RunningProcess }
  | { readonly ok: false; readonly message: string }

/** Starts a child process; `variables` are added to its environment. */
export async function startProcess(
  options: ResolvedProcessOptions,
  variables: Readonly<Record<string, string>> = {},
): Promise<ProcessStart> {
  const { execa } = await loadExeca()
  const { command, args, cwd } = options
  const mark = randomUUID()
  const env = { ...createEnvironment(options), ...variables, [TREE_VARIABLE]: mark }
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
      // The signal for children that run when this process exits: there is no time for a second one.
      killSignal: 'SIGKILL',
      forceKillAfterDelay: false,
      cleanup: true,
    })
    if (started.pid !== undefined) {
      const child = started.nodeChildProcess
      const signalGroup = (signal: NodeJS.Signals): void => void started.kill(signal)
      const running = new RunningProcess({ child, signalGroup, mark }, options)
      void running.ended.then(watchForSurvival(started.pid, mark))
      return { ok: true, process: running }
    }
    return toFailedStart(await explainStartFailure(options, await started))
  } catch (error) {
    return toFailedStart(errorMessage(error))
  }
}

function toFailedStart(reason: string): ProcessStart {
  return { ok: false, message: `Failed to start process: ${reason}` }
}

let execaModule: Promise<typeof import('execa')> | undefined

/** Loads execa when the first process starts, so that importing a tool stays cheap. */
function loadExeca(): Promise<typeof import('execa')> {
  execaModule ??= import('execa')
  return execaModule
}

function createEnvironment(options: ResolvedProcessOptions): Record<string, string> {
  // oxlint-disable-next-line node/no-process-env -- the only source of inherited variables
  const variables = process.env
  return buildEnvironment(options, { variables, platform: process.platform })
}

/** Handles of a started process. */
interface StartedProcess {
  readonly child: ChildProcess
  /** Signals its whole group, also when the process itself has exited. */
  readonly signalGroup: (signal: NodeJS.Signals) => void
  /** Mark that its descendants inherit; see `process-tree.ts`. */
  readonly mark: string
}

/** A running child process with its three pipes. */
export class RunningProcess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves with its end when all of its output has arrived. Never rejects. */
  readonly ended: Promise<ProcessExit>
  readonly #started: StartedProcess
  readonly #clock: Clock
  readonly #killGraceMs: number
  readonly #exited: Promise<ProcessExit>
  /** Resolves when it has exited and no process holds its pipes. */
  readonly #closed: Promise<void>
  #ending: Promise<void> | undefined

  constructor(
    started: StartedProcess,
    { clock, killGraceMs }: Pick<ResolvedProcessOptions, 'clock' | 'killGraceMs'>,
  ) {
    const { child } = started
    const { pid, stdin, stdout, stderr } = child
    if (pid === undefined || stdin === null || stdout === null || stderr === null) {
      throw new TypeError('Cannot follow a child process without a process id or a pipe')
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
    this.ended = this.#awaitEnd()
  }

  /**
   * Ends the process and its descendants; resolves when it is gone, and its descendants are gone or were sent SIGKILL.
   * Never rejects.
   */
  end(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  /** Waits up to `delayMs` milliseconds; resolves with whether the process has ended. Never rejects. */
  endedWithin(delayMs: number): Promise<boolean> {
    return this.#settlesWithin(this.ended, delayMs)
  }

  /** Lets this process exit while the child process runs. */
  unref(): void {
    this.#started.child.unref()
    for (const pipe of this.#pipes()) pipe.unref()
  }

  /** Undoes {@link RunningProcess.unref}. */
  ref(): void {
    this.#started.child.ref()
    for (const pipe of this.#pipes()) pipe.ref()
  }

  async #awaitEnd(): Promise<ProcessExit> {
    const exit = await this.#exited
    await this.#settlesWithin(this.#closed, DRAIN_MS)
    if (this.#ending === undefined) this.#release()
    await this.#ending
    return exit
  }

  async #end(): Promise<void> {
    if (this.#killGraceMs > 0) {
      void this.#signalTree('SIGTERM')
      await this.#settlesWithin(this.#closed, this.#killGraceMs)
    }
    await this.#signalTree('SIGKILL')
    await this.#settlesWithin(this.#exited, DEATH_MS)
    await this.#settlesWithin(this.#closed, DRAIN_MS)
    this.#release()
  }

  async #signalTree(signal: NodeJS.Signals): Promise<void> {
    this.#started.signalGroup(signal)
    await signalMarked(this.#started.mark, signal)
  }

  /**
   * Closes the pipes of a process that has exited, and ends the rest of its group. The id of an empty group is free, but
   * another group could have it only if all other ids had been used since.
   */
  #release(): void {
    this.#started.signalGroup('SIGKILL')
    for (const pipe of this.#pipes()) pipe.destroy()
  }

  #pipes(): readonly Socket[] {
    // NOTE: the pipes of a child process are sockets; their declared types say less.
    return [this.stdin, this.stdout, this.stderr] as Socket[]
  }

  /** Resolves with whether `promise` resolves within `delayMs` and one more turn of the event loop. */
  #settlesWithin(promise: Promise<unknown>, delayMs: number): Promise<boolean> {
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
