/**
 * The common part of all operations of a handler: numbers, records and ends.
 *
 *   asked ─▶ number ─▶ recorded? ─▶ result, in the order of the recorded ends
 *                         └──────▶ performed ─▶ recorded ─▶ result
 *
 * ENS-P1 When a handler runs again after an interruption, each operation whose end is recorded returns its result and is
 *    not performed again. Only a retry of the task performs the operations again.
 * ENS-P2 Operations are compared in the order in which the handler asks for them. If the handler asks for another operation
 *    than the recorded one, or does not ask for it, the run fails with REPLAY_MISMATCH, also if the handler catches the error.
 *    In a fork, tasks that began in the parent keep their texts and inputs.
 * ENS-P3 Recorded results arrive in the order in which they were recorded, so that concurrent code asks for the same
 *    operations again.
 * ENS-P4 A failure is recorded like a result. An interrupted step is repeated with the same idempotency key.
 * ENS-P5 A task that a handler adds is named by its parent and its key, and is a task like any other. Its failure is thrown
 *    to the handler and does not fail the run by itself.
 * ENS-P6 Nothing begins before all tasks of an operation are valid: their keys, inputs, models, reviews and context.
 * ENS-P7 The end of a handler cancels its operations in flight and waits for them. Later ones are refused.
 * ENS-P8 A run whose handlers only wait for answers, and for tasks that only wait, is a run that only waits.
 * ENS-P9 In a replay with live models, a handler that added tasks runs again: its tasks call their models, and the results
 *    of its steps, calls and questions come from the record, in the recorded order.
 */
import { TuttiError } from '@tutti/core'

import {
  describeRecordedOperation,
  RecordedOperations,
  type OperationKind,
  type RecordedOperation,
} from '../scope/recorded-operations.ts'
import { describeOrdinal, replayMismatchError } from '../scope/replay.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { HandlerThreads } from './handler-threads.ts'
import { RecordedOrder } from './recorded-order.ts'

import type { RunTooling } from '../agent/tool-call-options.ts'
import type { WorkerHost } from '../hierarchy/workers.ts'
import type { TaskScope } from '../scope/task-scope.ts'

/** Parts of the run that operations use. */
export interface OperationSettings {
  readonly tooling: RunTooling
  readonly host: WorkerHost
}

/** Settings of one call of a handler. */
export interface FrameSettings extends OperationSettings {
  /** Aborts when the handler must stop. */
  readonly signal: AbortSignal
}

/** An operation that the handler has asked for. */
export interface AskedOperation {
  readonly ordinal: number
  readonly recorded: RecordedOperation | undefined
  /** The same operation of the run that this one replays with live models. */
  readonly replayed: RecordedOperation | undefined
}

/** Progress of an operation in an earlier process. */
type Progress = 'new' | 'begun' | 'ended'

/** Options of {@link OperationFrame.perform}. */
interface PerformOptions {
  /** That of an earlier process; `ended` if it recorded the result. */
  readonly progress: Progress
  /** Position of its end in the run that this one replays with live models. */
  readonly replayedAt?: number | undefined
  /** Whether it is a task. @default false */
  readonly isTask?: boolean
}

/** The operations of one attempt at a task with a handler. */
export class OperationFrame {
  readonly scope: TaskScope
  readonly settings: FrameSettings
  /** Aborts when operations must stop: with the task, or at the end of the handler. */
  readonly signal: AbortSignal
  readonly #recorded: RecordedOperations | undefined
  readonly #order: RecordedOrder
  readonly #threads: HandlerThreads
  readonly #controller = new AbortController()
  /** Operations that have not ended. */
  readonly #open = new Set<Promise<unknown>>()
  #count = 0
  #isClosed = false
  /** Step whose code is called; undefined outside of steps. */
  #step: string | undefined
  /** Error with which the task ends, also if the handler catches it. */
  #fatal: TuttiError | undefined

