/**
 * Creates an HTTP server with limits for connections, headers, times and slow readers.
 *
 *   bytes ─▶ Node's parser ─▶ limits ─▶ application ─▶ response ─▶ client
 *               └─ 400 408 431 ──┴─ 400 429 431             └─ closed when it reads nothing
 *
 * API-H1 Errors of this server have the same body and headers as all other errors.
 * API-H2 Headers are limited in size, number and time, and requests in time. The duration of a response is unlimited
 *    while the client reads it.
 * API-H3 A connection beyond the limit, in total or of one address, gets an error on its first request and is closed.
 * API-H4 A connection is closed if its client does not read for `stalledReaderMs`.
 * API-H5 The host in an absolute request line takes precedence over the Host header.
 * API-H6 A client that announces a body with `Expect: 100-continue` gets 100 Continue only if the body is not too large.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

import { TuttiError } from '@tutti/core'
import { badRequest, errorHeaders, reportError } from '@tutti/gateway/internal'

import { corsHeaders } from './cors.ts'
import { endWithError, SECURITY_HEADERS } from './raw-response.ts'
import { recordRequest } from './record-request.ts'

import type { RequestGuard } from '../auth/guard-request.ts'
import type { ResolvedControlApiOptions } from '../options.ts'
import type { Duplex } from 'node:stream'

/** Guard and request handler of the server. */
export interface LimitedServerParts {
  readonly guard: RequestGuard
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void
}

/** `Retry-After` for requests refused at the connection limit, in milliseconds. */
const RETRY_MS = 5_000

/** Number of connections beyond the limit that still get an error response; further ones are closed at once. */
const MAX_SURPLUS = 100

/** Number of times that a timeout is checked before it expires. */
const CHECKS_PER_TIMEOUT = 4

export function createLimitedServer(
  options: ResolvedControlApiOptions,
  { guard, answer }: LimitedServerParts,
): Server {
  const { headersTimeoutMs, requestTimeoutMs, maxConnections, maxHeaders, logger } = options
  const surplus = new WeakMap<Duplex, TuttiError>()
  const addresses = new AddressCount(options.maxConnectionsPerAddress)
  const answering = new Map<Duplex, Set<ServerResponse>>()
  const refused = new WeakSet<Duplex>()
  const headersTimeout = Math.min(headersTimeoutMs, requestTimeoutMs)
  let connections = 0

  const handle: Handle = (request, response) => {
    trackResponse(response, answering)
    prepare(request, response, guard)
    try {
      const tooMany = surplus.get(request.socket)
      if (tooMany !== undefined) throw tooMany
      assertHeaders(request, maxHeaders)
      answer(request, response)
    } catch (error) {
      sendError(response, error, options)
    }
  }
  const server: Server = createServer(
    {
      maxHeaderSize: options.maxHeaderBytes,
      headersTimeout,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: options.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.ceil(headersTimeout / CHECKS_PER_TIMEOUT),
      // `assertHeaders` and the guard refuse requests without a Host header, with an error body.
      requireHostHeader: false,
      // Upgrades to other protocols, such as h2c, are ignored and the request is handled as HTTP/1.1.
      shouldUpgradeCallback: ({ headers, socket }) =>
        server.listenerCount('upgrade') > 0 &&
        headers.upgrade?.toLowerCase() === 'websocket' &&
        !surplus.has(socket),
    },
    handle,
  )
  server.on('checkContinue', continueWith(handle, options))
  // Node silently drops headers beyond this number; one more is enough to detect too many.
  server.maxHeadersCount = maxHeaders + 1
  server.maxConnections = maxConnections + MAX_SURPLUS
  server.timeout = options.stalledReaderMs

  server.on('connection', (socket) => {
    connections += 1
    const { remoteAddress = '' } = socket
    const ofAddress = addresses.add(remoteAddress)
    if (connections > maxConnections) surplus.set(socket, tooManyConnections(maxConnections))
    else if (ofAddress > 0) surplus.set(socket, tooManyOfAddress(remoteAddress, options))
    options.unread.add(socket)
    socket.on('close', () => {
      connections -= 1
      addresses.remove(remoteAddress)
    })
    if (ofAddress > MAX_SURPLUS) socket.destroy()
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (refused.has(socket)) return
    refused.add(socket)
    const begun = [...(answering.get(socket) ?? [])].some(({ headersSent }) => headersSent)
    if (begun || error.code === 'ECONNRESET') socket.destroy()
    else {
      const wire = reportError(toRefusal(error, options), options)
      recordRequest(options, { method: 'unknown', status: wire.status, durationMs: 0 })
      endWithError(socket, wire, { clock: options.clock })
    }
  })
  server.on('timeout', (socket) => {
    if (answering.has(socket) && socket.writableLength === 0) return
    if (socket.writableLength > 0) {
      options.metrics.instruments.readerDrops.add({ transport: 'http' })
      logger.info('Closed a stalled connection')
    }
    socket.destroy()
  })
  return server
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** Returns the handler of requests that wait for 100 Continue (API-H6). */
function continueWith(
  handle: Handle,
  { maxBodyBytes }: Pick<ResolvedControlApiOptions, 'maxBodyBytes'>,
): Handle {
  return (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) response.writeContinue()
    // The client does not send the body, so that the next bytes would not be a request.
    else response.shouldKeepAlive = false
    handle(request, response)
  }
}

