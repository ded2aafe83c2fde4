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
  /**
   * Name of a tier, such as `fast` → alias of its model. A tier named `fallback` takes the place of the fallback models of
   * ensembles; `primary` always means the models of the tasks. @default none
   */
  readonly modelTiers?: Readonly<Record<string, string>>
  /** Profiles that the directive APPLY_PROFILE applies to runs, by name. @default none */
  readonly profiles?: Readonly<Record<string, ProfileConfig>>
  readonly limits?: LimitsConfig
  readonly auth?: AuthConfig
  /** Host names under which the server is reached, beside loopback. @default none */
  readonly allowedHosts?: readonly string[]
  /**
   * Address under which others reach the server, as its A2A cards say it, such as `https://agents.example.com`.
   * @default the address of each request
   */
  readonly publicUrl?: string
  /**
   * Origins of web pages that may call, such as `https://app.example.com`. A server on loopback is open to the pages of
   * this machine, at any port. @default none
   */
  readonly allowedOrigins?: readonly string[]
  /** Directory whose files are shown, from the working directory on. @default none */
  readonly workspace?: string
  /** Whether browsers get the dashboard at `/`. @default true */
  readonly dashboard?: boolean
  /** What peers may ask for; the other ensembles and tools are not for them. @default everything */
  readonly shared?: SharedConfig
  /** Time, role and action on timeout of reviews that do not set them, in every ensemble. @default 5 minutes, then EXIT_EARLY */
  readonly reviews?: ReviewsConfig
  /** Webhooks that runs may name in `webhooks`, by that name. @default none */
  readonly webhooks?: Readonly<Record<string, WebhookConfig>>
  /** More values that no log, error or event may show, each of at least 8 characters. @default none */
  readonly secrets?: readonly string[]
  /** What is sent of runs to a collector of OpenTelemetry. @default what the variables `OTEL_…` say, else nothing */
  readonly telemetry?: TelemetryConfig
}

/** A profile of runs. */
export interface ProfileConfig {
  /** Name of the tier that the models of a run switch to: of `modelTiers`, or PRIMARY or FALLBACK. */
  readonly modelTier: string
}

/** What is sent to a collector. */
export interface TelemetryConfig {
  /**
   * Whether the traces of runs are sent; `true` is to where the environment says, else to a collector on this
   * machine. @default to where the environment says, if it does
   */
  readonly traces?: boolean | TracesConfig
  /** Whether traces hold what models, tools and people say. It may be private. @default false */
  readonly captureContent?: boolean
}

/** Where traces are sent; what is left out is what the environment says. */
export interface TracesConfig {
  /** Address that takes OTLP over HTTP, such as `https://collector.example.com/v1/traces`. */
  readonly url?: string
  /** Headers of what is sent; their values are secrets. */
  readonly headers?: Readonly<Record<string, string>>
  /** How this server is called there. @default 'tutti' */
  readonly serviceName?: string
  /** How many of the traces that begin here are recorded, from 0 to 1. @default 1 */
  readonly sampleRatio?: number
}

/** Limits of a server. */
export interface LimitsConfig {
  /** Runs executing at the same time, over all processes on one database. @default 5 */
  readonly maxConcurrentRuns?: number
  /** Runs executing at the same time in this process. @default maxConcurrentRuns */
  readonly maxRunsPerProcess?: number
  /** Runs waiting for their turn. @default 100 */
  readonly maxQueuedRuns?: number
  /** Ended runs that are retained; older ones are deleted with their events. @default no limit */
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
  /** Names and values of all inputs of a run, in bytes. @default 1000000 */
  readonly maxInputBytes?: number
  /** One text of a task with its inputs, in bytes. @default 2000000 */
  readonly maxTextBytes?: number
  /** All texts of the tasks of a run with their inputs, in bytes. @default 8000000 */
  readonly maxRunTextBytes?: number
  /** One event of a run, in bytes; a run with a larger one fails. @default 16000000 */
  readonly maxEventBytes?: number
  /** Events and steps of a run while one process executes it, in bytes; a larger run fails. @default 64000000 */
  readonly maxStoredRunBytes?: number
  /** Tools called by hand at the same time. @default 32 */
  readonly maxToolCalls?: number
  /** Entries of the audit trail that are kept. @default 100000 */
  readonly maxAuditEntries?: number
  /** Connections at the same time, WebSockets among them. @default 5000 */
  readonly maxConnections?: number
  /**
   * Connections of one address at the same time. Behind a proxy all connections have its address: set it to
   * `maxConnections` there. @default 1000
   */
  readonly maxConnectionsPerAddress?: number
  /**
   * Data that may wait for all slow readers together, in bytes. Beyond it the connections with the most are closed.
   * @default 33554432
   */
  readonly maxUnreadBytes?: number
  /** Largest trace or task graph, measured by the events it is made of, in bytes. @default 8000000 */
  readonly maxTraceBytes?: number
  /** WebSocket connections at the same time. @default 2000 */
  readonly maxSockets?: number
  /**
   * How long the server takes to stop, in milliseconds. Until then running runs may end, or on a database
   * hand themselves over to another process. @default 10000
   */
  readonly drainTimeoutMs?: number
}

