/** Options of the gateway, provided by the server that mounts it. */
import type { AuditRecorder } from './http/audited.ts'
import type { Redactor, ErrorMetrics } from './http/on-error.ts'
import type { LargeReads } from './http/large-reads.ts'
import type { Clock, Logger, ToolCatalog, ToolMetrics } from '@tutti/core'
import type { ModelCatalog } from '@tutti/ensemble'
import type { RunService } from '@tutti/runs'

/** Version of the API that agent cards and MCP servers state; it grows with breaking changes only. */
export const API_VERSION = '1.0.0'

/** The runs, tools and models of a server, and those that peers may use. */
export interface Sharing {
  readonly runs: RunService
  readonly tools: ToolCatalog
  readonly models: ModelCatalog
  readonly shared: Shared | undefined
}

/** Names of the ensembles, tools and models that peers may use; absent for all. */
export interface Shared {
  readonly ensembles?: readonly string[]
  readonly tools?: readonly string[]
  /** Aliases of the model catalog that clients may name as their model. */
  readonly models?: readonly string[]
  /**
   * Names of ensembles and aliases for which OpenAI's APIs ignore the parameters of sampling, such as `temperature`, and
   * for ensembles also limits of output tokens. @default none: such parameters are refused
   */
  readonly ignoreSampling?: readonly string[]
  /** Name of a shared ensemble or tool → the tags by which peers can query for it. @default no tags */
  readonly tags?: Readonly<Record<string, readonly string[]>>
}

/** An API key to which signatures are bound. */
export interface SigningKey {
  readonly name: string
  /** SHA-256 of the key, in hex. */
  readonly sha256: string
}

/** Derives signing keys. */
export interface Signer {
  /** Returns the key for signatures of one purpose on behalf of `key`, or of an anonymous caller. */
  signingKey(purpose: string, key: SigningKey | undefined): Buffer
}

/** Resources and limits of the server. */
export interface ServerResources {
  readonly clock: Clock
  readonly logger: Logger
  readonly redactor: Redactor
  readonly metrics: ErrorMetrics
  readonly trail: AuditRecorder
  /** Limits the number of large answers that are built at the same time. */
  readonly reads: LargeReads
  /** Maximum size of a request body, in bytes. */
  readonly maxBodyBytes: number
  /** Interval of heartbeats on quiet connections, in milliseconds. */
  readonly heartbeatMs: number
}

export interface GatewayOptions extends Sharing, ServerResources {
  /** Public URL of the server; undefined for the origin of each request. */
  readonly publicUrl: string | undefined
  /** API keys of the server; with none, every caller is anonymous. */
  readonly apiKeys: readonly SigningKey[]
  /** Webhooks that runs may name. */
  readonly webhooks: Readonly<Record<string, unknown>>
  /** Maximum number of tool calls outside of runs at the same time. */
  readonly maxToolCalls: number
  /** Counts tool calls outside of runs. */
  readonly toolMetrics: ToolMetrics | undefined
}
