/** An ensemble whose runs do what a test says, in place of the engine. */
import type {
  Ensemble,
  OpenReview,
  RunHandle,
  RunOptions,
  RunResult,
  RunSnapshot,
} from '@tutti/ensemble'
import type { RunCommand, RunEvent } from '@tutti/protocol'
import { TuttiError } from '@tutti/core'

import { resultOf } from './fake-log.ts'

/** Starts runs that a test moves on. */
export class FakeEngine {
  readonly name: string
  /** The runs that were started, in order. */
  readonly runs: FakeEngineRun[] = []
  /** Thrown in place of starting a run. */
  refusal: Error | undefined
  /** Told of each run that was started. */
  onStart: ((run: FakeEngineRun) => void) | undefined

  constructor(name = 'band') {
    this.name = name
  }

  get ensemble(): Ensemble {
    const start: Ensemble['start'] = (inputs = {}, options = {}) => {
      if (this.refusal !== undefined) throw this.refusal
      const run = new FakeEngineRun(inputs, options)
      this.runs.push(run)
      this.onStart?.(run)
      return run.handle
    }
    // NOTE: runs are only started; nothing else of it is looked at.
    return { name: this.name, start } as Partial<Ensemble> as Ensemble
  }

  /** The run that was started last. */
  get run(): FakeEngineRun {
    const run = this.runs.at(-1)
    if (run === undefined) throw new Error('No run was started')
    return run
  }
}

/** A run in the hand of a test. */
export class FakeEngineRun {
  readonly inputs: Readonly<Record<string, string>>
  readonly options: RunOptions
  readonly handle: RunHandle
  status: RunSnapshot['status'] = 'RUNNING'
  /** Time that is left to each open gate, in milliseconds. */
  gatesMs: readonly number[] = []
  /** The commands that it was sent, in order. */
  readonly commands: RunCommand[] = []
  /** Returns the reply to a command. */
  onCommand: (() => unknown) | undefined
  /** Whether something is in flight, so that it does not stand still. */
  isBusy = false
  readonly #ended = Promise.withResolvers<RunResult>()
  readonly #still = Promise.withResolvers<void>()

  constructor(inputs: Readonly<Record<string, string>>, options: RunOptions) {
    this.inputs = inputs
    this.options = options
    this.handle = this.#makeHandle()
    options.signal?.addEventListener('abort', () => {
      // As the engine, whose journal rejects what it commits when it ends cancelled.
      this.#ended.reject(options.signal?.reason)
      this.#still.resolve()
    })
  }

  get isStopped(): boolean {
    return this.options.signal?.aborted === true
  }

  emit(event: RunEvent): void {
    this.options.journal?.emit(event)
  }

  /** Comes to do nothing but wait, at gates with so much time left. */
  wait(...gatesMs: readonly number[]): void {
    this.status = 'WAITING_REVIEW'
    this.gatesMs = gatesMs
    this.options.onWaitingChange?.(true)
    this.options.onWaiting?.()
  }

  /** Comes to wait in a tool whose call must not be repeated. */
  waitInTool(): void {
    this.status = 'WAITING_REVIEW'
    this.options.onWaitingChange?.(true)
  }

  /** A decision has come, and the run works on. */
  work(): void {
    this.status = 'RUNNING'
    this.gatesMs = []
    this.options.onWaitingChange?.(false)
  }

  /** What was in flight is over. */
  rest(): void {
    this.isBusy = false
    this.#still.resolve()
  }

  complete(): void {
    this.status = 'COMPLETED'
    this.emit(resultOf(this.options.runId ?? ''))
    this.rest()
    // NOTE: nobody looks at the result of a run, only whether there is one.
    this.#ended.resolve({} as Partial<RunResult> as RunResult)
  }

  fail(error: unknown): void {
    this.#ended.reject(error)
  }

  #makeHandle(): RunHandle {
    const handle: Partial<Record<keyof RunHandle, unknown>> = {
      runId: this.options.runId,
      result: this.#ended.promise,
      send: async (command: RunCommand) => {
        this.commands.push(command)
        if (isEnded(this.status)) throw new TuttiError('RUN_COMPLETED', 'The run has ended')
        return this.onCommand === undefined ? {} : this.onCommand()
      },
      drain: async () => {
        if (this.isBusy) await this.#still.promise
      },
      snapshot: () => ({
        status: this.status,
        // NOTE: of a gate only its time is looked at.
        reviews: this.gatesMs.map(
          (timeoutMs) => ({ timeoutMs }) as Partial<OpenReview> as OpenReview,
        ),
      }),
    }
    // NOTE: each member is there and takes what the engine's takes; a test says what it gives.
    return handle as unknown as RunHandle
  }
}

function isEnded(status: RunSnapshot['status']): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'
}
