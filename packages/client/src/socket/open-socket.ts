/**
 * Where a WebSocket is opened and how it shows who it is.
 *
 * A page cannot set the headers of a handshake, so that it gets a ticket with its key first; a ticket is
 * made anew for each socket, as it does not live long. Node's own `WebSocket` takes headers.
 */
import { ROUTES, routePath, type SocketQuery } from '@tutti/protocol'

import { TuttiClientError } from '../errors.ts'
import { callRoute } from '../http/call-route.ts'
import { toQueryString } from '../http/send.ts'

import type { OpenSocket, ResolvedClientOptions, SocketLike } from '../options.ts'

/** A way to open sockets. */
export interface SocketOpener {
  /** Whether a handshake carries headers. */
  readonly takesHeaders: boolean
  open(url: string, headers: Readonly<Record<string, string>>): SocketLike
}

/**
 * The way to open sockets here.
 *
 * @throws {TypeError} when there is none.
 */
export function socketOpener({
  openSocket,
}: Pick<ResolvedClientOptions, 'openSocket'>): SocketOpener {
  if (openSocket !== undefined) {
    return { takesHeaders: true, open: (url, headers) => openSocket(url, { headers }) }
  }
  // NOTE: both are as the platform has them; in an old Node or an odd one they are not there.
  const { WebSocket, process } = globalThis as {
    readonly WebSocket?: new (url: string, options?: Parameters<OpenSocket>[1]) => SocketLike
    readonly process?: { readonly versions?: { readonly node?: string } }
  }
  if (WebSocket === undefined) {
    throw new TypeError(
      'Cannot connect: there is no global WebSocket here; give openSocket, or use Node from 22 on',
    )
  }
  if (process?.versions?.node === undefined) {
    return { takesHeaders: false, open: (url) => new WebSocket(url) }
  }
  return { takesHeaders: true, open: (url, headers) => new WebSocket(url, { headers }) }
}

/** What a socket is opened to. */
export interface SocketTarget {
  /** Undefined for every run. */
  readonly runId: string | undefined
  readonly snapshot: SocketQuery['snapshot'] | undefined
  readonly signal: AbortSignal
}

/** Opens a socket to every run, or to one. @throws {TuttiClientError} when there is no ticket for it. */
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

/** A ticket; none from a server that needs none, as it has no keys. */
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
 * Why a handshake failed: neither a page nor Node is told, so the same is asked over HTTP.
 *
 * @throws {TuttiClientError} what HTTP answers; CONNECTION_FAILED when it has nothing against it.
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
