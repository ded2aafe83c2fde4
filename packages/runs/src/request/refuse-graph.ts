/**
 * Pure: refuses requested graphs in which tasks cannot run or names can clash.
 *
 * RUNS-T7 The name of another task of the request cannot begin with the name of a task that adds tasks and `/`, because the added
 *    tasks have such names.
 */
import { findCycle, findSwitchProblems, PrefixIndex } from '@tutti/ensemble/internal'
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
  /** JSON Pointer of the task. */
  readonly path: string
  /** Whether it has a condition that cannot be read, which is reported. */
  readonly isUnread: boolean
}

/** Returns the references of conditions. All cases of a switch wait for what any of them reads. */
export function listReadReferences(tasks: readonly ConditionalTask[]): readonly GraphReference[] {
  const choices = Map.groupBy(tasks, (task) => task.switch ?? task)
  return [...choices].flatMap(([key, cases]) => {
    const names = new Set(typeof key === 'string' ? cases.map(({ name }) => name) : [])
    const reads = new Map<string, string>()
    for (const { when, path } of cases) {
      for (const read of when?.reads ?? []) {
        if (!names.has(read) && !reads.has(read)) reads.set(read, `${path}/when`)
      }
    }
    return [...reads].flatMap(([to, path]) => cases.map(({ name }) => ({ from: name, to, path })))
  })
}

/** Refuses switches whose cases exclude each other otherwise than by their conditions, or never run. */
export function refuseSwitches(
  tasks: readonly ConditionalTask[],
  references: readonly GraphReference[],
  refusals: Refusals,
): void {
  const unread = new Set(tasks.flatMap((task) => (task.isUnread ? [task.switch] : [])))
  const known = tasks.filter((task) => task.switch !== undefined && !unread.has(task.switch))
  const paths = new Map(known.map(({ name, path }) => [name, path]))
  const byTask = Map.groupBy(references, ({ from }) => from)
  const graph = known.map((task) => ({
    ...task,
    context: (byTask.get(task.name) ?? []).map(({ to }) => to),
  }))
  for (const { taskName, option, other, message } of findSwitchProblems(graph)) {
    const reference =
      option === 'context' ? byTask.get(taskName)?.find(({ to }) => to === other) : undefined
    const path = reference?.path ?? `${paths.get(taskName)}/${option}`
    refusals.add('BAD_REQUEST', path, () => `Task '${shortText(taskName)}': ${message}`)
  }
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

/** Refuses names that added tasks may have (RUNS-T7). */
export function refuseAddedTasks(
  bodies: readonly TaskDefinitionBody[],
  { names, refusals }: { readonly names: readonly string[]; readonly refusals: Refusals },
): void {
  const parents = new PrefixIndex(
    names
      .filter((_, index) => isAdding(bodies[index]))
      .map((name): readonly [string, string] => [`${name}/`, name]),
  )
  for (const [index, { name = '' }] of bodies.entries()) {
    const [parent] = parents.find(name)
    if (parent === undefined) continue
    refusals.add(
      'BAD_REQUEST',
      `/tasks/${index}/name`,
      () =>
        `'${shortText(name)}' may be the name of a task that '${shortText(parent)}' adds: use another name`,
    )
  }
}

/** Whether the task adds tasks. */
function isAdding(body: TaskDefinitionBody | undefined): boolean {
  const fields = [body?.forEach, body?.loop, body?.ensemble]
  return fields.some((value) => value !== undefined)
}
