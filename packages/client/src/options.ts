/** What a client is made of, its limits and their defaults. */
import { systemClock, type Clock } from '@tutti/protocol'

/** The part of `fetch` that the client uses. It must honour `init.signal` and stream the body. */
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

/** How event streams and sockets come back after they were cut. */
export interface ReconnectOptions {
  /** Longest wait before the first try, in milliseconds; it doubles with each further try. @default 250 */
  readonly baseDelayMs?: number
  /** Longest wait before any try, in milliseconds; the server may ask for more. @default 10000 */
  readonly maxDelayMs?: number
  /** Tries in a row that bring nothing before the stream fails; 0 for none. @default Infinity */
  readonly maxRetries?: number
  /**
   * Silence, in milliseconds, after which a connection counts as dead; `Infinity` for never. Comments
   * are signs of life too. @default 45000
   */
  readonly idleTimeoutMs?: number
}

/** Where the server is and how to talk to it. */
export interface ClientOptions {
  /**
   * Address of the server, such as `http://127.0.0.1:7329`; may have a path that comes before every
   * route. In a page it may be relative to that page: `/` is the server the page came from.
   */
  readonly baseUrl: string | URL
  /** Sent as `Authorization: Bearer …`. */
  readonly apiKey?: string | undefined
  /** @default the global `fetch` */
  readonly fetch?: Fetch
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Time for a plain request up to the end of its answer, repeats included, in milliseconds; `Infinity`
   * for no limit. Event streams and sockets have `reconnect.idleTimeoutMs`. @default 30000
   */
  readonly timeoutMs?: number
  /**
   * How often a plain call that does no harm twice is repeated after a failure that may pass: what only
   * reads, and a submit with an `idempotencyKey`. 0 for never. The waits are those of `reconnect`, and
   * longer when the server asks for it. @default 2
   */
  readonly maxRepeats?: number
  /**
   * Opens a WebSocket that sends `headers` with its handshake. When absent, the global `WebSocket` is
   * used: in Node with headers, elsewhere with a ticket in place of the key, as pages cannot set headers.
   */
  readonly openSocket?: OpenSocket
  readonly reconnect?: ReconnectOptions
  /** @default the clock of this machine */
  readonly clock?: Clock
  /** From 0 up to 1, to spread reconnects over time. @default Math.random */
  readonly random?: () => number
}

/** The same with every value present and checked. */
export interface ResolvedClientOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string
  /** With names in lower case, the key among them. */
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
  // A submit or a read takes milliseconds; 30 s is a server that is stuck.
  timeoutMs: 30_000,
  // Bridges a restart behind a proxy; longer outages are for the caller to judge.
  maxRepeats: 2,
  // Short enough that nobody sees a dropped connection, as long as the server is there.
  baseDelayMs: 250,
  // Thousands of clients that wait for a server to come back ask it some hundred times a second.
  maxDelayMs: 10_000,
  // A run can outlive any outage.
  maxRetries: Infinity,
  // Three heartbeats of the server, which sends one every 15 s.
  idleTimeoutMs: 45_000,
} as const

/**
 * Fills and checks options.
 *
 * @throws {TypeError} when `baseUrl` is no http(s) address, or a header or the key cannot be sent.
 * @throws {RangeError} when a number is out of its range.
 */
export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  const { timeoutMs = DEFAULTS.timeoutMs, maxRepeats = DEFAULTS.maxRepeats } = options
  const { reconnect = {}, clock = systemClock } = options
  const { baseDelayMs = DEFAULTS.baseDelayMs, maxDelayMs = DEFAULTS.maxDelayMs } = reconnect
  const { maxRetries = DEFAULTS.maxRetries, idleTimeoutMs = DEFAULTS.idleTimeoutMs } = reconnect
  assertAbove(0, { timeoutMs, baseDelayMs, maxDelayMs, idleTimeoutMs })
  assertAbove(-1, { maxRetries, maxRepeats })
  return {
    baseUrl: resolveBaseUrl(options.baseUrl),
    headers: resolveHeaders(options),
    // The global one is looked up at each call, as others may replace it later.
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
  // Declared for pages, where it is always there; Node has none, and Deno one that is undefined.
  const { location } = globalThis as { readonly location?: Location }
  const page = location?.href
  const url = URL.canParse(baseUrl, page) ? new URL(baseUrl, page) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `Cannot create a client: baseUrl must be an address such as "http://127.0.0.1:7329", got "${baseUrl}"`,
    )
  }
  // The address is not quoted: what is wrong with it may be a password.
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(
      'Cannot create a client: baseUrl must have no user, query or fragment; give a key as apiKey',
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

/** Checked here, as the error that `Headers` throws would quote the key. */
function assertKey(apiKey: string): void {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return
  throw new TypeError(
    'Cannot create a client: apiKey must be ASCII text without spaces, and not empty',
  )
}
