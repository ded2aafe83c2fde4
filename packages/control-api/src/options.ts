/** Options of a control API, their defaults and their validation. */
import { isAbsolute } from 'node:path'

import {
  systemClock,
  type Clock,
  type Logger,
  type ToolCatalog,
  type ToolMetrics,
} from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import {
  LargeReads,
  type Redactor,
  type ServerExtension,
  type Shared,
} from '@tutti/gateway/internal'
import { maximumOf, type WebhookEventType } from '@tutti/protocol/internal'

import { findAccessProblems } from './auth/access-problems.ts'
import { AuditTrail } from './audit/audit-trail.ts'
import { UnreadData } from './unread-data.ts'
import { serverMetrics, type ServerMetrics } from './metrics/server-metrics.ts'
import { redactor } from './secrets/redactor.ts'

import type { ApiKey } from './auth/keys.ts'
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
   * Routes that the process serves: all, or only liveness, readiness, status and metrics, for a process that accepts no
   * runs.
   * @default 'all'
   */
  readonly surface?: 'all' | 'health'
  /** API keys. Every request must carry one. With an empty list every caller may do everything. @default [] */
  readonly apiKeys?: readonly ApiKey[]
  /**
   * Host names under which callers reach the server, in addition to loopback. `*` allows every host, and web pages
   * whose origin is the host that they call.
   * @default []
   */
  readonly allowedHosts?: readonly string[]
  /**
   * Address of the server in its agent card, such as `https://agents.example.com`. It may have a path, which precedes
   * those of the server.
   * @default the address of each request
   */
  readonly publicUrl?: string | undefined
  /**
   * Origins of web pages that may call the server, such as `https://app.example.com`. Pages of `allowedHosts` may
   * always call it; pages of this machine may if the server listens on loopback.
   * @default []
   */
  readonly allowedOrigins?: readonly string[]
  /** Absolute path of the directory whose files callers can read. @default none */
  readonly workspace?: string | undefined
  /**
   * Absolute path of the built dashboard, whose `index.html` browsers get at `/`. The server reads it once, at its
   * start. @default none: browsers get the text that other clients get
   */
  readonly dashboard?: string | undefined
  /**
   * Protocols that the server speaks in addition to its own, from the `@tutti/compat-…`
   * packages. @default []
   */
  readonly extensions?: readonly ServerExtension[]
  /** Webhooks that runs may name. @default {} */
  readonly webhooks?: Readonly<Record<string, Webhook>>
  /** Ensembles and tools that other agents may use. @default all */
  readonly shared?: Shared | undefined
  /** Maximum number of direct tool calls in flight, over all protocols. @default 32 */
  readonly maxToolCalls?: number
  /** Metrics that `/metrics` serves. @default new metrics that do not count the work of runs */
  readonly metrics?: ServerMetrics
  /** Receives the counts of direct tool calls. @default `metrics` */
  readonly toolMetrics?: ToolMetrics | undefined
  /** Called by `POST /api/lifecycle/drain`; stops the server after all runs have ended or been handed over. */
  readonly drain?: (() => void) | undefined
  /** Maximum size of a request body and of a WebSocket message, in bytes. @default 1000000 */
  readonly maxBodyBytes?: number
  /** Maximum number of unsent bytes of one WebSocket; the server closes a slower reader. @default 4194304 */
  readonly maxBufferedBytes?: number
  /**
   * Maximum number of unsent bytes of all connections together. Beyond it the server closes those with the most.
   * @default 33554432
   */
  readonly maxUnreadBytes?: number
  /** Time between heartbeats on open streams, in milliseconds. @default 15000 */
  readonly heartbeatMs?: number
  /**
   * Secret that signs tickets, at least 32 characters; the same in every process of a server.
   * @default a random secret that the run store creates and its processes share
   */
  readonly ticketSecret?: string | undefined
  /** Validity of a ticket in milliseconds: long enough to open a connection. @default 60000 */
  readonly ticketTtlMs?: number
  /** Maximum number of requests per minute and address with an invalid key or none. @default 300 */
  readonly maxRefusedKeysPerMinute?: number
  /** Number of audit entries to retain; older ones are deleted from time to time. @default 100000 */
  readonly maxAuditEntries?: number
  /** Maximum number of open connections, including WebSockets. @default 5000 */
  readonly maxConnections?: number
  /**
   * Maximum number of open connections of one address. Behind a proxy, set it to `maxConnections`, because all
   * connections have the address of the proxy. @default 1000
   */
  readonly maxConnectionsPerAddress?: number
  /** Maximum number of open WebSockets. @default 2000 */
  readonly maxSockets?: number
  /** Maximum size of request line and headers together, in bytes. @default 16384 */
  readonly maxHeaderBytes?: number
  /** Maximum number of header lines of a request. @default 100 */
  readonly maxHeaders?: number
  /** Time within which the headers of a request must arrive, in milliseconds. @default 10000 */
  readonly headersTimeoutMs?: number
  /** Time within which a whole request must arrive, in milliseconds. Responses have no limit. @default 60000 */
  readonly requestTimeoutMs?: number
  /** Time after which an idle keep-alive connection is closed, in milliseconds. @default 65000 */
  readonly keepAliveTimeoutMs?: number
  /** Time after which a connection is closed if its client does not read, in milliseconds. @default 30000 */
  readonly stalledReaderMs?: number
  /** Removes secrets from errors and from runs before callers get them. @default removes nothing */
  readonly redactor?: Redactor
  readonly clock?: Clock
  readonly logger?: Logger
}

