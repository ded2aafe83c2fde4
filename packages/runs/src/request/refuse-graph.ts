/**
 * Pure: refuses requested graphs in which tasks cannot run or names can clash.
 *
 * RUNS-T7 The name of another task of the request cannot begin with the name of a task that adds tasks and `/`, because the added
 *    tasks have such names.
 */
import { findCycle } from '@tutti/ensemble/internal'
import { shortText } from '@tutti/protocol/internal'

import type { Conditional } from './conditions.ts'
import type { Refusals } from './refusals.ts'
import type { TaskDefinitionBody, Workflow } from '@tutti/protocol/internal'

/** A task that waits for another one. */
export interface GraphReference {
  readonly from: string
  readonly to: string
  /** JSON Pointer of the reference. */
  readonly path: string
}

/** A task with its condition, if it has one. */
export interface ConditionalTask extends Conditional {
  readonly name: string
  /** JSON Pointer of the condition. */
  readonly path: string
}

/** Returns the references of conditions. All cases of a switch wait for what any of them reads. */
export function listReadReferences(tasks: readonly ConditionalTask[]): readonly GraphReference[] {
  return tasks.flatMap((task) => {
    const cases =
      task.switch === undefined ? [task] : tasks.filter((one) => one.switch === task.switch)
    const reads = (task.when?.reads ?? []).filter(
      (read) => read === task.name || !cases.some(({ name }) => name === read),
    )
    return reads.flatMap((to) => cases.map(({ name }) => ({ from: name, to, path: task.path })))
  })
}

/** Maximum number of cycles that are reported. */
const MAX_CYCLES = 20

/** Refuses tasks that wait for themselves, directly or through others, or for a later task in SEQUENTIAL. */
export function refuseUnreachable(
  names: readonly string[],
  references: readonly GraphReference[],
  { refusals, workflow }: { readonly refusals: Refusals; readonly workflow: Workflow | undefined },
): void {
  if (workflow === 'SEQUENTIAL') {
    const positions = new Map(names.map((name, index) => [name, index]))
    for (const { from, to, path } of references) {
      if ((positions.get(to) ?? 0) < (positions.get(from) ?? 0)) continue
      const message = (): string =>
        `Task '${shortText(from)}' can never run: with workflow SEQUENTIAL, '${shortText(to)}' must be before it`
      refusals.add('BAD_REQUEST', path, message)
    }
    return
  }
  let left = references
  for (let found = 0; found < MAX_CYCLES; found += 1) {
    const waits = new Map(names.map((name): [string, string[]] => [name, []]))
    for (const { from, to } of left) waits.get(from)?.push(to)
    const cycle = findCycle([...waits].map(([name, context]) => ({ name, context })))
    if (cycle === undefined) return
    const [first, second] = cycle
    const closing = left.find(({ from, to }) => from === first && to === second)
    if (closing === undefined) return
    const text = cycle.map((name) => shortText(name)).join(' → ')
    refusals.add('CIRCULAR_DEPENDENCY', closing.path, () => `Tasks form a cycle: ${text}`)
    left = left.filter((one) => one !== closing)
  }
}

/** Refuses names that added tasks may have (RUNS-T7), and a manager over tasks that add tasks. */
export function refuseAddedTasks(
  bodies: readonly TaskDefinitionBody[],
  {
    names,
    refusals,
    isLed,
  }: {
    readonly names: readonly string[]
    readonly refusals: Refusals
    readonly isLed: boolean
  },
): void {
  const parents = names.filter((_, index) => listAdding(bodies[index]).length > 0)
  if (parents.length === 0) return
  for (const [index, body] of bodies.entries()) {
    for (const name of isLed ? listAdding(body) : []) {
      const message = `${name} has no effect with workflow HIERARCHICAL: a manager delegates to agents only`
      refusals.add('BAD_REQUEST', `/tasks/${index}/${name}`, () => message)
    }
    const { name } = body
    const parent = parents.find((one) => name?.startsWith(`${one}/`) === true)
    if (name === undefined || parent === undefined) continue
    refusals.add(
      'BAD_REQUEST',
      `/tasks/${index}/name`,
      () =>
        `'${shortText(name)}' may be the name of a task that '${shortText(parent)}' adds: use another name`,
    )
  }
}

/** Returns the fields that make a task add tasks. */
function listAdding(body: TaskDefinitionBody | undefined): readonly string[] {
  return [
    ...(body?.forEach === undefined ? [] : ['forEach']),
    ...(body?.loop === undefined ? [] : ['loop']),
    ...(body?.ensemble === undefined ? [] : ['ensemble']),
  ]
}
