/**
 * Pure: checks overrides of single items whose list is known.
 *
 * RUNS-V8 An override of an item of a list that is an input names an item of that list. The items of other lists are not known
 *    before the run: an override of an item that a list does not have has no effect.
 */
import { parseJsonList, readItemKey } from '@tutti/ensemble/internal'
import { unknownName, type Problem, type TaskOverrideBody } from '@tutti/protocol/internal'

import { locateOverride, overridePath } from './override-targets.ts'

import type { Inputs, Task } from '@tutti/ensemble'

/** Returns a problem for each override of an item that is not in the list of its input. */
export function findUnknownItems(
  tasks: readonly Task[],
  overrides: Readonly<Record<string, TaskOverrideBody>>,
  inputs: Inputs,
): readonly Problem[] {
  return Object.keys(overrides).flatMap((key) => {
    const target = locateOverride(tasks, key)
    if (typeof target === 'function') return []
    const [first, second] = target.steps
    if (second?.kind !== 'item') return []
    const plan = tasks.find(({ name }) => name === first?.name)?.forEach
    if (plan?.isInput !== true) return []
    const items = parseJsonList(inputs[plan.over])
    // The input is reported by its own check.
    if (items === undefined) return []
    const keys = items.flatMap((item, index) => readItemKey(plan, item, index) ?? [])
    if (keys.includes(second.name)) return []
    const message = unknownName('item', second.name, keys)
    return [{ path: overridePath(key), message }]
  })
}
