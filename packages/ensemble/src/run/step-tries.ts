/**
 * Performs the work of a step, with retries.
 *
 *   try ─┬─▶ result ─▶ recorded
 *        ├─▶ failure, no retry left ─▶ recorded
 *        └─▶ failure ─▶ recorded ─▶ wait ─▶ try
 *
 * ENS-P24 A failed try at a step is retried up to `retries` times, after a growing wait, unless another try cannot help. Each
 *    one is recorded, so that a resumed run continues the count. All tries have the same idempotency key. `timeoutMs` limits
 *    each try.
 */
import { TuttiError } from '@tutti/core'
import { isoNow, sleep } from '@tutti/core/internal'

import { computeModelRetryDelay, DEFAULT_BACKOFF } from '../model/retry-delay.ts'
import { findJsonFault } from '../output/structured-output.ts'
import { toStepError } from '../scope/step-log.ts'
import { onAbort, StopController } from '../work/on-abort.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { untilStopped } from '../work/until-stopped.ts'
import { mayRetry } from './attempt-failure.ts'

import type { StepContext } from '../definition/operations.ts'
import type { StepOptions } from '../definition/step-options.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { RunEventOf } from '@tutti/protocol'

/** A step to perform. */
export interface StepTries extends StepOptions {
  readonly name: string
  /** Start of messages, such as `Step "pay"`. */
  readonly what: string
  readonly ordinal: number
  readonly isCompensation?: true
  readonly idempotencyKey: string
  /** Number of failed tries in earlier processes. */
  readonly failures: number
  /** Aborts when the step must stop. */
  readonly signal: AbortSignal
}

type Work = (context: StepContext) => unknown

type TryEnd =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: TuttiError; readonly delayMs: number | undefined }

/**
 * Performs a step, and returns its result as a later process gets it.
 *
 * @throws {TuttiError} the failure of the last try, or the reason why the step was stopped.
 */
export async function performTries(
  scope: TaskScope,
  work: Work,
  step: StepTries,
): Promise<unknown> {
  const { run, identity } = scope
  const { name, ordinal, isCompensation, what, signal } = step
  const mark = isCompensation === undefined ? {} : { isCompensation }
  const recorded = { ordinal, ...mark, name }
  const position = {
    taskName: identity.taskName,
    taskIndex: identity.taskIndex,
    attempt: identity.attempt,
  }
  for (let failures = step.failures; ; failures += 1) {
    const holding = run.inFlight.waitIfDraining(signal, what)
    if (holding !== undefined) await holding
    const startedAt = isoNow(run.clock)
    const end = await performTry(scope, work, { ...step, failures })
    const event: RunEventOf<'handler_step_ended'> = {
      type: 'handler_step_ended',
      ...position,
      step: name,
      ...mark,
      tries: failures + 1,
      startedAt,
      endedAt: isoNow(run.clock),
    }
    if (end.ok) {
      const { result } = end
      const given = result === undefined ? {} : { result }
      await scope.commit({ kind: 'handler_step', ...recorded, ...given }, event)
      return result
    }
    const { error, delayMs } = end
    event.reason = error.message
    event.code = error.code
    const failure = { ...recorded, error: toStepError(error) }
    if (delayMs === undefined) {
      await scope.commit({ kind: 'handler_step', ...failure }, event)
      throw error
    }
    await scope.commit({ kind: 'handler_step_failed', ...failure }, { ...event, willRetry: true })
    run.inFlight.pause()
    await sleep(run.clock, delayMs, signal)
    run.inFlight.resume()
    if (signal.aborted) throw stoppedError(signal, what)
  }
}

/** Performs one try. @throws {TuttiError} the reason why the step was stopped. */
async function performTry(scope: TaskScope, work: Work, step: StepTries): Promise<TryEnd> {
  const { clock } = scope.run
  const { what, idempotencyKey, failures, signal: whole } = step
  const { signal, close } = limitTry(scope, step)
  let value: unknown
  try {
    const working = Promise.resolve(work({ signal, idempotencyKey, tries: failures + 1 }))
    value = await untilStopped(working, { signal, clock, what })
    if (whole.aborted && !recordsLate(scope)) throw stoppedError(whole, what)
  } catch (thrown) {
    if (whole.aborted) {
      throw TuttiError.isInstance(thrown) ? thrown : stoppedError(whole, what, { cause: thrown })
    }
    const error = toTryError(signal, thrown, what)
    return { ok: false, error, delayMs: computeDelay(error, { ...step, failures }) }
  } finally {
    close()
  }
  const fault = value === undefined ? undefined : findFault(value)
  if (fault === undefined) return { ok: true, result: toRecorded(value) }
  const message = `The result of ${what} must be JSON, but ${fault}`
  return { ok: false, error: new TuttiError('TASK_FAILED', message), delayMs: undefined }
}

/**
 * Whether a step that ended in spite of its signal is recorded: after a stop of its task, so that its handler can undo it, but
 * not after the end of its handler, or if the process may no longer record it.
 */
function recordsLate({ signal, run }: TaskScope): boolean {
  return signal.aborted && !run.lost.aborted
}

/** Returns a signal that also aborts at the time limit of a try, and the function that releases it. */
function limitTry(
  { run: { clock } }: TaskScope,
  { what, timeoutMs = Infinity, signal }: StepTries,
): { readonly signal: AbortSignal; readonly close: () => void } {
  if (timeoutMs === Infinity) return { signal, close: () => undefined }
  const controller = new StopController()
  const stopListening = onAbort(signal, () => {
    controller.abort(signal.reason)
  })
  const stopTimer = clock.after(timeoutMs, () => {
    const message = `${what} took longer than ${timeoutMs} ms`
    controller.abort(new TuttiError('TASK_TIMEOUT', message, { retryable: true }))
  })
  return {
    signal: controller.signal,
    close() {
      stopListening()
      stopTimer()
    },
  }
}

/** Returns the error of a failed try; after its time limit, TASK_TIMEOUT. */
function toTryError(signal: AbortSignal, thrown: unknown, what: string): TuttiError {
  if (!signal.aborted) return TuttiError.from(thrown, 'TASK_FAILED')
  const isTimeout = TuttiError.isInstance(thrown) && thrown.code === 'TASK_TIMEOUT'
  return isTimeout ? thrown : stoppedError(signal, what, { cause: thrown })
}

/** Returns the wait before the next try in milliseconds; undefined if there is none. */
function computeDelay(error: TuttiError, step: StepTries): number | undefined {
  if (!mayRetry(error)) return undefined
  const { retries: maxRetries = 0, backoff = {}, failures } = step
  const { firstDelayMs = DEFAULT_BACKOFF.firstMs, maxDelayMs = DEFAULT_BACKOFF.maxMs } = backoff
  return computeModelRetryDelay(
    { retryable: true, details: error.details },
    { retries: failures, maxRetries, backoff: { firstMs: firstDelayMs, maxMs: maxDelayMs } },
  )
}

/** Returns a copy of a result, as a later process gets it. */
function toRecorded(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

function findFault(value: unknown): string | undefined {
  try {
    return findJsonFault(value)
  } catch (error) {
    if (error instanceof RangeError) return 'the value contains itself, or is nested too deeply'
    throw error
  }
}
