/**
 * Opens WebSockets with credentials.
 *
 * A page cannot set the headers of a handshake, so it exchanges its key for a ticket first. Tickets are short-lived, so
 * each socket gets a new one. Node's `WebSocket` sends headers.
 */
import { ROUTES, routePath } from '@tutti/protocol'
import type { SocketQuery } from '@tutti/protocol/internal'

import { TuttiClientError } from '../errors.ts'
import { callRoute } from '../http/call-route.ts'
import { toQueryString } from '../http/send.ts'

import type { OpenSocket, ResolvedClientOptions, SocketLike } from '../options.ts'

/** Opens sockets. */
export interface SocketOpener {
  /** Whether a handshake carries headers. */
  readonly takesHeaders: boolean
  open(url: string, headers: Readonly<Record<string, string>>): SocketLike
}

/**
 * Returns the socket opener of the options or of the platform.
 *
 * @throws {TypeError} when there is none.
 */
export function socketOpener({
  openSocket,
}: Pick<ResolvedClientOptions, 'openSocket'>): SocketOpener {
  if (openSocket !== undefined) {
    return { takesHeaders: true, open: (url, headers) => openSocket(url, { headers }) }
  }
  // NOTE: either is undefined on platforms without it, such as an old Node.
  const { WebSocket, process } = globalThis as {
    readonly WebSocket?: new (url: string, options?: Parameters<OpenSocket>[1]) => SocketLike
    readonly process?: { readonly versions?: { readonly node?: string } }
  }
  if (WebSocket === undefined) {
    throw new TypeError(
      'Cannot connect: no global WebSocket; pass openSocket, or use Node 22 or later',
    )
  }
  if (process?.versions?.node === undefined) {
    return { takesHeaders: false, open: (url) => new WebSocket(url) }
  }
  return { takesHeaders: true, open: (url, headers) => new WebSocket(url, { headers }) }
}

export interface SocketTarget {
  /** Undefined for every run. */
  readonly runId: string | undefined
  readonly snapshot: SocketQuery['snapshot'] | undefined
  readonly signal: AbortSignal
}

/** Opens a socket to every run, or to one. @throws {TuttiClientError} when a ticket is needed and refused. */
export async function openSocket(
  settings: ResolvedClientOptions,
  opener: SocketOpener,
  { runId, snapshot, signal }: SocketTarget,
): Promise<SocketLike> {
  const path = runId === undefined ? routePath('openSocket') : routePath('openRunSocket', { runId })
  const url = settings.baseUrl.replace(/^http/, 'ws') + path
  const isKeyed = 'authorization' in settings.headers
  const ticket = isKeyed && !opener.takesHeaders ? await fetchTicket(settings, signal) : undefined
  signal.throwIfAborted()
  return opener.open(url + toQueryString({ ticket, snapshot }), settings.headers)
}

/** Creates a ticket; undefined from a server without keys. */
async function fetchTicket(
  settings: ResolvedClientOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const path = routePath('createTicket')
    return (await callRoute(settings, ROUTES.createTicket, { path, signal })).ticket
  } catch (error) {
    if (TuttiClientError.isInstance(error) && error.code === 'NOT_CONFIGURED') return undefined
    throw error
  }
}

/**
 * Finds out over HTTP why a handshake failed, because neither a browser nor Node reports the reason.
 *
 * @throws {TuttiClientError} the error of the HTTP request; CONNECTION_FAILED when it succeeds.
 */
export async function throwHandshakeFailure(
  settings: ResolvedClientOptions,
  { runId, signal }: Pick<SocketTarget, 'runId' | 'signal'>,
): Promise<never> {
  const once = { ...settings, maxRepeats: 0 }
  if (runId === undefined) {
    await callRoute(once, ROUTES.getStatus, { path: routePath('getStatus'), signal })
  } else {
    await callRoute(once, ROUTES.getRun, { path: routePath('getRun', { runId }), signal })
  }
  throw new TuttiClientError('CONNECTION_FAILED', 'The WebSocket handshake failed')
}