/** Who may call a server. */
export interface AuthConfig {
  /** Keys of which every request must carry one, beside those of TUTTI_API_KEYS. @default none */
  readonly keys?: readonly KeyConfig[]
  /**
   * Listen on other addresses than loopback although no keys are set: anyone who reaches the port can
   * start runs and spend money. @default false
   */
  readonly allowUnauthenticated?: boolean
}

/** A key, as a config file tells of it: by its hash, or itself where the file gets it from elsewhere. */
export interface KeyConfig {
  /** Who it stands for, in runs, events and the audit trail. */
  readonly name: string
  /** The key: at least 16 characters without spaces. */
  readonly key?: string
  /** SHA-256 of the key, in hex, in place of the key. */
  readonly sha256?: string
  /** What it may do. @default everything but `admin` */
  readonly scopes?: readonly KeyScope[]
  /** Roles of its holder: a review that requires a role is decided only by a key that has it. @default none */
  readonly roles?: readonly string[]
  /** From when on it is refused: milliseconds since 1970, or a time as ISO 8601. @default never */
  readonly expiresAt?: number | string
  /** What it may use. @default no limits */
  readonly limits?: KeyLimitsConfig
}

// NOTE: these are written out and not taken from the packages that use them, whose types would otherwise
// all become part of this package's declarations.

/** Defaults for the reviews of all ensembles. */
export interface ReviewsConfig {
  /** Time limit for the reviewer, in milliseconds; Infinity waits for ever. @default 300000 */
  readonly timeoutMs?: number
  /** Action when no decision arrives in time. @default EXIT_EARLY */
  readonly onTimeout?: 'CONTINUE' | 'EXIT_EARLY' | 'FAIL'
  /** Role that the key of the reviewer must have. @default any key may decide */
  readonly requiredRole?: string
  /** Whether a request may remove or relax reviews that the ensembles require. @default false */
  readonly allowOverride?: boolean
}

/** What a key may do; `admin` is everything. */
export type KeyScope =
  | 'runs:read'
  | 'runs:write'
  | 'runs:control'
  | 'reviews:decide'
  | 'tools:invoke'
  | 'admin'

/** What one key may use. */
export interface KeyLimitsConfig {
  /** Runs of it that have not ended. @default no limit */
  readonly maxUnfinishedRuns?: number
  /** Requests and messages a minute, to each process. @default no limit */
  readonly requestsPerMinute?: number
  /** What its runs may cost within 24 hours, in US dollars; a run is refused when that is reached. @default no limit */
  readonly maxCostUsdPerDay?: number
}

/** Somebody who is told what becomes of runs. */
export interface WebhookConfig {
  /** Where to send it: an `http` or `https` address. */
  readonly url: string
  /** Signs what is sent: `whsec_` and 24 to 64 bytes in base64. @see https://www.standardwebhooks.com */
  readonly secret: string
  /** What it is told of. @default everything */
  readonly events?: readonly WebhookEvent[]
}

/** What a webhook can be told of. */
export type WebhookEvent = 'run.completed' | 'run.failed' | 'run.cancelled' | 'review.requested'

/** What peers may ask for, by name. */
export interface SharedConfig {
  readonly ensembles?: readonly string[]
  readonly tools?: readonly string[]
  /** Name of a shared ensemble or tool → the tags by which peers can query for it. @default no tags */
  readonly tags?: Readonly<Record<string, readonly string[]>>
}

/** Gives `config` back; its parameter type is what an editor completes. */
export function defineConfig(config: TuttiConfig): TuttiConfig {
  return config
}
