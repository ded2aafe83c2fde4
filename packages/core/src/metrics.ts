/**
 * Counts and durations of tool calls, by tool and agent role. `ToolMetrics` is the port through which calls are counted;
 * `createToolMetrics` keeps the numbers in memory.
 */

/** Labels of a measurement. */
export interface ToolMetricsLabels {
  readonly toolName: string
  readonly agentRole: string
}

/**
 * Outcome of a call in the metrics. `failure`: the tool reported a failure, or its input was invalid. `error`: the
 * tool threw, timed out or ignored its signal. Cancelled calls are not counted.
 */
export type CountedOutcome = 'success' | 'failure' | 'error'

/** Port that counts calls. Errors that it throws are logged and ignored. */
export interface ToolMetrics {
  /** Counts a call that ended after `durationMs`. */
  countCall(labels: ToolMetricsLabels, outcome: CountedOutcome, durationMs: number): void
  /** Adds to a custom counter of the tool. */
  increment(labels: ToolMetricsLabels, name: string, by: number): void
  /** Records one value of a custom distribution of the tool. */
  record(labels: ToolMetricsLabels, name: string, value: number): void
}

/** Distribution of values, in numbers that can be aggregated. */
export interface ValueSummary {
  readonly count: number
  readonly sum: number
  readonly min: number
  readonly max: number
}

/** Numbers of one tool and agent role. */
export interface ToolMetricsSnapshot extends ToolMetricsLabels {
  readonly success: number
  readonly failure: number
  readonly error: number
  /** Durations of all counted calls in milliseconds; absent before the first. */
  readonly durationMs?: ValueSummary
  readonly counters: Readonly<Record<string, number>>
  readonly values: Readonly<Record<string, ValueSummary>>
}

/** Metrics that can be read. */
export interface ToolMetricsStore extends ToolMetrics {
  /** Returns a copy of the numbers, one entry for each tool and agent role, in the order of their first call. */
  snapshot(): readonly ToolMetricsSnapshot[]
}

/** Creates metrics in memory. Memory grows with the number of tools and roles, not with the number of calls. */
export function createToolMetrics(): ToolMetricsStore {
  const byTool = new Map<string, Map<string, Tally>>()
  const tallyOf = ({ toolName, agentRole }: ToolMetricsLabels): Tally => {
    const byRole = getOrCreate(byTool, toolName, () => new Map<string, Tally>())
    return getOrCreate(byRole, agentRole, newTally)
  }
  return {
    countCall(labels, outcome, durationMs) {
      const tally = tallyOf(labels)
      tally[outcome] += 1
      tally.durationMs = addToSummary(tally.durationMs, durationMs)
    },
    increment(labels, name, by) {
      const { counters } = tallyOf(labels)
      counters.set(name, (counters.get(name) ?? 0) + by)
    },
    record(labels, name, value) {
      const { values } = tallyOf(labels)
      values.set(name, addToSummary(values.get(name), value))
    },
    snapshot() {
      return [...byTool].flatMap(([toolName, byRole]) =>
        [...byRole].map(([agentRole, tally]) => toSnapshot({ toolName, agentRole }, tally)),
      )
    },
  }
}

interface Tally {
  success: number
  failure: number
  error: number
  durationMs: ValueSummary | undefined
  readonly counters: Map<string, number>
  readonly values: Map<string, ValueSummary>
}

function newTally(): Tally {
  return {
    success: 0,
    failure: 0,
    error: 0,
    durationMs: undefined,
    counters: new Map(),
    values: new Map(),
  }
}

function toSnapshot(labels: ToolMetricsLabels, tally: Tally): ToolMetricsSnapshot {
  const { success, failure, error, durationMs } = tally
  return {
    ...labels,
    success,
    failure,
    error,
    ...(durationMs === undefined ? {} : { durationMs }),
    counters: Object.fromEntries(tally.counters),
    values: Object.fromEntries(tally.values),
  }
}

function addToSummary(summary: ValueSummary | undefined, value: number): ValueSummary {
  if (summary === undefined) return { count: 1, sum: value, min: value, max: value }
  return {
    count: summary.count + 1,
    sum: summary.sum + value,
    min: Math.min(summary.min, value),
    max: Math.max(summary.max, value),
  }
}

function getOrCreate<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
