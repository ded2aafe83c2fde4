/**
 * The metrics of a server: made before its parts, handed to each of them, read at `/metrics`.
 *
 *   storage ─ measured ─▶ RunService ─ listeners ─▶ instruments ─▶ registry ─▶ text
 *                         control API ─────────────▶    ▲
 *                         process, store ── when read ──┘
 */
import { systemClock, type Clock, type ToolMetrics } from '@tutti/core'

import { createInstruments, type Instruments } from './instruments.ts'
import { measureStorage } from './measured-storage.ts'
import { MetricRegistry, type MetricDescription } from './registry.ts'
import { createRunListeners, type RunListeners } from './run-listeners.ts'

import type { RunService, RunStorage } from '@tutti/runs'

/** How metrics are made. */
export interface ServerMetricsOptions {
  /** Told in `tutti_build_info`. @default 'unknown' */
  readonly version?: string
  /** What the process does, told in the same place. @default 'all' */
  readonly role?: string
  /** How long figures of the store are good, in milliseconds. @default 2000 */
  readonly cacheMs?: number
  readonly clock?: Clock
}

/** What counts, for the parts of one server. */
export interface ServerMetrics {
  /** Options of the run service, which then tells what its runs do. */
  readonly runs: RunListeners & { readonly toolMetrics: ToolMetrics }
  /** Where tool calls by hand are counted. */
  readonly byHand: ToolMetrics
  readonly instruments: Instruments
  readonly cacheMs: number
  /** A storage that is measured. */
  measured(storage: RunStorage): RunStorage
  /** Says of which run service the figures are. */
  watch(runs: RunService): void
}

/** Some scrapers ask at the same time, none more often. */
const DEFAULT_CACHE_MS = 2_000

/** Makes the metrics of one server. */
export function serverMetrics(options: ServerMetricsOptions = {}): ServerMetrics {
  const { clock = systemClock, cacheMs = DEFAULT_CACHE_MS } = options
  const instruments = createInstruments(new MetricRegistry())
  const { version = 'unknown', role = 'all' } = options
  instruments.build.set({ version, node_version: process.versions.node, role }, 1)
  let watched: RunService | undefined
  const openedAt = async (reviewId: string): Promise<number | undefined> =>
    (await watched?.review(reviewId))?.openedAt
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

/** What is said of every metric, in the order in which `/metrics` tells them. */
export function describeMetrics(): readonly MetricDescription[] {
  return createInstruments(new MetricRegistry()).registry.describe()
}

/**
 * Where tool calls are counted. Roles of agents are left out: requests bring their own, and a label must not hold what
 * they say.
 */
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
