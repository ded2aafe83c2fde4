/**
 * The metrics of a server: created first, passed to all of its parts, served at `/metrics`.
 *
 *   storage ─ measured ─▶ RunService ─ listeners ─▶ instruments ─▶ registry ─▶ text
 *                         control API ─────────────▶    ▲
 *                         process, store ── on scrape ──┘
 */
import { systemClock, type ToolMetrics } from '@tutti/core'

import { createInstruments, type Instruments } from './instruments.ts'
import { measureStorage } from './measured-storage.ts'
import { MetricRegistry, type MetricDescription } from './registry.ts'
import { createRunListeners, type RunListeners } from './run-listeners.ts'

import type { RunService } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'

export interface ServerMetricsOptions {
  /** Version of the server, in `tutti_build_info`. @default 'unknown' */
  readonly version?: string
  /** Role of the process, in `tutti_build_info`. @default 'all' */
  readonly role?: string
  /** Time for which metrics of the store are cached, in milliseconds. @default 2000 */
  readonly cacheMs?: number
}

/** Metrics of one server, for its parts. */
export interface ServerMetrics {
  /** Options for the run service, which count the work of its runs. */
  readonly runs: RunListeners & { readonly toolMetrics: ToolMetrics }
  /** Counts direct tool calls. */
  readonly byHand: ToolMetrics
  readonly instruments: Instruments
  readonly cacheMs: number
  /** Wraps a storage to measure it. */
  measured(storage: RunStorage): RunStorage
  /** Sets the run service whose clock counts, and which is asked for the opening times of reviews. */
  watch(runs: RunService): void
}

/** Shorter than any scrape interval; covers simultaneous scrapes. */
const DEFAULT_CACHE_MS = 2_000

/** Creates the metrics of one server. */
export function serverMetrics(options: ServerMetricsOptions = {}): ServerMetrics {
  const { cacheMs = DEFAULT_CACHE_MS } = options
  const instruments = createInstruments(new MetricRegistry())
  const { version = 'unknown', role = 'all' } = options
  instruments.build.set({ version, node_version: process.versions.node, role }, 1)
  let watched: RunService | undefined
  const clock = { ...systemClock, now: () => (watched?.clock ?? systemClock).now() }
  const openedAt = async (reviewId: string): Promise<number | undefined> =>
    (await watched?.reviews.get(reviewId))?.openedAt
  return {
    instruments,
    cacheMs,
    runs: {
      ...createRunListeners({ instruments, clock, openedAt }),
      toolMetrics: createToolMetrics(instruments, 'agent'),
    },
    byHand: createToolMetrics(instruments, 'hand'),
    measured: (storage) => measureStorage(storage, { instruments, clock }),
    watch(runs) {
      watched = runs
    },
  }
}

/** Returns the descriptions of all metrics in the order of `/metrics`. */
export function describeMetrics(): readonly MetricDescription[] {
  return createInstruments(new MetricRegistry()).registry.describe()
}

/** Creates the counters of tool calls. Agent roles are not labels, because callers can choose them. */
function createToolMetrics(
  { toolCalls, toolDuration, toolCounter, toolValue }: Instruments,
  by: 'agent' | 'hand',
): ToolMetrics {
  return {
    countCall({ toolName: tool }, outcome, durationMs) {
      toolCalls.add({ tool, outcome, by })
      toolDuration.observe({ tool }, durationMs / 1_000)
    },
    increment({ toolName: tool }, name, count) {
      toolCounter.add({ tool, name }, count)
    },
    record({ toolName: tool }, name, value) {
      toolValue.observe({ tool, name }, value)
    },
  }
}
