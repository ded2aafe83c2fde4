/** Conditions of tasks: as authors write them, and as tasks have them. */
import type { ChildTask } from './operations.ts'
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

/** A condition by its author: a function of the inputs, or one on outputs, made by `condition()`. */
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
