/**
 * Compensations of a handler: work that undoes what it has done.
 *
 *   handler ─▶ fails, or is stopped ─▶ its operations end ─▶ compensations, last first ─▶ the attempt fails
 *
 * A process that continues the run calls the handler again with a signal that has aborted. The handler gets its recorded
 * results, adds the same compensations, and can begin no other operation.
 *
 * ENS-P25 If a handler fails or is stopped by a cancel, a time limit or a budget, its compensations run in reverse order before
 *    the attempt ends. A step that ends in spite of the stop is recorded.
 * ENS-P26 Each compensation is a step, with retries and a time limit for each try. After a failed one the others run; then the
 *    attempt fails with COMPENSATION_FAILED, is not retried, and names the failed ones and the reason.
 * ENS-P27 A resumed run continues its compensations, also after a cancel. Its handler begins no other operation, and fails with
 *    the recorded reason.
 * ENS-P28 A run is CANCELLED only after its compensations have ended. It has the error of failed ones, or REPLAY_MISMATCH if
 *    changed code cannot run them.
 */
import { TuttiError } from '@tutti/core'

import { DEFAULT_MODEL_RETRIES } from '../model/retry-delay.ts'
import { nameOfStep } from '../scope/recorded-operations.ts'
import { describeCompensation, replayMismatchError } from '../scope/replay.ts'
import { fromStepError, toStepError } from '../scope/step-log.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { assertStepOptions } from './handler-step.ts'
import { performTries } from './step-tries.ts'

import type { StepContext } from '../definition/operations.ts'
import type { StepOptions } from '../definition/step-options.ts'
import type { OperationFrame } from './operation-frame.ts'

/** Maximum number of compensations of an attempt. */
const MAX_COMPENSATIONS = 1_000

/** Default time limit of a try, in milliseconds, so that a cancelled run ends. */
const DEFAULT_TIMEOUT_MS = 60_000

/** Maximum number of failed compensations that a message names. */
const MAX_NAMED = 10

interface Compensation extends StepOptions {
  readonly name: string
  readonly work: (context: StepContext) => unknown
}

interface FailedCompensation {
  readonly name: string
  readonly error: TuttiError
}

/** The compensations of one attempt at a task with a handler. */
export class Compensations {
  readonly #frame: OperationFrame
  readonly #added: Compensation[] = []

  constructor(frame: OperationFrame) {
    this.#frame = frame
  }

  /** Adds a compensation; see `HandlerOperations.compensate`. */
  add(name: string, { work, ...options }: Omit<Compensation, 'name'>): void {
    const action = `Cannot add compensation "${name}"`
    assertStepOptions(action, options)
    if (options.timeoutMs === Infinity) {
      throw new TuttiError('CONFIG_INVALID', `${action}: timeoutMs must be finite, got Infinity`)
    }
    this.#frame.assertOpen()
    const ordinal = this.#added.length
    if (ordinal === MAX_COMPENSATIONS) {
      const message = `${action}: an attempt has at most ${MAX_COMPENSATIONS} compensations`
      throw new TuttiError('CONFIG_INVALID', message)
    }
    this.#assertSame(ordinal, name)
    this.#added.push({ name, work, ...options })
  }

  /**
   * Runs the compensations after a failure, last first. Returns the error of the attempt.
   *
   * @throws {TuttiError} if the process may no longer work on the run; REPLAY_MISMATCH
   */
  async run(failure: TuttiError): Promise<TuttiError> {
    const { scope, recorded } = this.#frame
    if (failure.code === 'REPLAY_MISMATCH' || scope.run.lost.aborted) return failure
    const count = recorded?.compensationCount ?? 0
    if (count > this.#added.length) this.#assertSame(count - 1, undefined)
    if (this.#added.length === 0) return failure
    if (scope.log.find('compensation_begun', scope.identity.attempt) === undefined) {
      await scope.commit({ kind: 'compensation_begun', error: toStepError(failure) })
    }
    const failed: FailedCompensation[] = []
    for (const [ordinal, compensation] of [...this.#added.entries()].toReversed()) {
      try {
        await this.#perform(ordinal, compensation)
      } catch (thrown) {
        if (scope.run.lost.aborted) throw stoppedError(scope.run.lost, 'Compensation')
        const error = TuttiError.from(thrown, 'TASK_FAILED')
        if (error.code === 'REPLAY_MISMATCH') throw error
        failed.push({ name: compensation.name, error })
      }
    }
    return failed.length === 0 ? failure : compensationError(failure, failed)
  }

  async #perform(ordinal: number, { name, work, ...options }: Compensation): Promise<void> {
    const { scope, recorded } = this.#frame
    const { run, identity } = scope
    const earlier = recorded?.compensation(ordinal)
    const known =
      earlier?.step ??
      run.log.record.findStep(identity.taskName, { ordinal, name, isCompensation: true })
    if (known !== undefined) {
      if (known.error !== undefined) throw fromStepError(known.error)
      return
    }
    scope.assertLive(`compensation "${name}"`)
    const what = `Compensation "${name}"`
    const perform = async (context: StepContext): Promise<void> => {
      // What a compensation returns is not used, so it need not be JSON.
      await this.#frame.outside(what, () => work(context))
    }
    await performTries(scope, perform, {
      retries: DEFAULT_MODEL_RETRIES.maxRetries,
      timeoutMs: DEFAULT_TIMEOUT_MS,
      ...options,
      name,
      what,
      ordinal,
      isCompensation: true,
      idempotencyKey: this.#frame.toKey(ordinal, 'compensation'),
      failures: earlier?.failures ?? 0,
      signal: run.lost,
    })
  }

  /** Checks that the code adds the recorded compensation. @throws {TuttiError} REPLAY_MISMATCH */
  #assertSame(ordinal: number, name: string | undefined): void {
    const recorded = this.#frame.recorded?.compensation(ordinal)
    if (recorded === undefined || nameOfStep(recorded) === name) return
    throw this.#frame.end(
      replayMismatchError({
        taskName: this.#frame.scope.identity.taskName,
        step: describeCompensation(ordinal),
        recorded: `compensation "${nameOfStep(recorded)}"`,
        asked: name === undefined ? 'the end of the handler' : `compensation "${name}"`,
      }),
    )
  }
}

/** Returns the error of an attempt whose compensations failed. */
function compensationError(failure: TuttiError, failed: readonly FailedCompensation[]): TuttiError {
  const texts = failed
    .slice(0, MAX_NAMED)
    .map(({ name, error }) => `compensation "${name}" failed: ${error.message}`)
  const more = failed.length - texts.length
  const list = [...texts, ...(more > 0 ? [`${more} more compensations failed`] : [])].join('; ')
  return new TuttiError('COMPENSATION_FAILED', `${failure.message}; ${list}`, {
    cause: failure,
    details: {
      reason: { code: failure.code, message: failure.message },
      compensations: failed
        .slice(0, MAX_NAMED)
        .map(({ name, error: { code, message } }) => ({ name, code, message })),
    },
  })
}
