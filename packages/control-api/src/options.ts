/** What a control API is made of, its limits and their defaults. */
import { silentLogger, systemClock, type Clock, type Logger, type ToolCatalog } from '@tutti/core'

import type { ModelCatalog } from '@tutti/ensemble'
import type { RunService } from '@tutti/runs'

/** Parts and limits of a control API. */
export interface ControlApiOptions {
  readonly runs: RunService
  /** Tools that requests may name. */
  readonly tools: ToolCatalog
  /** Models that requests may name. */
  readonly models: ModelCatalog
  /**
   * What is served: everything, or only liveness, readiness and status, for a process that takes no runs.
   * @default 'all'
   */
  readonly surface?: 'all' | 'health'
  /** Keys of which every request must carry one; none lets everybody in. @default [] */
  readonly apiKeys?: readonly string[]
  /**
   * Host names under which the server is reached, beside loopback; `*` allows every host and origin.
   * @default []
   */
  readonly allowedHosts?: readonly string[]
  /** Longest request body and longest WebSocket message, in bytes. @default 1000000 */
  readonly maxBodyBytes?: number
  /** Bytes that may wait for one slow WebSocket reader before it is closed. @default 4194304 */
  readonly maxBufferedBytes?: number
  /** Time between signs of life on quiet connections, in milliseconds. @default 15000 */
  readonly heartbeatMs?: number
  readonly clock?: Clock
  readonly logger?: Logger
}

/** The same with every value present. */
export type ResolvedControlApiOptions = Required<ControlApiOptions>

const DEFAULTS = {
  surface: 'all',
  apiKeys: [],
  allowedHosts: [],
  // AgentEnsemble's limit: a level 3 request with hundreds of tasks fits many times.
  maxBodyBytes: 1_000_000,
  maxBufferedBytes: 4 * 1024 * 1024,
  // Below the 60 s after which common proxies drop a quiet connection; AgentEnsemble's number.
  heartbeatMs: 15_000,
} as const

/** Fills options. */
export function resolveControlApiOptions(options: ControlApiOptions): ResolvedControlApiOptions {
  return { clock: systemClock, logger: silentLogger, ...DEFAULTS, ...options }
}
