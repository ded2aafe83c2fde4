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

import type { ChildTask } from './operations.ts'
import type { Choice } from './plan.ts'
import { isTask, type Task } from './task.ts'
import type { Inputs } from './template.ts'

/** Values that every condition can read. */
export interface ConditionScope {
  /** Inputs of the run; in a sub-ensemble its own. */
  readonly inputs: Inputs
}

/** Tasks whose outputs a condition reads: one, or a list. */
export type ConditionSource = ChildTask<unknown> | readonly ChildTask<unknown>[]

/** Outputs that a condition receives; undefined for a task that did not complete. */
export type ConditionOutputs<On> =
  On extends ChildTask<infer Output>
    ? Output | undefined
    : {
        readonly [Index in keyof On]: On[Index] extends ChildTask<infer Output>
          ? Output | undefined
          : never
      }

/** A condition by its author: a function of the inputs, or one on outputs, made by {@link condition}. */
export type When = ((scope: ConditionScope) => boolean) | Condition

/** The condition of a task. */
export interface Condition {
  /** Names of the tasks whose outputs it reads. */
  readonly reads: readonly string[]
  /** Returns whether the task runs; plain JavaScript and other languages can return anything. */
  readonly test: (outputs: readonly unknown[], scope: ConditionScope) => unknown
  /** Description for reasons and manifests. */
  readonly text?: string
  /** Names of the inputs that it reads; absent if they are not known, as those of code. */
  readonly inputs?: { readonly required: readonly string[]; readonly optional: readonly string[] }
}

/**
 * Makes a condition on the outputs of earlier tasks. The task with the condition waits for them; they do not belong to its context.
 *
 * @param on the tasks that it reads; a list of tasks gives a list of outputs in the same order.
 * @param is returns whether the task runs.
 * @param text description for reasons and manifests. @default none
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function condition<const On extends ConditionSource>(
  on: On,
  is: (outputs: ConditionOutputs<On>, scope: ConditionScope) => boolean,
  text?: string,
): Condition {
  assertCondition(on, is, text)
  const isList = isTaskList(on)
  // NOTE: the type of the outputs follows from `on`.
  const test = is as (outputs: unknown, scope: ConditionScope) => unknown
  return {
    reads: isList ? on.map(({ name }) => name) : [on.name],
    test: (outputs, scope) => test(isList ? outputs : outputs[0], scope),
    ...(text === undefined ? {} : { text }),
  }
}

/** Returns the condition that an author wrote. */
export function toCondition(when: When): Condition {
  return typeof when === 'function' ? { reads: [], test: (_, scope) => when(scope) } : when
}

/** Whether a value is a condition, in plain JavaScript too. */
export function isCondition(value: unknown): value is Condition {
  return (
    typeof value === 'object' &&
    value !== null &&
    'reads' in value &&
    Array.isArray(value.reads) &&
    'test' in value &&
    typeof value.test === 'function'
  )
}

function assertCondition(on: unknown, is: unknown, text: unknown): void {
  const sources: readonly unknown[] = Array.isArray(on) ? on : [on]
  const problems = [
    ...(sources.length > 0 && sources.every(isTask)
      ? []
      : [`on must be a task of task(), or a list of at least one, got ${previewOf(on)}`]),
    ...(typeof is === 'function' ? [] : [`is must be a function, got ${previewOf(is)}`]),
    ...(text === undefined || typeof text === 'string'
      ? []
      : [`text must be a text, got ${previewOf(text)}`]),
  ]
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Cannot create a condition: ${problems.join('; ')}`, {
    details: { problems },
  })
}

function isTaskList(on: ConditionSource): on is readonly ChildTask<unknown>[] {
  return Array.isArray(on)
}

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
  find: (taskName: string) => Pick<Task, 'when'> | undefined,
  values: ConditionValues,
): string | undefined | FailedCondition {
  for (const taskName of names) {
    const when = find(taskName)?.when
    if (when === undefined) return taskName
    const result = evaluate(taskName, when, values)
    if (result instanceof TuttiError) return { taskName, error: result }
    if (result) return taskName
  }
  return undefined
}

function evaluate(
  taskName: string,
  { reads, test, text }: Condition,
  { inputs, outputOf }: ConditionValues,
): boolean | TuttiError {
  const what = `The condition of task "${taskName}"`
  try {
    const value = test(reads.map(outputOf), { inputs })
    if (typeof value === 'boolean') return value
    if (value instanceof Promise) value.catch(() => undefined)
    const got = value instanceof Promise ? 'a promise' : previewOf(value)
    return new TuttiError('CONSTRAINT_VIOLATION', `${what} must return true or false, got ${got}`)
  } catch (cause) {
    const shown = text === undefined ? '' : ` (${text})`
    const message = `${what}${shown} failed: ${errorMessage(cause)}`
    return new TuttiError('CONSTRAINT_VIOLATION', message, { cause })
  }
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
