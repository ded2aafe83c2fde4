/**
 * Decides which requests the server handles. A cross-origin page must not reach the server, neither by its own
 * request (Origin) nor through a host name that it controls (Host, "DNS rebinding"). If keys are configured, every
 * request to a route that is not public must carry one.
 *
 *   Host ─▶ Origin ─▶ key or ticket ─▶ limit of the key ─▶ scope (`assertScope`, per route)
 *
 * API-K1 A request whose Host is not a name of the server is refused, even with a valid key. A server that does not
 *    listen on loopback accepts every IP address as Host, because DNS rebinding needs a name. Health checks of HTTP/1.0
 *    need no Host: no browser sends such a request.
 * API-K2 A request from an origin that is not allowed is refused. So is a request without an Origin that can change
 *    something and that the browser marks as cross-site or same-site.
 * API-K3 Only routes for browsers accept a ticket. An `Authorization` header takes precedence over it.
 * API-K4 An address that keeps sending invalid keys gets 429. Its requests with a valid key still pass.
 */
import { isIP } from 'node:net'

import { TuttiError, type Clock, type Logger } from '@tutti/core'
import { anyone, type Caller, type Signer } from '@tutti/gateway/internal'
import { ROUTES } from '@tutti/protocol'

import { createCaller, createKeyLookup } from './keys.ts'
import { verifyTicket } from './tickets.ts'
import { RateLimits } from './rate-limits.ts'

import type { ApiKey } from './keys.ts'

/** Parts of a request that decide whether the server handles it. */
export interface RequestInfo {
  readonly method: string
  /** Path of the target, without its query. */
  readonly path: string
  readonly host: string | undefined
  readonly origin: string | undefined
  /** Header `Sec-Fetch-Site`: the relation between the site of the page and the server, set by the browser. */
  readonly fetchSite: string | undefined
  readonly authorization: string | undefined
  /** Value of `ticket` in the query. */
  readonly ticket: string | undefined
  /** Address of the connection. */
  readonly remoteAddress: string | undefined
}

/** Decides which requests the server handles, and who sent them. */
export interface RequestGuard {
  /** Returns whether pages of an origin may call the server. */
  allowsOrigin(info: Pick<RequestInfo, 'host' | 'origin'>): boolean
  /**
   * Refuses requests for another host name, and cross-origin requests.
   *
   * @throws {TuttiError} HOST_NOT_ALLOWED or ORIGIN_NOT_ALLOWED.
   */
  assertSite(info: RequestInfo): void
  /**
   * Identifies the caller and counts the request. Without configured keys, every caller may do everything.
   *
   * @throws {TuttiError} UNAUTHORIZED or RATE_LIMITED.
   */
  identify(info: RequestInfo, access: { readonly takesTicket: boolean }): Caller
}

export interface GuardOptions {
  /** Host names of the server in addition to loopback; `*` allows every host. */
  readonly allowedHosts: readonly string[]
  /** Origins of web pages that may call the server, in addition to pages of `allowedHosts`. */
  readonly allowedOrigins: readonly string[]
  /** API keys. Every request must carry one. With an empty list every caller may do everything. */
  readonly apiKeys: readonly ApiKey[]
  /** Maximum number of requests per minute and address with an invalid key or none. */
  readonly maxRefusedKeysPerMinute: number
  /** Validity of a ticket in milliseconds. */
  readonly ticketTtlMs: number
  readonly clock: Clock
  readonly logger: Logger
  /** Whether the server listens on loopback. Pages of this machine may then call it. */
  readonly isLocal: boolean
  /** Verifies tickets. */
  readonly signer: Signer
}

/** Matches a host name or address, optionally with a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/**
 * Names of this machine whose pages are trusted. `isLoopback` is not used, because a name below `localhost`, such as
 * `app.localhost`, is cross-site and must be among the allowed origins.
 */
const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]']

/** Paths that load balancers check with HTTP/1.0, such as HAProxy with `option httpchk`. */
const HEALTH_PATHS: readonly string[] = [ROUTES.getLiveness.path, ROUTES.getReadiness.path]

/** Maximum number of accepted `Host` headers that are remembered, because parsing one costs more than the other checks. */
const MAX_ACCEPTED_HOSTS = 100

