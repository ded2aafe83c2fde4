/** What an operator configures in `tutti.config.ts`. */
import type { AgentTool } from '@tutti/core'
import type { ChatModel, Ensemble } from '@tutti/ensemble'

/** The configuration of a server. */
export interface TuttiConfig {
  /** Ensembles that runs may name; the first is the default. At least one. */
  readonly ensembles: readonly Ensemble[]
  /** Tools that requests may name. @default none */
  readonly tools?: readonly AgentTool[]
  /**
   * Models that requests may name, by alias: a model, or a string such as `anthropic:claude-haiku-4-5`
   * that LangChain resolves. @default none
   */
  readonly models?: Readonly<Record<string, ChatModel | string>>
  readonly limits?: LimitsConfig
  readonly auth?: AuthConfig
  /** Host names under which the server is reached, beside loopback. @default none */
  readonly allowedHosts?: readonly string[]
}

/** Limits of a server. */
export interface LimitsConfig {
  /** Runs executing at the same time, over all processes on one database. @default 5 */
  readonly maxConcurrentRuns?: number
  /** Runs executing at the same time in this process. @default maxConcurrentRuns */
  readonly maxRunsPerProcess?: number
  /** Runs waiting for their turn. @default 100 */
  readonly maxQueuedRuns?: number
  /** Runs that are kept after they have ended; older ones are deleted with their events. @default 1000 */
  readonly maxRetainedRuns?: number
  /** How long runs are kept after they have ended, in milliseconds. @default without end */
  readonly maxRetainedAgeMs?: number
  /**
   * After what time without a sign of life other processes take the runs of this one over, in
   * milliseconds, at least 1000. Without effect on the embedded store. @default 10000
   */
  readonly leaseMs?: number
  /** Longest request body, in bytes. @default 1000000 */
  readonly maxBodyBytes?: number
  /**
   * How long the server takes to stop, in milliseconds. Until then running runs may end, or on a database
   * hand themselves over to another process. @default 10000
   */
  readonly drainTimeoutMs?: number
}

/** Who may call a server. */
export interface AuthConfig {
  /**
   * Listen on other addresses than loopback although no keys are set: anyone who reaches the port can
   * start runs and spend money. @default false
   */
  readonly allowUnauthenticated?: boolean
}

/** Gives `config` back; its parameter type is what an editor completes. */
export function defineConfig(config: TuttiConfig): TuttiConfig {
  return config
}