/** Receiver of notifications about runs. */
export interface Webhook {
  /** Address of the receiver: `https`, or `http` in the operator's own network. */
  readonly url: string
  /** Secret that signs deliveries: `whsec_` and 24 to 64 bytes in base64. @see https://www.standardwebhooks.com */
  readonly secret: string
  /** Events to deliver. @default all */
  readonly events?: readonly WebhookEventType[]
}

/** Options with every value present, and the parts that the control API creates from them. */
export type ResolvedControlApiOptions = Required<ControlApiOptions> & {
  /** Records the actions of callers. */
  readonly trail: AuditTrail
  /** Limits the unsent data of all connections. */
  readonly unread: UnreadData
  /** Limits the number of large responses that are built at the same time. */
  readonly reads: LargeReads
}

const DEFAULTS = {
  surface: 'all',
  apiKeys: [],
  allowedHosts: [],
  publicUrl: undefined,
  allowedOrigins: [],
  workspace: undefined,
  dashboard: undefined,
  extensions: [],
  webhooks: {},
  shared: undefined,
  drain: undefined,
  // A call mostly waits for a network. A heavier load should be a run.
  maxToolCalls: 32,
  // A task graph of hundreds of tasks is far smaller.
  maxBodyBytes: 1_000_000,
  maxBufferedBytes: 4 * 1024 * 1024,
  // A tenth of the memory of a small process; building one byte takes up to four bytes before it is on the socket.
  maxUnreadBytes: 32 * 1024 * 1024,
  // Below the 60 s after which common proxies drop a quiet connection.
  heartbeatMs: 15_000,
  ticketSecret: undefined,
  ticketTtlMs: 60_000,
  // A page with a stale key that polls every second stays below it; it is far too low for guessing keys.
  maxRefusedKeysPerMinute: 300,
  maxAuditEntries: 100_000,
  maxConnections: 5_000,
  // More than a browser, a load test or a machine full of agents opens; a fifth of maxConnections.
  maxConnectionsPerAddress: 1_000,
  maxSockets: 2_000,
  // Node's default; browsers and proxies send less.
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
  headersTimeoutMs: 10_000,
  // Enough for the largest body at 20 kB/s.
  requestTimeoutMs: 60_000,
  // Longer than the 60 s of common load balancers, which otherwise send on a connection that is being closed.
  keepAliveTimeoutMs: 65_000,
  // Two heartbeats of an event stream.
  stalledReaderMs: 30_000,
} as const

type Limits = Pick<
  ResolvedControlApiOptions,
  {
    [K in keyof ResolvedControlApiOptions]: ResolvedControlApiOptions[K] extends number ? K : never
  }[keyof ResolvedControlApiOptions]
>

/** Minimum of each limit. Limits that are not times are integers. */
const MINIMUMS: Readonly<Record<keyof Limits, number>> = {
  maxToolCalls: 0,
  maxBodyBytes: 1,
  maxBufferedBytes: 1,
  maxUnreadBytes: 1,
  heartbeatMs: 1,
  ticketTtlMs: 1,
  maxRefusedKeysPerMinute: 1,
  maxAuditEntries: 0,
  maxConnections: 1,
  maxConnectionsPerAddress: 1,
  maxSockets: 0,
  maxHeaderBytes: 1_024,
  maxHeaders: 1,
  headersTimeoutMs: 1,
  requestTimeoutMs: 1,
  keepAliveTimeoutMs: 1,
  stalledReaderMs: 1,
}

