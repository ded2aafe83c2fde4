/** An ensemble whose runs a test controls, instead of the engine. */
import { ensemble, task } from '@tutti/ensemble'

import type { Ensemble, RunHandle, RunOptions, RunResult } from '@tutti/ensemble'
import type { OpenReview, RunSnapshot } from '@tutti/ensemble/internal'
import type { RunCommand, RunEvent } from '@tutti/protocol'
import { TuttiError } from '@tutti/core'

import { resultEvent } from './fake-log.ts'

/** Starts runs that a test controls. */
export class FakeEngine {
  readonly name: string
  /** The runs that were started, in order. */
  readonly runs: FakeEngineRun[] = []
  /** Error to throw instead of starting a run. */
  refusal: Error | undefined
  /** Called with each started run. */
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
    const tasks = [task({ name: 'play', description: 'Play', handler: () => '' })]
    return { ...ensemble({ name: this.name, tasks }), start }
  }

  /** The run that was started last. */
  get run(): FakeEngineRun {
    const run = this.runs.at(-1)
    if (run === undefined) throw new Error('No run was started')
    return run
  }
}

/** A run that a test controls. */
export class FakeEngineRun {
  readonly inputs: Readonly<Record<string, string>>
  readonly options: RunOptions
  readonly handle: RunHandle
  status: RunSnapshot['status'] = 'RUNNING'
  /** Remaining time of each open review, in milliseconds. */
  reviewsMs: readonly number[] = []
  /** The commands that it was sent, in order. */
  readonly commands: RunCommand[] = []
  /** Returns the reply to a command. */
  onCommand: (() => unknown) | undefined
  /** Whether a call is in flight, which prevents draining. */
  isBusy = false
  readonly #ended = Promise.withResolvers<RunResult>()
  readonly #still = Promise.withResolvers<void>()

  constructor(inputs: Readonly<Record<string, string>>, options: RunOptions) {
    this.inputs = inputs
    this.options = options
    this.handle = this.#makeHandle()
    options.signal?.addEventListener('abort', () => {
      // Like the engine, whose commits are rejected when a run ends cancelled.
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

  /** Enters a state in which it only waits for reviews, with these remaining times. */
  wait(...reviewsMs: readonly number[]): void {
    this.status = 'WAITING_REVIEW'
    this.reviewsMs = reviewsMs
    this.options.onWaitingChange?.(true)
    this.options.onWaiting?.()
  }

  /** Waits in a tool whose call must not be repeated. */
  waitInTool(): void {
    this.status = 'WAITING_REVIEW'
    this.options.onWaitingChange?.(true)
  }

  /** Continues after a decision. */
  work(): void {
    this.status = 'RUNNING'
    this.reviewsMs = []
    this.options.onWaitingChange?.(false)
  }

  /** Ends the call in flight. */
  rest(): void {
    this.isBusy = false
    this.#still.resolve()
  }

  complete(): void {
    this.status = 'COMPLETED'
    this.emit(resultEvent(this.options.runId ?? ''))
    this.rest()
    // NOTE: the subject only awaits the result and does not read it.
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
        // NOTE: the subject only reads the time of a review.
        reviews: this.reviewsMs.map(
          (timeoutMs) => ({ timeoutMs }) as Partial<OpenReview> as OpenReview,
        ),
      }),
    }
    // NOTE: all members exist and accept the engine's arguments; a test sets their results.
    return handle as unknown as RunHandle
  }
}

function isEnded(status: RunSnapshot['status']): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'
}
