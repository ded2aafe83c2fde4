/**
 * Lays out the tasks of a run as rows next to lanes, as version control systems draw branches. Pure.
 *
 *   ●        plan        the output of a task runs down a lane that all its dependents tap;
 *   ├─●─┐    search      the inputs of a task are gathered in a lane that ends at it.
 *   ├─●─┤    interview
 *   ●───┘    write
 *
 * A link uses the lane that it shares with more other links: that of its source if the source has at
 * least as many outgoing links as the target has incoming ones. A fan of any width therefore takes three
 * lanes, and a lane never joins unrelated tasks.
 */
import type { RunState } from '@tutti/protocol'

/** A task and its row. */
export interface GraphRow {
  readonly name: string
  readonly lane: number
  readonly after: readonly string[]
  readonly isDelegated: boolean
}

/** A line from a row down to another one, along a lane. */
export interface GraphLink {
  readonly from: number
  readonly to: number
  readonly lane: number
}

/** The positions of all rows and links. */
export interface GraphLayout {
  readonly rows: readonly GraphRow[]
  readonly links: readonly GraphLink[]
  readonly lanes: number
}

/** An occupied lane, up to the row `end`. */
interface Channel {
  readonly lane: number
  readonly end: number
}

/** Assigns tasks to rows and lanes. */
export function layOutTasks(tasks: readonly GraphTask[]): GraphLayout {
  const order = sortTopToBottom(tasks)
  const rowOf = new Map(order.map(({ name }, row) => [name, row]))
  const pairs = order.flatMap(({ after }, to) =>
    [...new Set(after)].flatMap((name) => {
      const from = rowOf.get(name)
      return from !== undefined && from < to ? [{ from, to }] : []
    }),
  )
  const keyOf = assignSharedLanes(pairs)
  const ends = new Map<string, number>()
  for (const pair of pairs) ends.set(keyOf(pair), Math.max(ends.get(keyOf(pair)) ?? 0, pair.to))
  const channels = new Map<string, Channel>()
  const rows: GraphRow[] = []
  for (const [row, { name, after, isDelegated }] of order.entries()) {
    const incoming = pairs.filter(({ to }) => to === row).map(keyOf)
    const outgoing = new Set(pairs.filter(({ from }) => from === row).map(keyOf))
    const lane = chooseLane(row, { incoming, channels, pairs })
    rows.push({ name, lane, after, isDelegated })
    for (const key of outgoing) {
      if (channels.has(key)) continue
      const least = key === toSourceKey(row) ? lane : lane + 1
      const taken = findTakenLanes(channels, row)
      channels.set(key, { lane: findFreeLane(taken, least), end: ends.get(key) ?? row })
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

function assignSharedLanes(pairs: readonly Pair[]): (pair: Pair) => string {
  const [out, into] = [new Map<number, number>(), new Map<number, number>()]
  for (const { from, to } of pairs) {
    out.set(from, (out.get(from) ?? 0) + 1)
    into.set(to, (into.get(to) ?? 0) + 1)
  }
  return ({ from, to }) =>
    (out.get(from) ?? 0) >= (into.get(to) ?? 0) ? toSourceKey(from) : `to ${to}`
}

function toSourceKey(row: number): string {
  return `from ${row}`
}

/**
 * Returns the lane of a task: that of its only link, or the next one if the source of that link has
 * several, else the leftmost free one.
 */
function chooseLane(
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
  const taken = findTakenLanes(channels, row)
  const [only] = incoming
  const channel = only === undefined ? undefined : channels.get(only)
  if (incoming.length !== 1 || channel === undefined) return findFreeLane(taken, 0)
  const source = pairs.find(({ to }) => to === row)?.from
  const isFan = pairs.filter(({ from }) => from === source).length > 1
  return findFreeLane(taken, isFan ? channel.lane + 1 : channel.lane)
}

/** Returns the lanes that continue below a row. */
function findTakenLanes(channels: ReadonlyMap<string, Channel>, row: number): ReadonlySet<number> {
  return new Set([...channels.values()].flatMap(({ lane, end }) => (end > row ? [lane] : [])))
}

function findFreeLane(taken: ReadonlySet<number>, least: number): number {
  let lane = least
  while (taken.has(lane)) lane += 1
  return lane
}

/**
 * Orders the tasks from top to bottom: in their original order, but after the tasks that lead to them,
 * and delegated tasks directly below their delegator. Files may contain cycles, whose tasks keep
 * their original order.
 */
function sortTopToBottom(tasks: readonly GraphTask[]): readonly GraphTask[] {
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
 * Returns the row that a key leads to; undefined for other keys. Up and down follow the links to
 * the nearest task, or go to the adjacent row if there is none. Left and right go to the adjacent
 * row.
 */
export function findRowAfterKey(
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

/** A task and its direct predecessors. */
export interface GraphTask {
  readonly name: string
  /** Names of the tasks that it depends on, or that delegated it. */
  readonly after: readonly string[]
  /** Whether it was delegated; it is drawn directly below its delegator. */
  readonly isDelegated: boolean
}

/** Returns the tasks of a run and their predecessors, in the order of the run. */
export function readTaskGraph({
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