/** Maximum of the times that Node counts itself: its timers have 31 bits, and it adds a second to some. */
const MAX_NODE_TIMER_MS = 2_147_000_000

/** Limits whose maximum is less than that of their unit. */
const MAXIMUMS: ReadonlyMap<string, number> = new Map([
  ['headersTimeoutMs', MAX_NODE_TIMER_MS],
  ['requestTimeoutMs', MAX_NODE_TIMER_MS],
  ['keepAliveTimeoutMs', MAX_NODE_TIMER_MS],
])

/**
 * Validates options and adds defaults.
 *
 * @throws {RangeError} naming every invalid option; it does not contain keys.
 */
export function resolveControlApiOptions(options: ControlApiOptions): ResolvedControlApiOptions {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const metrics = options.metrics ?? serverMetrics()
  const filled: Required<ControlApiOptions> = {
    metrics,
    toolMetrics: metrics.byHand,
    clock: systemClock,
    logger: silentLogger,
    redactor: redactor([]),
    ...DEFAULTS,
    ...options,
    ...Object.fromEntries(given),
  }
  const problems = [
    ...findLimitProblems(filled),
    ...findAccessProblems(filled),
    ...findDashboardProblems(filled),
    ...findExtensionProblems(filled),
    ...findBudgetProblems(filled),
  ]
  if (problems.length > 0) {
    throw new RangeError(`Cannot serve the control API: ${problems.join('; ')}`)
  }
  const unread = new UnreadData({
    maxUnreadBytes: filled.maxUnreadBytes,
    elapsed: () => filled.clock.elapsed(),
    onDrop: () => {
      metrics.instruments.readerDrops.add({ transport: 'unread_limit' })
    },
  })
  const reads = new LargeReads(() => {
    unread.makeRoom()
  }, filled.runs.budget)
  return { ...filled, trail: createAuditTrail(filled), unread, reads }
}

function createAuditTrail({
  runs,
  clock,
  logger,
  maxAuditEntries,
  metrics,
}: Required<ControlApiOptions>): AuditTrail {
  const isClosing = (): boolean => runs.status.state === 'DRAINING'
  const onLost = (entries: number): void => {
    metrics.instruments.auditLost.add({}, entries)
  }
  const log = runs.stores.audit
  return new AuditTrail({ log, clock, logger, maxAuditEntries, isClosing, onLost })
}

function findDashboardProblems({
  dashboard,
}: Pick<ControlApiOptions, 'dashboard'>): readonly string[] {
  if (dashboard === undefined || isAbsolute(dashboard)) return []
  return [`dashboard must be an absolute path, got "${dashboard}"`]
}

/** Returns a problem if two extensions have a dialect or answer the same messages. */
function findExtensionProblems({
  extensions,
}: Pick<Required<ControlApiOptions>, 'extensions'>): readonly string[] {
  const taken = extensions.flatMap(({ dialect, messages = {} }) => [
    ...(dialect === undefined ? [] : ['the dialect of WebSockets']),
    ...Object.keys(messages),
  ])
  const twice = new Set(taken.filter((name, index) => taken.indexOf(name) < index))
  return [...twice].map((name) => `extensions must provide ${name} at most once`)
}

/** Returns a problem if the largest body would never fit into the budget of bytes. */
function findBudgetProblems({
  runs,
  maxBodyBytes,
}: Pick<Required<ControlApiOptions>, 'runs' | 'maxBodyBytes'>): readonly string[] {
  const { limit } = runs.budget
  if (maxBodyBytes <= limit) return []
  return [`maxBodyBytes must be at most maxBytesInFlight (${limit}), got ${maxBodyBytes}`]
}

function findLimitProblems(limits: Limits): readonly string[] {
  return Object.entries(MINIMUMS).flatMap(([name, least]) => {
    // NOTE: the keys of the table are names of limits.
    const value = limits[name as keyof Limits]
    const whole = !name.endsWith('Ms')
    const most = MAXIMUMS.get(name) ?? maximumOf(name)
    if (value >= least && value <= most && (!whole || Number.isInteger(value))) return []
    const kind = whole ? 'an integer' : 'a number'
    return [`${name} must be ${kind} >= ${least} and <= ${most}, got ${value}`]
  })
}