/** Tracks the open responses of each connection. */
function trackResponse(
  response: ServerResponse,
  answering: Map<Duplex, Set<ServerResponse>>,
): void {
  const { socket } = response.req
  const open = answering.get(socket) ?? new Set()
  answering.set(socket, open.add(response))
  response.on('close', () => {
    open.delete(response)
    if (open.size === 0) answering.delete(socket)
  })
}

const DEFAULT_HEADERS = Object.entries(SECURITY_HEADERS)

/** Sets the default headers of the response, and resolves an absolute request target. */
function prepare(request: IncomingMessage, response: ServerResponse, guard: RequestGuard): void {
  const { url = '' } = request
  if (!url.startsWith('/') && URL.canParse(url)) {
    const target = new URL(url)
    request.url = target.pathname + target.search
    request.headers.host = target.host
  }
  const { host, origin } = request.headers
  const cors = corsHeaders(origin, guard.allowsOrigin({ host, origin }))
  for (const [name, value] of DEFAULT_HEADERS) response.setHeader(name, value)
  for (const [name, value] of Object.entries(cors)) response.setHeader(name, value)
}

function assertHeaders(
  { rawHeaders, headers, httpVersion }: IncomingMessage,
  maxHeaders: number,
): void {
  if (rawHeaders.length / 2 > maxHeaders) {
    throw new TuttiError('HEADERS_TOO_LARGE', `Request must have at most ${maxHeaders} headers`)
  }
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? ''
    if (!SINGLE_HEADERS.has(name)) continue
    if (seen.has(name)) twice.add(name)
    seen.add(name)
  }
  const messages = [
    ...[...twice].map((name) => `${name} must be specified once`),
    // RFC 9112, section 3.2.
    ...(headers.host === undefined && httpVersion === '1.1' ? ['host is required'] : []),
  ]
  if (messages.length === 0) return
  const problems = messages.map((message) => ({ path: '', message }))
  throw badRequest('headers', problems)
}

/** Headers that must not be repeated, because a proxy may have checked a different one of them. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set(['host', 'authorization', 'origin'])

function tooManyConnections(maxConnections: number): TuttiError {
  return new TuttiError(
    'RATE_LIMITED',
    `Connection limit reached: ${maxConnections} connections are open (maxConnections)`,
    { retryable: true, details: { retryAfterMs: RETRY_MS, reason: 'connections' } },
  )
}

function tooManyOfAddress(
  address: string,
  { maxConnectionsPerAddress }: Pick<ResolvedControlApiOptions, 'maxConnectionsPerAddress'>,
): TuttiError {
  return new TuttiError(
    'RATE_LIMITED',
    `Connection limit reached: ${maxConnectionsPerAddress} connections of ${address} are open ` +
      '(maxConnectionsPerAddress)',
    { retryable: true, details: { retryAfterMs: RETRY_MS, reason: 'connections' } },
  )
}

/** Converts an error of Node's HTTP parser to the error for the caller. */
function toRefusal(
  fault: NodeJS.ErrnoException,
  { maxHeaderBytes, requestTimeoutMs, headersTimeoutMs }: ResolvedControlApiOptions,
): TuttiError {
  switch (fault.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new TuttiError(
        'HEADERS_TOO_LARGE',
        `Request line and headers must have at most ${maxHeaderBytes} bytes`,
      )
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new TuttiError('PAYLOAD_TOO_LARGE', 'Chunk extensions are too long')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new TuttiError(
        'REQUEST_TIMEOUT',
        `Headers must arrive within ${headersTimeoutMs} ms, a whole request within ${requestTimeoutMs} ms`,
        { retryable: true },
      )
    default:
      return badRequest('request', [{ path: '', message: `is not HTTP (${fault.message})` }])
  }
}

/** Refuses a request before it reaches the application. */
function sendError(
  response: ServerResponse,
  error: unknown,
  options: ResolvedControlApiOptions,
): void {
  const wire = reportError(error, options)
  const { method = 'unknown' } = response.req
  recordRequest(options, { method, status: wire.status, durationMs: 0 })
  const body = JSON.stringify(wire.body)
  response.writeHead(wire.status, {
    ...errorHeaders(wire),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  })
  response.end(body)
}

/** Counts the open connections of each address. */
class AddressCount {
  readonly #limit: number
  readonly #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Adds a connection. Returns the number beyond the limit; 0 or less if there is none. */
  add(address: string): number {
    const count = (this.#counts.get(address) ?? 0) + 1
    this.#counts.set(address, count)
    return count - this.#limit
  }

  /** Removes a connection that has closed. */
  remove(address: string): void {
    const count = (this.#counts.get(address) ?? 1) - 1
    if (count === 0) this.#counts.delete(address)
    else this.#counts.set(address, count)
  }
}
