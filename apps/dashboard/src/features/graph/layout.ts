/**
 * Pure: a run as rows of tasks beside lanes, as the log of a version control system draws its branches.
 *
 *   ●        plan        what a task gives runs down a lane that all who wait for it tap;
 *   ├─●─┐    search      what goes into a task is gathered in a lane that ends at it.
 *   ├─●─┤    interview
 *   ●───┘    write
 *
 * Each link goes by the lane that it shares with more others: by that of its source when this leads to
 * at least as many tasks as lead to its target. So a fan of any width takes three lanes, and a lane never
 * joins two tasks that have nothing to do with each other.
 */
import type { RunState } from '@tutti/protocol'

/** A task in its row. */
export interface GraphRow {
  readonly name: string
  readonly lane: number
  readonly after: readonly string[]
  readonly isDelegated: boolean
}

/** A line from one row down to another, by a lane. */
export interface GraphLink {
  readonly from: number
  readonly to: number
  readonly lane: number
}

/** Where everything is. */
export interface GraphLayout {
  readonly rows: readonly GraphRow[]
  readonly links: readonly GraphLink[]
  readonly lanes: number
}

/** A lane that is taken, from a row to another. */
interface Channel {
  readonly lane: number
  readonly end: number
}

/** Puts tasks into rows and lanes. */
export function layoutOf(tasks: readonly GraphTask[]): GraphLayout {
  const order = topToBottom(tasks)
  const rowOf = new Map(order.map(({ name }, row) => [name, row]))
  const pairs = order.flatMap(({ after }, to) =>
    [...new Set(after)].flatMap((name) => {
      const from = rowOf.get(name)
      return from !== undefined && from < to ? [{ from, to }] : []
    }),
  )
  const keyOf = sharedLanes(pairs)
  const ends = new Map<string, number>()
  for (const pair of pairs) ends.set(keyOf(pair), Math.max(ends.get(keyOf(pair)) ?? 0, pair.to))
  const channels = new Map<string, Channel>()
  const rows: GraphRow[] = []
  for (const [row, { name, after, isDelegated }] of order.entries()) {
    const incoming = pairs.filter(({ to }) => to === row).map(keyOf)
    const outgoing = new Set(pairs.filter(({ from }) => from === row).map(keyOf))
    const lane = laneOfTask(row, { incoming, channels, pairs })
    rows.push({ name, lane, after, isDelegated })
    for (const key of outgoing) {
      if (channels.has(key)) continue
      const least = key === sourceKey(row) ? lane : lane + 1
      const taken = takenLanes(channels, row)
      channels.set(key, { lane: freeLane(taken, least), end: ends.get(key) ?? row })
    }
  }
  const links = pairs.map((pair) => ({ ...pair, lane: channels.get(keyOf(pair))?.lane ?? 0 }))
  const lanes = 1 + Math.max(0, ...rows.map(({ lane }) => lane), ...links.map(({ lane }) => lane))
  return { rows, links, lanes }
}

interface Pair {
  readonly from: number
  readonly to: number
}

function sharedLanes(pairs: readonly Pair[]): (pair: Pair) => string {
  const [out, into] = [new Map<number, number>(), new Map<number, number>()]
  for (const { from, to } of pairs) {
    out.set(from, (out.get(from) ?? 0) + 1)
    into.set(to, (into.get(to) ?? 0) + 1)
  }
  return ({ from, to }) =>
    (out.get(from) ?? 0) >= (into.get(to) ?? 0) ? sourceKey(from) : `to ${to}`
}

function sourceKey(row: number): string {
  return `from ${row}`
}

/** A task goes on in the lane that leads to it alone, beside one that leads to others too, else at the left. */
function laneOfTask(
  row: number,
  {
    incoming,
    channels,
    pairs,
  }: {
    readonly incoming: readonly string[]
    readonly channels: ReadonlyMap<string, Channel>
    readonly pairs: readonly Pair[]
  },
): number {
  const taken = takenLanes(channels, row)
  const [only] = incoming
  const channel = only === undefined ? undefined : channels.get(only)
  if (incoming.length !== 1 || channel === undefined) return freeLane(taken, 0)
  const source = pairs.find(({ to }) => to === row)?.from
  const isFan = pairs.filter(({ from }) => from === source).length > 1
  return freeLane(taken, isFan ? channel.lane + 1 : channel.lane)
}

