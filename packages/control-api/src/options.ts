/** What a control API is made of, its limits and their defaults. */
import { isAbsolute } from 'node:path'

import {
  silentLogger,
  systemClock,
  type Clock,
  type Logger,
  type ToolCatalog,
  type ToolMetrics,
} from '@tutti/core'
import { LargeReads, type Redactor, type Shared } from '@tutti/gateway'

import { findAccessProblems } from './auth/access-problems.ts'
import { AuditTrail } from './audit/audit-trail.ts'
import { UnreadData } from './http/unread-data.ts'
import { serverMetrics, type ServerMetrics } from './metrics/server-metrics.ts'
import { redactor } from './secrets/redactor.ts'

import type { ApiKey } from './auth/keys.ts'
import type { ModelCatalog } from '@tutti/ensemble'
import type { WebhookEventType } from '@tutti/protocol'
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
  /** Keys of which every request must carry one; none lets everybody do everything. @default [] */
  readonly apiKeys?: readonly ApiKey[]
  /**
   * Host names under which the server is reached, beside loopback. `*` allows every host, and pages of the
   * very host that they call.
   * @default []
   */
  readonly allowedHosts?: readonly string[]
  /**
   * Address under which others reach the server, as its agent card says it, such as
   * `https://agents.example.com`; a path before its own is kept.
   * @default the address of each request
   */
  readonly publicUrl?: string | undefined
  /**
   * Origins of web pages that may call, such as `https://app.example.com`, beside pages of these hosts and,
   * when the server listens on loopback, pages of this machine.
   * @default []
   */
  readonly allowedOrigins?: readonly string[]
  /** Directory whose files are shown, absolute. @default none */
  readonly workspace?: string | undefined
  /**
   * Folder of the built dashboard, absolute, whose `index.html` browsers get at `/`. It is read once, when the
   * server starts. @default none: everybody gets the text
   */
  readonly dashboard?: string | undefined
  /** Webhooks that runs may name. @default {} */
  readonly webhooks?: Readonly<Record<string, Webhook>>
  /** What peers may ask for; the other ensembles and tools are not for them. @default everything */
  readonly shared?: Shared | undefined
  /** Tool calls by hand that are in flight at the same time, over REST, WebSocket and others. @default 32 */
  readonly maxToolCalls?: number
  /** What counts, and is read at `/metrics`. @default one that is told nothing of what runs do */
  readonly metrics?: ServerMetrics
  /** Where tool calls by hand are counted. @default the metrics */
  readonly toolMetrics?: ToolMetrics | undefined
  /** Stops the server when everything is done or handed over; asked by `POST /api/lifecycle/drain`. */
  readonly drain?: (() => void) | undefined
  /** Longest request body and longest WebSocket message, in bytes. @default 1000000 */
  readonly maxBodyBytes?: number
  /** Bytes that may wait for one slow WebSocket reader before it is closed. @default 4194304 */
  readonly maxBufferedBytes?: number
  /**
   * Bytes that may wait for all readers together, over HTTP, event streams and WebSockets, before the connections
   * with the most are closed. @default 33554432
   */
  readonly maxUnreadBytes?: number
  /** Maximum size of a trace or task graph, measured by the events that it is made of. @default 8000000 */
  readonly maxTraceBytes?: number
  /** Time between signs of life on quiet connections, in milliseconds. @default 15000 */
  readonly heartbeatMs?: number
  /**
   * Secret that signs tickets, at least 32 characters; the same in every process of a server.
   * @default one that the run store creates and its processes share
   */
  readonly ticketSecret?: string | undefined
  /** How long a ticket is good, in milliseconds: long enough to open a connection with it. @default 60000 */
  readonly ticketTtlMs?: number
  /** Requests with a wrong key, or with none, that one address may make a minute. @default 300 */
  readonly maxRefusedKeysPerMinute?: number
  /** Entries of the audit trail that are kept; older ones are deleted now and then. @default 100000 */
  readonly maxAuditEntries?: number
  /** Connections at the same time, WebSockets among them. @default 5000 */
  readonly maxConnections?: number
  /**
   * Connections of one address at the same time. Behind a proxy all connections have its address: set it to
   * `maxConnections` there. @default 1000
   */
  readonly maxConnectionsPerAddress?: number
  /** WebSocket connections at the same time. @default 2000 */
  readonly maxSockets?: number
  /** Longest request line and headers together, in bytes. @default 16384 */
  readonly maxHeaderBytes?: number
  /** Header lines of a request, at most. @default 100 */
  readonly maxHeaders?: number
  /** How long the headers of a request may take to arrive, in milliseconds. @default 10000 */
  readonly headersTimeoutMs?: number
  /** How long a whole request may take to arrive, in milliseconds; its answer may take any time. @default 60000 */
  readonly requestTimeoutMs?: number
  /** How long an idle connection is kept for another request, in milliseconds. @default 65000 */
  readonly keepAliveTimeoutMs?: number
  /** After what time without taking anything a reader of an answer is dropped, in milliseconds. @default 30000 */
  readonly stalledReaderMs?: number
  /** Takes secrets out of what callers are told of errors. @default nothing is taken out */
  readonly redactor?: Redactor
  readonly clock?: Clock
  readonly logger?: Logger
}

