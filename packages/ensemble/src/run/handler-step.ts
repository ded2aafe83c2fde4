/** Steps of handlers: side effects of code whose results are recorded. */
import { TuttiError } from '@tutti/core'

import { findJsonFault } from '../output/structured-output.ts'
import { fromStepError, toStepError } from '../scope/step-log.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { untilStopped } from '../work/until-stopped.ts'

import type { StepContext } from '../definition/operations.ts'
import type { OperationFrame } from './operation-frame.ts'

/** Performs a step, or returns its recorded result; see `HandlerOperations.step`. */
export async function performStep<Value>(
  frame: OperationFrame,
  name: string,
  work: (context: StepContext) => Value | Promise<Value>,
): Promise<Value> {
  const scope = frame.scope
  const { run, identity } = scope
  const operation = frame.take()
  const { ordinal, recorded, replayed } = operation
  const what = `Step "${name}"`
  frame.assertSame(operation, 'step', {
    asked: `step "${name}"`,
    isSame: ({ step }) => step?.name === name,
  })
  await frame.turnOfResult(what, operation)
  const known =
    recorded?.step ??
    (replayed?.step?.name === name ? replayed.step : undefined) ??
    run.log.record.findStep(identity.taskName, { ordinal, name })
  if (known !== undefined) {
    if (known.error !== undefined) throw fromStepError(known.error)
    // NOTE: the code that gives the step its type is the code that recorded its result.
    return known.result as Value
  }
  scope.assertLive(`step "${name}"`)
  const signal = frame.signal
  const idempotencyKey = frame.toKey(ordinal)
  return frame.perform(what, { progress: 'new' }, async () => {
    const holding = run.inFlight.waitIfDraining(signal, what)
    if (holding !== undefined) await holding
    try {
      const working = Promise.resolve(frame.outside(what, () => work({ signal, idempotencyKey })))
      const value = await untilStopped(working, { signal, clock: run.clock, what })
      if (signal.aborted) throw stoppedError(signal, what)
      const result = toResult(what, value)
      await scope.commit({ kind: 'handler_step', ordinal, name, ...result })
      // NOTE: the result is JSON, and returned in the form in which a later process gets it.
      return result.result as Value
    } catch (thrown) {
      if (signal.aborted) {
        throw TuttiError.isInstance(thrown) ? thrown : stoppedError(signal, what, { cause: thrown })
      }
      const error = TuttiError.from(thrown, 'TASK_FAILED')
      await scope.commit({ kind: 'handler_step', ordinal, name, error: toStepError(error) })
      throw error
    }
  })
}

/** Returns a copy of a result, as a later process gets it; without a field for undefined. */
function toResult(what: string, value: unknown): { readonly result?: unknown } {
  if (value === undefined) return {}
  const fault = findFault(value)
  if (fault === undefined) return { result: JSON.parse(JSON.stringify(value)) }
  throw new TuttiError('TASK_FAILED', `The result of ${what} must be JSON, but ${fault}`)
}

function findFault(value: unknown): string | undefined {
  try {
    return findJsonFault(value)
  } catch (error) {
    if (error instanceof RangeError) return 'the value contains itself, or is nested too deeply'
    throw error
  }
}
