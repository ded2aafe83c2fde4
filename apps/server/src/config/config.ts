/** The configuration of a server in `tutti.config.ts`. */
import type { AgentTool } from '@tutti/core'
import type { Ensemble } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'
import type { ConfiguredSchedule } from '@tutti/runs'

/** The configuration of a server. */
export interface TuttiConfig {
  /** Ensembles that requests may name, at least one. The first is the default. */
  readonly ensembles: readonly Ensemble[]
  /**
   * The catalog: tools that requests may name, and that callers with `tools:invoke` and MCP clients call directly, without
   * the budget, the guardrails and the order of an ensemble. Tools of tasks need not be listed. @default none
   */
  readonly tools?: readonly AgentTool[]
  /**
   * Models that requests may name, by alias: a model, or a string such as `anthropic:claude-haiku-4-5`
   * that LangChain resolves. @default none
   */
  readonly models?: Readonly<Record<string, ChatModel | string>>
  /**
   * Name of a tier, such as `fast` → alias of its model. A tier named `fallback` replaces the fallback models of ensembles;
   * `primary` always means the models of the tasks. @default none
   */
  readonly modelTiers?: Readonly<Record<string, string>>
  /** Profiles that the directive APPLY_PROFILE applies to runs, by name. @default none */
  readonly profiles?: Readonly<Record<string, ProfileConfig>>
  /** Limits on runs, requests and connections. */
  readonly limits?: LimitsConfig
  /** Keys of callers. */
  readonly auth?: AuthConfig
  /** Host names of the server, in addition to loopback. @default none */
  readonly allowedHosts?: readonly string[]
  /**
   * Public address of the server on its A2A cards and in callback URLs, such as `https://agents.example.com`.
   * @default the address of each request on cards, and no callback URLs
   */
  readonly publicUrl?: string
  /**
   * Origins of web pages that may call the server, such as `https://app.example.com`. A server on loopback also accepts
   * pages from this machine, on any port. @default none
   */
  readonly allowedOrigins?: readonly string[]
  /** Directory whose files the API shows, relative to the working directory. @default none */
  readonly workspace?: string
  /** Whether the server shows the dashboard to browsers at `/`. @default true */
  readonly dashboard?: boolean
  /** Ensembles and tools that other agents may use over A2A and MCP. @default all */
  readonly shared?: SharedConfig
  /**
   * Time limit, action on timeout and role of reviews that do not set them, in every ensemble.
   * @default 5 minutes, then EXIT_EARLY
   */
  readonly reviews?: ReviewsConfig
  /** Webhooks by the names that requests use in `webhooks`. @default none */
  readonly webhooks?: Readonly<Record<string, WebhookConfig>>
  /**
   * Schedules: each submits a run at its ticks. They replace saved schedules of the same name, and can only be
   * changed here. Schedules that this list no longer has are deleted at the next start; saved ones stay. @default none
   */
  readonly schedules?: readonly ConfiguredSchedule[]
  /** Additional values to redact from logs, errors and events, each of at least 8 characters. @default none */
  readonly secrets?: readonly string[]
  /** Traces of runs for an OpenTelemetry collector. @default as set by the `OTEL_…` variables; without them no traces */
  readonly telemetry?: TelemetryConfig
}

/** A profile of runs. */
export interface ProfileConfig {
  /** Tier that the models of a run switch to: a name in `modelTiers`, PRIMARY or FALLBACK. */
  readonly modelTier: string
}

/** Export of traces to a collector. */
export interface TelemetryConfig {
  /**
   * Whether to send traces, or where. `true` sends them to the collector in the environment, otherwise to one on this
   * machine. @default true if the environment names a collector, otherwise false
   */
  readonly traces?: boolean | TracesConfig
  /** Whether traces contain prompts, answers and tool output, which may be private. @default false */
  readonly captureContent?: boolean
  /**
   * Maximum number of tasks with spans that one task adds; in a run, ten times as many. Others are counted on the span of
   * the task that added them. @default 100
   */
  readonly maxAddedTasks?: number
}

/** Collector of traces. Missing fields are taken from the environment. */
export interface TracesConfig {
  /** Address that receives OTLP over HTTP, such as `https://collector.example.com/v1/traces`. */
  readonly url?: string
  /** Headers of the requests; their values are redacted like secrets. */
  readonly headers?: Readonly<Record<string, string>>
  /** Name of this server in the traces. @default 'tutti' */
  readonly serviceName?: string
  /** Share of the traces that start here to record, from 0 to 1. @default 1 */
  readonly sampleRatio?: number
}

