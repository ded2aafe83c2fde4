/** Settings of the engine. */
import { systemClock, type Clock } from '@tutti/core'
import { findExcessProblems } from '@tutti/core/internal'

/** Options of {@link natsEngine}. */
export interface NatsEngineOptions {
  /** URLs of servers of one cluster, separated by commas: `nats://user:password@host:4222`. */
  readonly servers: string
  /**
   * First part of all subjects and of the stream name. Stores that share a cluster need different ones. @default
   * 'tutti'
   */
  readonly prefix?: string
  /** Number of servers that store each offer: 1, 3 or 5. Three survive the loss of one. @default 1 */
  readonly replicas?: number
  /** Interval at which each process also takes runs from the store, in milliseconds. @default half of its idle lease */
  readonly storePollMs?: number
  /** @default systemClock */
  readonly clock?: Clock
}

/** {@link NatsEngineOptions} with every value present. */
export interface ResolvedNatsEngineOptions extends Omit<
  Required<NatsEngineOptions>,
  'servers' | 'storePollMs'
> {
  readonly servers: readonly string[]
  readonly storePollMs: number | undefined
}

/** The numbers of replicas with which a majority is possible. */
const REPLICAS: readonly number[] = [1, 3, 5]

const DEFAULTS = { prefix: 'tutti', replicas: 1, storePollMs: undefined, clock: systemClock }

/** @throws {RangeError} naming every option that is out of range. */
export function resolveNatsEngineOptions(options: NatsEngineOptions): ResolvedNatsEngineOptions {
  const servers = options.servers.split(',').map((url) => url.trim())
  const resolved = { ...DEFAULTS, ...options, servers }
  const { prefix, replicas, storePollMs } = resolved
  const problems = [
    ...(servers.every(isServerUrl)
      ? []
      : ['servers must be URLs such as nats://host:4222, separated by commas']),
    ...(/^[A-Za-z0-9_-]{1,32}$/.test(prefix)
      ? []
      : [`prefix must be 1 to 32 letters, digits, "_" or "-", got ${JSON.stringify(prefix)}`]),
    ...(REPLICAS.includes(replicas) ? [] : [`replicas must be 1, 3 or 5, got ${replicas}`]),
    ...(storePollMs === undefined || storePollMs >= 1
      ? []
      : [`storePollMs must be at least 1, got ${storePollMs}`]),
    ...findExcessProblems({ storePollMs }),
  ]
  if (problems.length > 0) throw new RangeError(`Cannot use NATS: ${problems.join('; ')}`)
  return resolved
}

/** Returns whether a text is the URL of a NATS server; see `servers`. */
export function isServerUrl(url: string): boolean {
  return /^(?:nats|tls):\/\/[^/]+\/?$/.test(url) && URL.canParse(url)
}