/** Somebody who is told what becomes of runs. */
export interface Webhook {
  /** Where to send it: `https`, or `http` in the operator's own network. */
  readonly url: string
  /** Signs what is sent: `whsec_` and 24 to 64 bytes in base64. @see https://www.standardwebhooks.com */
  readonly secret: string
  /** What it is told of. @default everything */
  readonly events?: readonly WebhookEventType[]
}

/** The same with every value present. */
export type ResolvedControlApiOptions = Required<ControlApiOptions> & {
  /** Tells who did what. */
  readonly trail: AuditTrail
  /** Counts what waits for readers. */
  readonly unread: UnreadData
  /** Takes turns at large answers. */
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
  webhooks: {},
  shared: undefined,
  drain: undefined,
  // A call mostly waits for a network; more at once is a load that runs should make.
  maxToolCalls: 32,
  // AgentEnsemble's limit: a level 3 request with hundreds of tasks fits many times.
  maxBodyBytes: 1_000_000,
  maxBufferedBytes: 4 * 1024 * 1024,
  // A tenth of a small process; each byte on a socket was up to four in memory before.
  maxUnreadBytes: 32 * 1024 * 1024,
  maxTraceBytes: 8_000_000,
  // Below the 60 s after which common proxies drop a quiet connection; AgentEnsemble's number.
  heartbeatMs: 15_000,
  ticketSecret: undefined,
  ticketTtlMs: 60_000,
  // A page with a stale key that polls every second stays below; guessing gets nowhere.
  maxRefusedKeysPerMinute: 300,
  maxAuditEntries: 100_000,
  maxConnections: 5_000,
  // More than a browser, a load test or a machine full of agents opens; a fifth of all.
  maxConnectionsPerAddress: 1_000,
  maxSockets: 2_000,
  // Node's; more than browsers and proxies send.
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
  headersTimeoutMs: 10_000,
  // The longest body over a slow line of 20 kB a second.
  requestTimeoutMs: 60_000,
  // Longer than the 60 s of common load balancers, which would send on a connection that is just closed.
  keepAliveTimeoutMs: 65_000,
  // Two signs of life of an event stream.
  stalledReaderMs: 30_000,
} as const

type Limits = Pick<
  ResolvedControlApiOptions,
  {
    [K in keyof ResolvedControlApiOptions]: ResolvedControlApiOptions[K] extends number ? K : never
  }[keyof ResolvedControlApiOptions]
>

/** The least value of each limit; those that are no times are whole numbers. */
const MINIMUMS: Readonly<Partial<Record<keyof Limits, number>>> = {
  maxBodyBytes: 1,
  maxBufferedBytes: 1,
  maxUnreadBytes: 1,
  maxTraceBytes: 1,
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

/**
 * Fills and checks options.
 *
 * @throws {RangeError} naming every value that does not fit, and no key.
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
  })
  return { ...filled, trail: createAuditTrail(filled), unread, reads }
}

function createAuditTrail({
  runs,
  clock,
  logger,
  maxAuditEntries,
  metrics,
}: Required<ControlApiOptions>): AuditTrail {
  const isClosing = (): boolean => runs.state === 'DRAINING'
  const onLost = (entries: number): void => {
    metrics.instruments.auditLost.add({}, entries)
  }
  const log = runs.audit
  return new AuditTrail({ log, clock, logger, maxAuditEntries, isClosing, onLost })
}

function findDashboardProblems({
  dashboard,
}: Pick<ControlApiOptions, 'dashboard'>): readonly string[] {
  if (dashboard === undefined || isAbsolute(dashboard)) return []
  return [`dashboard must be an absolute path, got "${dashboard}"`]
}

function findLimitProblems(limits: Limits): readonly string[] {
  return Object.entries(MINIMUMS).flatMap(([name, least]) => {
    // NOTE: the keys of the table are names of limits.
    const value = limits[name as keyof Limits]
    const whole = !name.endsWith('Ms')
    if (value >= least && (!whole || Number.isInteger(value))) return []
    return [`${name} must be ${whole ? 'an integer' : 'a number'} >= ${least}, got ${value}`]
  })
}
