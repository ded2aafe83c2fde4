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
  /** Runs executing at the same time. @default 5 */
  readonly maxConcurrentRuns?: number
  /** Runs waiting for their turn. @default 100 */
  readonly maxQueuedRuns?: number
  /** Longest request body, in bytes. @default 1000000 */
  readonly maxBodyBytes?: number
  /** How long running runs may go on when the server is told to stop, in milliseconds. @default 10000 */
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
