/**
 * Who may talk to the server at all. A page of another site must not reach a server on this machine,
 * neither by its own request (Origin) nor under a name of its own (Host, "DNS rebinding"); and where
 * keys are set, every request to something that is not public carries one.
 *
 *   Host ─▶ Origin ─▶ key or ticket ─▶ limit of the key ─▶ scope (`assertScope`, where the route is known)
 *
 * API-K1 A request under a name that is not the server's is refused, whatever else it carries. An IP address is no
 *    name that another site could have taken: a server that is reached from elsewhere accepts each.
 * API-K2 A request from a page that is not allowed is refused; so is one that changes something and that a
 *    browser says comes from another site, even when it does not say from which.
 * API-K3 A ticket counts only where a browser needs one, and a key that is sent counts before it.
 * API-K4 Who shows no valid key again and again is told to wait; valid keys from there go on to work.
 */
import { isIP } from 'node:net'

import { TuttiError, type Clock, type Logger } from '@tutti/core'
import { anyone, type Caller, type Signer } from '@tutti/gateway'

import { createCaller, createKeyLookup } from './keys.ts'
import { verifyTicket } from './tickets.ts'
import { RateLimits } from './rate-limits.ts'

import type { ApiKey } from './keys.ts'
import type { ResolvedControlApiOptions } from '../options.ts'

/** What of a request decides whether it may pass. */
export interface RequestInfo {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  /** Header `Sec-Fetch-Site`: how a page is related to what it calls, as its browser says. */
  readonly fetchSite: string | undefined
  readonly authorization: string | undefined
  /** Value of `ticket` in the query. */
  readonly ticket: string | undefined
  /** Address of the connection. */
  readonly remoteAddress: string | undefined
}

/** Decides who may pass. */
export interface RequestGuard {
  /** Whether pages of an origin may call. */
  allowsOrigin(info: Pick<RequestInfo, 'host' | 'origin'>): boolean
  /**
   * Refuses requests under another name, and from other sites.
   *
   * @throws {TuttiError} HOST_NOT_ALLOWED or ORIGIN_NOT_ALLOWED.
   */
  assertSite(info: RequestInfo): void
  /**
   * Says who calls, and counts the request; everybody where no keys are set.
   *
   * @throws {TuttiError} UNAUTHORIZED or RATE_LIMITED.
   */
  identify(info: RequestInfo, access: { readonly takesTicket: boolean }): Caller
}

/** What a guard works with. */
export interface GuardOptions extends Pick<
  ResolvedControlApiOptions,
  'allowedHosts' | 'allowedOrigins' | 'apiKeys' | 'maxRefusedKeysPerMinute' | 'ticketTtlMs'
> {
  readonly clock: Clock
  readonly logger: Logger
  /** Whether only this machine reaches the server; pages of it may call then. */
  readonly isLocal: boolean
  /** Verifies tickets. */
  readonly signer: Signer
}

/** A host name or address with or without a port, and nothing more. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/**
 * Names under which this machine is addressed and whose pages are trusted. Not `isLoopback`: a page below `localhost`,
 * such as `app.localhost`, is another site and needs to be on the list of origins.
 */
const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]']

/** Makes the guard of a server. */
export function createRequestGuard(options: GuardOptions): RequestGuard {
  const { apiKeys } = options
  const names = options.allowedHosts.map((host) => host.toLowerCase())
  const hosts = new Set([...LOCAL_NAMES, ...names])
  const anyHost = hosts.has('*')
  const identify = createIdentify(options)
  const allowsOrigin = createOriginCheck(options, names)
  return {
    allowsOrigin,
    assertSite(info) {
      if (!anyHost || !HOST.test(info.host ?? '')) assertHost(info.host, hosts, options)
      if (!allowsOrigin(info)) {
        throw new TuttiError(
          'ORIGIN_NOT_ALLOWED',
          `Origin "${info.origin}" may not call this server`,
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
    `Host "${host ?? ''}" is not one of this server's names; allowedHosts adds names`,
  )
}

function parseHostName(host: string): string {
  const url = `http://${host}`
  return URL.canParse(url) ? new URL(url).hostname : ''
}

/** Methods that change nothing. */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/** Where a browser names no origin, it still says that the request is of another site. */
function assertSameSite({ method, origin, fetchSite }: RequestInfo): void {
  const isForeign = fetchSite === 'cross-site' || fetchSite === 'same-site'
  if (origin !== undefined || !isForeign || SAFE_METHODS.includes(method)) return
  throw new TuttiError('ORIGIN_NOT_ALLOWED', 'A page of another site may not change anything here')
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
      logger.warn('A request without a valid key was refused', { remoteAddress, error })
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
  throw new TuttiError(
    'UNAUTHORIZED',
    'This server needs a key: send "Authorization: Bearer <key>"',
  )
}

function tooManyRefusals(remoteAddress: string | undefined, retryAfterMs: number): TuttiError {
  return new TuttiError(
    'RATE_LIMITED',
    `Too many requests without a valid key came from ${remoteAddress ?? 'this address'}`,
    { retryable: true, details: { retryAfterMs, reason: 'wrong_keys' } },
  )
}
