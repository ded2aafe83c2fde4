/** Options of a client and their defaults. */
import { findExcessProblems, systemClock, type Clock } from '@tutti/protocol/internal'

/** The part of `fetch` that the client uses. It must obey `init.signal` and stream the body. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Opens a WebSocket whose handshake carries these headers. */
export type OpenSocket = (
  url: string,
  options: { readonly headers: Readonly<Record<string, string>> },
) => SocketLike

/** The part of a `WebSocket` that the client uses. */
export interface SocketLike {
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void
  send(text: string): void
  close(code?: number, reason?: string): void
}

/** Limits for the reconnects of event streams and WebSockets. */
export interface ReconnectOptions {
  /** Maximum wait before the first attempt, in milliseconds; doubles with each further attempt. @default 250 */
  readonly baseDelayMs?: number
  /** Maximum wait before any attempt, in milliseconds; the server may ask for more. @default 10000 */
  readonly maxDelayMs?: number
  /** Maximum number of consecutive attempts that receive nothing; 0 for none. @default Infinity */
  readonly maxRetries?: number
  /**
   * Silence after which a connection counts as lost, in milliseconds; `Infinity` for never. Comments of the server end
   * the silence too. @default 45000
   */
  readonly idleTimeoutMs?: number
}

/** The server of a client, its key, and how it sends and reconnects. Only `baseUrl` is required. */
export interface ClientOptions {
  /**
   * URL of the server, such as `http://127.0.0.1:7329`; it may have a path, which precedes every route. In a page it
   * may be relative to the page: `/` is the server of the page.
   */
  readonly baseUrl: string | URL
  /** Sent as `Authorization: Bearer …`. */
  readonly apiKey?: string | undefined
  /** @default the global `fetch` */
  readonly fetch?: Fetch
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Time limit of a call with its retries, up to the end of the response, in milliseconds; `Infinity` for no limit.
   * Event streams and WebSockets have `reconnect.idleTimeoutMs`. @default 30000
   */
  readonly timeoutMs?: number
  /**
   * Maximum number of retries after a transient failure of a call that is safe to repeat: a call that only reads, or a
   * submit with an `idempotencyKey`. 0 for none. The waits are those of `reconnect`, or longer if the server asks for
   * it. @default 2
   */
  readonly maxRepeats?: number
  /**
   * Opens a WebSocket that sends `headers` with its handshake. @default the global `WebSocket`: in Node with headers,
   * elsewhere with a ticket instead of the key, because pages cannot set headers
   */
  readonly openSocket?: OpenSocket
  readonly reconnect?: ReconnectOptions
  /** @default the system clock */
  readonly clock?: Clock
  /** Returns a number from 0 up to 1, which spreads reconnects over time. @default Math.random */
  readonly random?: () => number
}

/** Options with their defaults applied, validated. */
export interface ResolvedClientOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** With names in lower case; includes the key. */
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: Fetch
  readonly timeoutMs: number
  readonly maxRepeats: number
  readonly openSocket: OpenSocket | undefined
  readonly reconnect: Required<ReconnectOptions>
  readonly clock: Clock
  readonly random: () => number
}

const DEFAULTS = {
  // A submit or a read takes milliseconds; a server that needs 30 s is stuck.
  timeoutMs: 30_000,
  // Covers a restart behind a proxy; the caller decides about longer outages.
  maxRepeats: 2,
  // Short enough that users do not notice a dropped connection while the server is up.
  baseDelayMs: 250,
  // Thousands of clients that wait for a server send it some hundred requests a second.
  maxDelayMs: 10_000,
  // A run can outlive any outage.
  maxRetries: Infinity,
  // Three heartbeats of the server, which sends one every 15 s.
  idleTimeoutMs: 45_000,
} as const

/**
 * Applies defaults and validates options.
 *
 * @throws {TypeError} when `baseUrl` is not an http(s) URL, or when a header or the key cannot be sent.
 * @throws {RangeError} when a number is out of range.
 */
export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  const { timeoutMs = DEFAULTS.timeoutMs, maxRepeats = DEFAULTS.maxRepeats } = options
  const { reconnect = {}, clock = systemClock } = options
  const { baseDelayMs = DEFAULTS.baseDelayMs, maxDelayMs = DEFAULTS.maxDelayMs } = reconnect
  const { maxRetries = DEFAULTS.maxRetries, idleTimeoutMs = DEFAULTS.idleTimeoutMs } = reconnect
  assertAbove(0, { timeoutMs, baseDelayMs, maxDelayMs, idleTimeoutMs })
  assertAbove(-1, { maxRetries, maxRepeats })
  const excess = findExcessProblems({
    timeoutMs,
    baseDelayMs,
    maxDelayMs,
    idleTimeoutMs,
    maxRetries,
    maxRepeats,
  })
  if (excess.length > 0) throw new RangeError(`Cannot create a client: ${excess.join('; ')}`)
  return {
    baseUrl: resolveBaseUrl(options.baseUrl),
    headers: resolveHeaders(options),
    // The global `fetch` is read at each call, because it may be replaced later.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs,
    maxRepeats,
    openSocket: options.openSocket,
    reconnect: { baseDelayMs, maxDelayMs, maxRetries, idleTimeoutMs },
    clock,
    random: options.random ?? Math.random,
  }
}

function assertAbove(limit: number, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value > limit) continue
    throw new RangeError(
      `Cannot create a client: ${name} must be a number above ${limit}, got ${value}`,
    )
  }
}

function resolveBaseUrl(baseUrl: string | URL): string {
  // Typed for pages, which always have it; Node has none, and in Deno it is undefined.
  const { location } = globalThis as { readonly location?: Location }
  const page = location?.href
  const url = URL.canParse(baseUrl, page) ? new URL(baseUrl, page) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `Cannot create a client: baseUrl must be an http(s) URL such as "http://127.0.0.1:7329", got "${baseUrl}"`,
    )
  }
  // The URL is not quoted, because it may contain a password.
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(
      'Cannot create a client: baseUrl must not contain credentials, a query or a fragment; pass a key as apiKey',
    )
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

function resolveHeaders({ headers = {}, apiKey }: ClientOptions): Record<string, string> {
  const resolved = new Headers(headers)
  if (apiKey !== undefined) {
    assertKey(apiKey)
    resolved.set('authorization', `Bearer ${apiKey}`)
  }
  return Object.fromEntries(resolved)
}

/** Validates the key, because the error that `Headers` throws would quote it. */
function assertKey(apiKey: string): void {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return
  throw new TypeError('Cannot create a client: apiKey must be non-empty ASCII text without spaces')
}
