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

/** A condition on the outputs of earlier tasks, for which the task therefore waits. */
export interface OutputCondition<On extends ConditionSource> {
  /** Tasks that it reads. They do not belong to the context of the task. */
  readonly on: On
  /** Returns whether the task runs. A list of tasks gives a list of outputs in the same order. */
  readonly is: (outputs: ConditionOutputs<On>, scope: ConditionScope) => boolean
  /** Description for reasons and manifests. @default none */
  readonly text?: string
}

/** A condition by its author: a function of the inputs, or one of outputs. */
export type When<On extends ConditionSource> =
  | ((scope: ConditionScope) => boolean)
  | OutputCondition<On>

/** A condition by its author, on any outputs. */
export type AnyWhen =
  | ((scope: ConditionScope) => boolean)
  | (Omit<OutputCondition<ConditionSource>, 'is'> & {
      readonly is: (outputs: never, scope: ConditionScope) => boolean
    })

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

/** Whether a value is the condition of a made task. */
export function isCondition(when: AnyWhen | Condition): when is Condition {
  return typeof when === 'object' && 'test' in when
}

/** Returns the condition that an author wrote. */
export function toCondition(when: AnyWhen | Condition): Condition {
  if (typeof when === 'function') return { reads: [], test: (_, scope) => when(scope) }
  if (isCondition(when)) return when
  const { on, is, text } = when
  const isList = isTaskList(on)
  // NOTE: the type of the outputs follows from `on`, which the overloads of task() check.
  const test = is as (outputs: unknown, scope: ConditionScope) => unknown
  return {
    reads: isList ? on.map(({ name }) => name) : [on.name],
    test: (outputs, scope) => test(isList ? outputs : outputs[0], scope),
    ...(text === undefined ? {} : { text }),
  }
}

function isTaskList(on: ConditionSource): on is readonly ChildTask<unknown>[] {
  return Array.isArray(on)
}
