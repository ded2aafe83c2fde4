/**
 * Conditions of tasks: which tasks of a plan run, by its inputs and the outputs of earlier tasks. No I/O.
 *
 *   reads have ended ─▶ evaluated once ─▶ true    runs when its context is complete
 *                                    └──▶ false   skipped
 *
 * ENS-X1 A condition is evaluated once, as soon as every task that it reads has ended. A task that did not complete has the
 *    output undefined.
 * ENS-X2 A task whose condition is false is skipped, and its reason names the condition. The run can still be completed.
 * ENS-X3 Of the tasks with the same `switch`, the first one whose condition is true runs, in the order of declaration; one
 *    without a condition is the last. The choice depends on the conditions alone, and waits for what any of them reads.
 * ENS-X4 A condition that throws, or returns anything but a boolean, fails its task.
 */
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { previewOf } from '@tutti/protocol/internal'

import type { Condition, ConditionScope } from './condition.ts'
import type { Choice } from './plan.ts'

/** Values for the conditions of the tasks of a plan. */
export interface ConditionValues extends ConditionScope {
  /** Returns the output of a task of the plan; undefined if it did not complete. */
  readonly outputOf: (taskName: string) => unknown
}

/** A condition that could not be evaluated, and its task. */
export interface FailedCondition {
  readonly taskName: string
  readonly error: TuttiError
}

/**
 * Returns the name of the task that runs: the first one whose condition is true, or that has none. Undefined if there is none,
 * and a failure for a condition that throws, or returns anything but a boolean.
 */
export function chooseTask(
  { names }: Choice,
  find: (taskName: string) => { readonly when?: Condition } | undefined,
  values: ConditionValues,
): string | undefined | FailedCondition {
  for (const taskName of names) {
    const when = find(taskName)?.when
    if (when === undefined) return taskName
    try {
      if (evaluate(taskName, when, values)) return taskName
    } catch (error) {
      return { taskName, error: TuttiError.from(error, 'CONSTRAINT_VIOLATION') }
    }
  }
  return undefined
}

function evaluate(
  taskName: string,
  when: Condition,
  { inputs, outputOf }: ConditionValues,
): boolean {
  const what = `The condition of task "${taskName}"`
  return evaluateCondition(what, when, () => when.test(when.reads.map(outputOf), { inputs }))
}

/**
 * Evaluates a condition of a task or of a loop; `what` names it in errors.
 *
 * @throws {TuttiError} CONSTRAINT_VIOLATION if it throws, or returns anything but a boolean.
 */
export function evaluateCondition(
  what: string,
  { text }: Pick<Condition, 'text'>,
  test: () => unknown,
): boolean {
  const shown = text === undefined ? what : `${what} (${text})`
  let value: unknown
  try {
    value = test()
  } catch (cause) {
    const message = `${shown} failed: ${errorMessage(cause)}`
    throw new TuttiError('CONSTRAINT_VIOLATION', message, { cause })
  }
  if (typeof value === 'boolean') return value
  // Its rejection must not be unhandled.
  if (value instanceof Promise) value.catch(() => undefined)
  const got = value instanceof Promise ? 'a promise' : previewOf(value)
  throw new TuttiError('CONSTRAINT_VIOLATION', `${shown} must return true or false, got ${got}`)
}

/** Returns the reason why a choice skips a task. */
export function explainUnchosen(
  taskName: string,
  { names, switchName }: Choice,
  { chosen, when }: { readonly chosen: string | null; readonly when: Condition | undefined },
): string {
  if (switchName !== undefined && chosen !== null) {
    const isLater = names.indexOf(taskName) > names.indexOf(chosen)
    if (isLater) return `Switch "${switchName}" chose task "${chosen}"`
  }
  return when?.text === undefined
    ? 'Its condition is false'
    : `Its condition is false: ${when.text}`
}

/** Returns the error of a task that needs the output of a case when no case matches. */
export function unmatchedError(taskName: string, { names, switchName = '' }: Choice): TuttiError {
  const cases = names.map((name) => `"${name}"`).join(', ')
  return new TuttiError(
    'CONSTRAINT_VIOLATION',
    `No case of switch "${switchName}" matches, but task "${taskName}" needs the output of one. ` +
      `Cases: ${cases}. Add a case without a condition`,
    { details: { switch: switchName, cases: [...names] } },
  )
}