/** Limits of a server. Requests beyond a limit are rejected. */
export interface LimitsConfig {
  /** Maximum number of runs that execute at the same time, in all processes on one database. @default 5 */
  readonly maxConcurrentRuns?: number
  /** Maximum number of runs that execute at the same time in this process. @default maxConcurrentRuns */
  readonly maxRunsPerProcess?: number
  /** Maximum number of runs in the queue. @default 100 */
  readonly maxQueuedRuns?: number
  /**
   * Maximum number of ended runs that are retained; older ones are deleted with their events. Infinity retains all.
   * @default 1000000 in the embedded store, no limit in Postgres
   */
  readonly maxRetainedRuns?: number
  /** Retention time of ended runs, in milliseconds. @default no limit */
  readonly maxRetainedAgeMs?: number
  /**
   * Time that the steps of ended runs are retained, in milliseconds, at least 60000. Without its steps, a run cannot be
   * forked or replayed. @default as long as the run
   */
  readonly maxRetainedStepsMs?: number
  /**
   * Maximum number of stored events that nothing waits for; further ones are refused. One API key can fill half of the room that
   * the others leave. @default 10000
   */
  readonly maxStoredEvents?: number
  /** Time for which external events are stored, in milliseconds. @default 604800000, which is 7 days */
  readonly maxStoredEventAgeMs?: number
  /** Maximum number of earlier runs of its thread whose messages a run gets. @default 100 */
  readonly maxHistoryRuns?: number
  /** Maximum size of those messages, in bytes of JSON. @default 200000 */
  readonly maxHistoryBytes?: number
  /**
   * Time without a heartbeat after which other processes take over the runs of this one, in milliseconds, at least
   * 1000. It has no effect with the embedded store. @default 10000
   */
  readonly leaseMs?: number
  /** Maximum size of a request body, in bytes. @default 1000000 */
  readonly maxBodyBytes?: number
  /** Maximum size of the names and values of all inputs of a run, in bytes. @default 1000000 */
  readonly maxInputBytes?: number
  /** Maximum size of one text of a task with its inputs, in bytes. @default 2000000 */
  readonly maxTextBytes?: number
  /** Maximum size of all texts of the tasks of a run with their inputs, in bytes. @default 8000000 */
  readonly maxRunTextBytes?: number
  /** Maximum size of an event, in bytes; a run with a larger event fails. @default 16000000 */
  readonly maxEventBytes?: number
  /**
   * Maximum size of the events and steps of a run while one process executes it, in bytes; a larger run fails.
   * @default 64000000
   */
  readonly maxStoredRunBytes?: number
  /**
   * Maximum number of bytes in flight in this process: bodies of requests and messages, waiting reads, answers, and
   * inputs of runs that execute. Above it, requests get 503; one key gets at most half. @default 1/16 of V8's heap limit
   */
  readonly maxBytesInFlight?: number
  /** Maximum number of direct tool calls at the same time. @default 32 */
  readonly maxToolCalls?: number
  /** Maximum number of entries in the audit trail; older ones are deleted. @default 100000 */
  readonly maxAuditEntries?: number
  /** Maximum number of connections at the same time, including WebSockets. @default 5000 */
  readonly maxConnections?: number
  /**
   * Maximum number of connections from one address at the same time. Behind a proxy, all connections have its address,
   * so set this limit to `maxConnections`. @default 1000
   */
  readonly maxConnectionsPerAddress?: number
  /**
   * Maximum size of the data that waits for slow readers, in bytes. Beyond it, the server closes the connections with
   * the most waiting data. @default 33554432
   */
  readonly maxUnreadBytes?: number
  /** Maximum size of a trace or task graph, measured by the events that it is built from, in bytes. @default 8000000 */
  readonly maxTraceBytes?: number
  /** Maximum number of WebSocket connections at the same time. @default 2000 */
  readonly maxSockets?: number
  /**
   * Time that the server waits for running runs when it stops, in milliseconds. Meanwhile they can end or, with
   * Postgres, be handed over to another process. @default 10000
   */
  readonly drainTimeoutMs?: number
}