  constructor(scope: TaskScope, settings: FrameSettings) {
    this.scope = scope
    this.settings = settings
    const { log, identity, run } = scope
    this.#recorded = log.isKnown ? new RecordedOperations(log, identity) : undefined
    // The order of a replay with live models is that of the replayed run.
    this.#order = new RecordedOrder(
      run.log.replay === 'models' ? 0 : (this.#recorded?.endedCount ?? 0),
    )
    this.#threads = new HandlerThreads(run.inFlight)
    this.signal = AbortSignal.any([settings.signal, this.#controller.signal])
  }

  /** Returns a promise of the ends of all operations in flight; undefined if there are none. */
  settled(): Promise<unknown> | undefined {
    return this.#open.size === 0 ? undefined : Promise.allSettled(this.#open)
  }

  /** Cancels the operations in flight and waits for them, because the handler has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#open.size > 0) {
      const { taskName } = this.scope.identity
      this.#controller.abort(
        new TuttiError('CANCELLED', `The handler of task "${taskName}" has ended`),
      )
      await this.settled()
    }
    this.#threads.release()
  }

  /**
   * Checks that the handler may end: that it has asked for all recorded operations, and no error ends its task.
   *
   * @throws {TuttiError} that error, or REPLAY_MISMATCH.
   */
  assertDone(): void {
    if (this.#fatal !== undefined) throw this.#fatal
    this.#recorded?.assertAsked(this.#count)
  }

  /** Checks that no error ends the task. @throws {TuttiError} that error. */
  assertNotEnded(): void {
    if (this.#fatal !== undefined) throw this.#fatal
  }

  /** Returns the error. One that ends the whole run also ends the task, even if the handler catches it. */
  end(error: TuttiError): TuttiError {
    if (error.code === 'REPLAY_MISMATCH' || error.code === 'EXIT_EARLY') this.#fatal ??= error
    return error
  }

  /** Operations that an earlier process recorded in the attempt; undefined if there are none. */
  get recorded(): RecordedOperations | undefined {
    return this.#recorded
  }

  /**
   * Checks that the code may ask for an operation.
   * @throws {TuttiError} TASK_FAILED after the handler; CONFIG_INVALID in a step
   */
  assertOpen(): void {
    if (this.#isClosed) {
      const { taskName } = this.scope.identity
      throw new TuttiError('TASK_FAILED', `The handler of task "${taskName}" has ended`)
    }
    if (this.#step !== undefined) {
      throw new TuttiError(
        'CONFIG_INVALID',
        `${this.#step} cannot use operations of its handler, because its code does not run again: use them after the step`,
      )
    }
  }

  /** Gives the next operation its number. */
  take(): AskedOperation {
    this.assertOpen()
    const ordinal = this.#count
    this.#count += 1
    const { run, identity } = this.scope
    const { replay, record } = run.log
    return {
      ordinal,
      recorded: this.#recorded?.take(ordinal),
      replayed: replay === 'models' ? record.findOperation(identity, ordinal) : undefined,
    }
  }

  /** Checks that the code asks for the recorded operation. @throws {TuttiError} REPLAY_MISMATCH */
  assertSame(
    { ordinal, recorded }: AskedOperation,
    kind: OperationKind,
    {
      asked,
      isSame,
    }: { readonly asked: string; readonly isSame: (recorded: RecordedOperation) => boolean },
  ): void {
    if (recorded === undefined || (recorded.kind === kind && isSame(recorded))) return
    throw this.end(
      replayMismatchError({
        taskName: this.scope.identity.taskName,
        step: describeOrdinal(ordinal),
        recorded: describeRecordedOperation(recorded),
        asked,
      }),
    )
  }

  /** Waits until it is the turn of a recorded result of this run. */
  turn(recorded: RecordedOperation | undefined): Promise<void> | undefined {
    return recorded?.endedAt === undefined ? undefined : this.#order.turn(recorded.endedAt)
  }

  /**
   * Waits until it is the turn of a result that must come from a record. An operation that has no result in the record of a
   * replay was in flight when its handler ended, so it waits for that.
   *
   * @throws {TuttiError} the reason why the handler has stopped.
   */
  async turnOfResult(what: string, { recorded, replayed }: AskedOperation): Promise<void> {
    if (this.scope.run.log.replay !== 'models') return this.turn(recorded)
    if (replayed?.endedAt !== undefined) return this.#order.turn(replayed.endedAt)
    await this.#order.turnAfterAll()
    if (this.signal.aborted) throw stoppedError(this.signal, what)
  }

  /**
   * Performs an operation as a thread of the run.
   */
  async perform<T>(
    what: string,
    { progress, replayedAt, isTask = false }: PerformOptions,
    work: () => Promise<T>,
  ): Promise<T> {
    if (replayedAt !== undefined) this.#order.repeat(replayedAt)
    const turn = progress === 'ended' ? undefined : this.#order.turnOfNew()
    if (turn !== undefined) await turn
    if (progress === 'new' && this.signal.aborted) throw stoppedError(this.signal, what)
    this.#threads.begin()
    // The run counts tasks.
    const taking = isTask ? undefined : this.scope.slot.beginPart()
    try {
      if (taking !== undefined) await this.scope.run.inFlight.pauseUntil(taking)
      return await work()
    } catch (error) {
      throw TuttiError.isInstance(error) ? this.end(error) : error
    } finally {
      if (!isTask) this.scope.slot.endPart()
      if (replayedAt !== undefined) await this.#order.turn(replayedAt)
      this.#threads.end()
    }
  }

  /** Calls code of a step, which cannot ask for operations. */
  outside<T>(step: string, work: () => T): T {
    this.#step = step
    try {
      return work()
    } finally {
      this.#step = undefined
    }
  }

  /** Returns the idempotency key of an operation, or of a compensation. */
  toKey(ordinal: number, kind: 'handler' | 'compensation' = 'handler'): string {
    const { run, identity } = this.scope
    return `${run.runId}/${identity.taskName}/${identity.attempt}/${kind}/${ordinal}`
  }

  /** Runs an operation. Its error is the handler's to catch, even if the handler does not wait for it. */
  track<T>(operation: () => Promise<T>): Promise<T> {
    const running = operation()
    this.#open.add(running)
    const end = (): void => {
      this.#open.delete(running)
    }
    running.then(end, end)
    return running
  }
}
