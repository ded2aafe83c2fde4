/** Makes conditions on outputs. */
import { TuttiError } from '@tutti/core'
import { previewOf } from '@tutti/protocol/internal'

import { isTask } from './task.ts'
import { copyValue } from './value-inputs.ts'

import type { Condition, ConditionOutputs, ConditionScope, ConditionSource } from './condition.ts'
import type { ChildTask } from './operations.ts'

/**
 * Makes a condition on the outputs of earlier tasks. The task with the condition waits for them; they do not belong to its
 * context. It receives copies of lists and plain objects.
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
    test: (outputs, scope) => {
      const copies = outputs.map(copyValue)
      return test(isList ? copies : copies[0], scope)
    },
    ...(text === undefined ? {} : { text }),
  }
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
