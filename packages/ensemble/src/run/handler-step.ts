/** Steps of handlers: side effects of code whose results are recorded. */
import { TuttiError } from '@tutti/core'

import { findStepProblems, type StepOptions } from '../definition/step-options.ts'
import { nameOfStep } from '../scope/recorded-operations.ts'
import { fromStepError } from '../scope/step-log.ts'
import { performTries } from './step-tries.ts'

import type { StepContext } from '../definition/operations.ts'
import type { OperationFrame } from './operation-frame.ts'

/** Performs a step, or returns its recorded result; see `HandlerOperations.step`. */
export async function performStep<Value>(
  frame: OperationFrame,
  name: string,
  {
    work,
    ...options
  }: StepOptions & { readonly work: (context: StepContext) => Value | Promise<Value> },
): Promise<Value> {
  const { scope, signal } = frame
  const { run, identity } = scope
  assertStepOptions(`Cannot perform step "${name}"`, options)
  const operation = frame.take()
  const { ordinal, recorded, replayed } = operation
  const what = `Step "${name}"`
  frame.assertSame(operation, 'step', {
    asked: `step "${name}"`,
    isSame: (known) => nameOfStep(known) === name,
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
  const idempotencyKey = frame.toKey(ordinal)
  const { failures = 0 } = recorded ?? {}
  const step = { ...options, name, what, ordinal, idempotencyKey, failures, signal }
  return frame.perform(what, { progress: 'new' }, async () => {
    const perform = (context: StepContext): unknown => frame.outside(what, () => work(context))
    // NOTE: the result is that of `work`, in the form in which a later process gets it.
    return (await performTries(scope, perform, step)) as Value
  })
}

/** Checks the options of a step. @throws {TuttiError} CONFIG_INVALID, naming every problem */
export function assertStepOptions(action: string, options: StepOptions): void {
  const problems = findStepProblems(options)
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `${action}: ${problems.join('; ')}`, {
    details: { problems },
  })
}