/** Creates the guard of a server. */
export function createRequestGuard(options: GuardOptions): RequestGuard {
  const { apiKeys } = options
  const acceptedHosts = new Set<string>()
  const names = options.allowedHosts.map((host) => host.toLowerCase())
  const hosts = new Set([...LOCAL_NAMES, ...names])
  const anyHost = hosts.has('*')
  const identify = createIdentify(options)
  const allowsOrigin = createOriginCheck(options, names)
  return {
    allowsOrigin,
    assertSite(info) {
      const { host = '' } = info
      const isProbe = info.host === undefined && HEALTH_PATHS.includes(info.path)
      if (!isProbe && !acceptedHosts.has(host)) {
        if (!anyHost || !HOST.test(host)) assertHost(info.host, hosts, options)
        if (acceptedHosts.size < MAX_ACCEPTED_HOSTS) acceptedHosts.add(host)
      }
      if (!allowsOrigin(info)) {
        throw new TuttiError(
          'ORIGIN_NOT_ALLOWED',
          `Origin "${info.origin}" is not allowed; allowedOrigins adds origins`,
        )
      }
      assertSameSite(info)
    },
    identify: (info, access) =>
      apiKeys.length === 0 ? anyone(info.remoteAddress) : identify(info, access),
  }
}

function createOriginCheck(
  { allowedOrigins, isLocal }: GuardOptions,
  names: readonly string[],
): RequestGuard['allowsOrigin'] {
  const origins = new Set(allowedOrigins)
  const pages = new Set(isLocal ? [...LOCAL_NAMES, ...names] : names)
  return ({ host = '', origin }) => {
    if (origin === undefined || origins.has(origin)) return true
    if (!/^https?:\/\//i.test(origin) || !URL.canParse(origin)) return false
    const page = new URL(origin)
    return pages.has(page.hostname) || page.host === host.toLowerCase()
  }
}

function assertHost(
  host: string | undefined,
  hosts: ReadonlySet<string>,
  { isLocal }: Pick<GuardOptions, 'isLocal'>,
): void {
  if (host !== undefined && HOST.test(host)) {
    const name = parseHostName(host)
    if (hosts.has(name)) return
    if (!isLocal && isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0) return
  }
  throw new TuttiError(
    'HOST_NOT_ALLOWED',
    `Host "${host ?? ''}" is not allowed; allowedHosts adds names`,
  )
}

function parseHostName(host: string): string {
  const url = `http://${host}`
  return URL.canParse(url) ? new URL(url).hostname : ''
}

/** Methods that change nothing. */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/** Refuses unsafe requests that a browser marks as cross-site or same-site without naming the origin. */
function assertSameSite({ method, origin, fetchSite }: RequestInfo): void {
  const isForeign = fetchSite === 'cross-site' || fetchSite === 'same-site'
  if (origin !== undefined || !isForeign || SAFE_METHODS.includes(method)) return
  throw new TuttiError('ORIGIN_NOT_ALLOWED', 'Cross-origin requests are not allowed')
}

function createIdentify({
  apiKeys,
  maxRefusedKeysPerMinute,
  ticketTtlMs,
  clock,
  logger,
  signer,
}: GuardOptions): RequestGuard['identify'] {
  const lookUp = createKeyLookup(apiKeys)
  const rates = new RateLimits(clock)
  const refusals = new RateLimits(clock)
  const find = (info: RequestInfo, takesTicket: boolean): ApiKey => {
    const { authorization, ticket } = info
    if (authorization === undefined && ticket !== undefined && takesTicket) {
      return verifyTicket(ticket, { keys: apiKeys, now: clock.now(), ticketTtlMs }, signer)
    }
    return lookUp(parseBearer(authorization), clock.now())
  }
  return (info, { takesTicket }) => {
    const { remoteAddress } = info
    let key: ApiKey
    try {
      key = find(info, takesTicket)
    } catch (error) {
      const retryAfterMs = refusals.take(remoteAddress ?? '', maxRefusedKeysPerMinute)
      if (retryAfterMs > 0) throw tooManyRefusals(remoteAddress, retryAfterMs)
      logger.warn('Refused a request without a valid key', { remoteAddress, error })
      throw error
    }
    const caller = createCaller(key, { remoteAddress, clock, rates })
    caller.count()
    return caller
  }
}

function parseBearer(authorization: string | undefined): string {
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  if (key !== undefined) return key
  const message = 'A key is required: send "Authorization: Bearer <key>"'
  throw new TuttiError('UNAUTHORIZED', message, { details: { hasKey: false } })
}

function tooManyRefusals(remoteAddress: string | undefined, retryAfterMs: number): TuttiError {
  return new TuttiError(
    'RATE_LIMITED',
    `Too many requests without a valid key from ${remoteAddress ?? 'this address'}`,
    { retryable: true, details: { retryAfterMs, reason: 'wrong_keys' } },
  )
}