/** Keys of the callers of a server. */
export interface AuthConfig {
  /** API keys, in addition to those of TUTTI_API_KEYS. Every request must carry one. @default none */
  readonly keys?: readonly KeyConfig[]
  /**
   * Whether the server may listen on addresses other than loopback without keys: anyone who can reach the port can then
   * start runs and spend money. @default false
   */
  readonly allowUnauthenticated?: boolean
}

/** A key: its hash, or the key itself if the config file reads it from elsewhere. */
export interface KeyConfig {
  /** Name of the caller in runs, events and the audit trail. */
  readonly name: string
  /** The key: at least 16 characters without spaces. */
  readonly key?: string
  /** SHA-256 of the key in hexadecimal digits, instead of the key. */
  readonly sha256?: string
  /** Scopes of the key. @default all but `admin` */
  readonly scopes?: readonly KeyScope[]
  /** Roles of the caller: only a key with a role can decide a review that requires it. @default none */
  readonly roles?: readonly string[]
  /** Time from which the key is rejected: milliseconds since 1970, or an ISO 8601 time. @default never */
  readonly expiresAt?: number | string
  /** Limits of the key. @default no limits */
  readonly limits?: KeyLimitsConfig
}

// NOTE: these types repeat those of other packages, whose declarations would otherwise all become part of this
// package's declarations.

/** Defaults for the reviews of all ensembles. */
export interface ReviewsConfig {
  /** Time limit for the reviewer, in milliseconds; Infinity sets no limit. @default 300000 */
  readonly timeoutMs?: number
  /** Action when no decision arrives in time. @default EXIT_EARLY */
  readonly onTimeout?: 'CONTINUE' | 'EXIT_EARLY' | 'FAIL'
  /** Role that the key of the reviewer must have. @default any key may decide */
  readonly requiredRole?: string
  /** Whether a request may remove or relax reviews that the ensembles require. @default false */
  readonly allowOverride?: boolean
}

/** Scope of a key; `admin` includes all others. */
export type KeyScope =
  | 'runs:read'
  | 'runs:write'
  | 'runs:control'
  | 'reviews:decide'
  | 'events:send'
  | 'tools:invoke'
  | 'admin'

export interface KeyLimitsConfig {
  /** Maximum number of unfinished runs of the key. @default no limit */
  readonly maxUnfinishedRuns?: number
  /** Maximum number of requests and messages per minute, for each process. @default no limit */
  readonly requestsPerMinute?: number
  /** Maximum cost of the key's runs within 24 hours, in US dollars; then new runs are rejected. @default no limit */
  readonly maxCostUsdPerDay?: number
  /**
   * Highest priority of the key's runs: `low`, `normal` or `high`. Without a priority, its runs have the normal one, or this
   * one if it is lower. @default 'high'
   */
  readonly maxPriority?: 'low' | 'normal' | 'high'
}

/** A receiver of notifications about runs. */
export interface WebhookConfig {
  /** Address of the receiver, with `http` or `https`. */
  readonly url: string
  /** Secret that signs the notifications: `whsec_` and 24 to 64 bytes in base64. @see https://www.standardwebhooks.com */
  readonly secret: string
  /** Types of notifications to send. @default all */
  readonly events?: readonly WebhookEvent[]
}

/** Type of a notification. */
export type WebhookEvent = 'run.completed' | 'run.failed' | 'run.cancelled' | 'review.requested'

/** Ensembles, tools and models that clients of other protocols, such as A2A, MCP and OpenAI's API, may use, by name. */
export interface SharedConfig {
  /** Names of shared ensembles. @default all */
  readonly ensembles?: readonly string[]
  /** Names of shared tools, among the `tools` of the config. @default all of them */
  readonly tools?: readonly string[]
  /** Aliases of models that clients may name in place of an ensemble. @default all */
  readonly models?: readonly string[]
  /**
   * Names of ensembles and aliases for which OpenAI's APIs ignore the parameters of sampling (`temperature`, `top_p`,
   * `presence_penalty`, `frequency_penalty`, `seed`), and for ensembles also limits of output tokens. For clients that
   * send these by default. @default none: such parameters are refused
   */
  readonly ignoreSampling?: readonly string[]
  /** Name of a shared ensemble or tool → tags by which other agents can find it. @default no tags */
  readonly tags?: Readonly<Record<string, readonly string[]>>
}

/** Returns `config` unchanged; its type lets editors complete the settings. */
export function defineConfig(config: TuttiConfig): TuttiConfig {
  return config
}