/** Lanes that go on below a row. */
function takenLanes(channels: ReadonlyMap<string, Channel>, row: number): ReadonlySet<number> {
  return new Set([...channels.values()].flatMap(({ lane, end }) => (end > row ? [lane] : [])))
}

function freeLane(taken: ReadonlySet<number>, least: number): number {
  let lane = least
  while (taken.has(lane)) lane += 1
  return lane
}

/**
 * The tasks from top to bottom: as they are listed, as far as what leads to them allows; what was
 * delegated right below who did so. A file may tell of a circle: its tasks come as they are listed.
 */
function topToBottom(tasks: readonly GraphTask[]): readonly GraphTask[] {
  const below = new Map<string, GraphTask[]>()
  for (const task of tasks) {
    const [delegator] = task.after
    if (!task.isDelegated || delegator === undefined) continue
    below.set(delegator, [...(below.get(delegator) ?? []), task])
  }
  const placed = new Set<string>()
  const order: GraphTask[] = []
  const place = (task: GraphTask): void => {
    if (placed.has(task.name)) return
    placed.add(task.name)
    order.push(task)
    for (const other of below.get(task.name) ?? []) place(other)
  }
  const waiting = tasks.filter(({ isDelegated }) => !isDelegated)
  while (waiting.length > 0) {
    const ready = waiting.findIndex(({ after }) => after.every((name) => placed.has(name)))
    for (const task of waiting.splice(Math.max(0, ready), 1)) place(task)
  }
  for (const task of tasks) place(task)
  return order
}

/**
 * The row that a key leads to from another; undefined for other keys. Up and down go along the lines, to
 * the nearest task, and where no line goes to the next row; left and right to the next row in any case.
 */
export function rowAfterKey(
  { rows, links }: GraphLayout,
  row: number,
  key: string,
): number | undefined {
  const last = rows.length - 1
  const above = links.flatMap(({ from, to }) => (to === row ? [from] : []))
  const below = links.flatMap(({ from, to }) => (from === row ? [to] : []))
  switch (key) {
    case 'ArrowUp':
      return above.length === 0 ? Math.max(0, row - 1) : Math.max(...above)
    case 'ArrowDown':
      return below.length === 0 ? Math.min(last, row + 1) : Math.min(...below)
    case 'ArrowLeft':
      return Math.max(0, row - 1)
    case 'ArrowRight':
      return Math.min(last, row + 1)
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return undefined
  }
}

/** A task and what comes right before it. */
export interface GraphTask {
  readonly name: string
  /** Names of the tasks that lead to it; those that it is given something of, or waits for. */
  readonly after: readonly string[]
  /** Whether it was handed down: it is drawn right below who did so. */
  readonly isDelegated: boolean
}

/** The tasks of a run, in the order in which the run lists them. */
export function structureOf({
  tasks,
  workflow,
}: Pick<RunState, 'tasks' | 'workflow'>): readonly GraphTask[] {
  const planned = tasks.filter(({ delegatedBy }) => delegatedBy === undefined)
  const names = new Set(tasks.map(({ name }) => name))
  const manager = workflow === 'HIERARCHICAL' ? planned.at(-1) : undefined
  return tasks.map((task) => {
    const { name, context, delegatedBy } = task
    if (delegatedBy !== undefined && names.has(delegatedBy.taskName)) {
      return { name, after: [delegatedBy.taskName], isDelegated: true }
    }
    if (manager !== undefined) {
      const isWorker = task !== manager
      return { name, after: isWorker ? [manager.name] : [], isDelegated: isWorker }
    }
    const before = planned[planned.indexOf(task) - 1]
    if (workflow === 'SEQUENTIAL') {
      return { name, after: before === undefined ? [] : [before.name], isDelegated: false }
    }
    return { name, after: context.filter((other) => names.has(other)), isDelegated: false }
  })
}
