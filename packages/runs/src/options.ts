/** Limits of durable runs and their defaults. */
import { silentLogger, systemClock, type Clock, type Logger } from '@tutti/core'

import { DEFAULT_TICK_MS } from './group-commit.ts'

/** How a run service behaves. */
export interface RunServiceOptions {
  /** Runs executing at the same time, at least 1. @default 5 */
  readonly maxConcurrentRuns?: number
  /** Runs waiting for their turn; one more is refused. 0 lets none wait. @default 100 */
  readonly maxQueuedRuns?: number
  /** How long tokens may wait to be written together, in milliseconds. @default 25 */
  readonly tickMs?: number
  readonly clock?: Clock
  readonly logger?: Logger
}

/** The same with every value present. */
export type ResolvedRunServiceOptions = Required<RunServiceOptions>

const DEFAULTS = {
  // As AgentEnsemble: enough to use a provider well, few enough to notice a mistake in time.
  maxConcurrentRuns: 5,
  // A burst of submits is taken; a flood is told to come back.
  maxQueuedRuns: 100,
  tickMs: DEFAULT_TICK_MS,
} as const

/**
 * Fills and checks options.
 *
 * @throws {RangeError} naming every value that is out of range.
 */
export function resolveRunServiceOptions(options: RunServiceOptions): ResolvedRunServiceOptions {
  const resolved = { clock: systemClock, logger: silentLogger, ...DEFAULTS, ...options }
  const { maxConcurrentRuns, maxQueuedRuns, tickMs } = resolved
  const problems: string[] = []
  if (!Number.isInteger(maxConcurrentRuns) || maxConcurrentRuns < 1) {
    problems.push(`maxConcurrentRuns must be an integer >= 1, got ${maxConcurrentRuns}`)
  }
  if (!Number.isInteger(maxQueuedRuns) || maxQueuedRuns < 0) {
    problems.push(`maxQueuedRuns must be an integer >= 0, got ${maxQueuedRuns}`)
  }
  if (!(tickMs >= 0)) problems.push(`tickMs must be >= 0, got ${tickMs}`)
  if (problems.length > 0) throw new RangeError(`Cannot start runs: ${problems.join('; ')}`)
  return resolved
}
