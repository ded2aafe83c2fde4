/**
 * An HTTP request of a tool: bounded in where it goes, how long it takes and how much it reads.
 *
 *   URL ─guard─▶ send ─▶ redirect? ─▶ guard … ─▶ body ─decompress─▶ at most maxBytes
 *
 * Q1 The guard is asked of the URL and of each one that a redirect leads to, before anything is sent,
 *    and sockets connect to addresses that it gave.
 * Q2 The time limit covers everything from the look-up of the name to the last byte of the body, over
 *    all redirects; the caller's signal ends the request at once.
 * Q3 Bytes are counted as they come out of the decompression, and what is over the limit is not read.
 * Q4 When the call ends, in whatever way, its connections are closed.
 * Q5 What fails names the origin at most: a path or query may hold a key.
 *
 * Where redirects lead and what is sent there is decided in `redirect.ts`.
 */
import { addAbortSignal, type Readable } from 'node:stream'

import { errorMessage, TuttiError } from '@tutti/core'
import { decompress } from './decompress.ts'
import {
  resolveRequestOptions,
  type GuardedRequestOptions,
  type ResolvedRequestOptions,
} from './options.ts'
import { nextHop, redirectTarget, type Hop } from './redirect.ts'
import { openRequestScope, type RequestScope } from './request-scope.ts'

import type { HttpSendResponse } from './http-send.ts'

/** An answer, read. */
export interface GuardedResponse {
  readonly status: number
  readonly headers: Headers
  /** Where the answer came from, after all redirects. */
  readonly url: string
  /** The body, decompressed. */
  readonly body: Uint8Array
  /** Whether the body goes on after what is here. */
  readonly truncated: boolean
}

/**
 * Makes a request and reads its answer, whatever its status.
 *
 * @throws {TuttiError} TOOL_FAILED when the guard refuses, or when there is no answer; the latter is
 *   retryable.
 * @throws {TuttiError} TOOL_TIMEOUT when a time limit passes.
 * @throws {RangeError} for limits that do not fit.
 * @throws the reason of `signal` when it aborts.
 */
export async function guardedRequest(
  url: string | URL,
  options: GuardedRequestOptions,
): Promise<GuardedResponse> {
  const settings = resolveRequestOptions(options)
  const { guard, method, headers, body } = settings
  const first: Hop = {
    url: guard.assertUrl(url),
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  }
  const scope = openRequestScope(settings.clock, settings.signal)
  scope.limit(settings.timeoutMs, () => timedOut(first.url, settings.timeoutMs))
  try {
    return await follow(first, settings, scope)
  } catch (error) {
    if (scope.signal.aborted) throw scope.signal.reason
    throw failure(error, first.url)
  } finally {
    scope.close()
  }
}

async function follow(
  first: Hop,
  settings: ResolvedRequestOptions,
  scope: RequestScope,
): Promise<GuardedResponse> {
  let hop = first
  for (let redirects = 0; ; redirects += 1) {
    const answer = await answerTo(hop, settings, scope)
    const target =
      settings.redirect === 'manual' ? undefined : redirectTarget(answer.status, answer.headers)
    if (target === undefined) return readAnswer(answer, { hop, settings, scope })
    answer.body.destroy()
    if (redirects === settings.maxRedirects) {
      const message = `Request to ${first.url.origin} was redirected more than ${redirects} times`
      throw new TuttiError('TOOL_FAILED', message)
    }
    const next = nextHop(hop, { status: answer.status, target })
    hop = { ...next, url: settings.guard.assertUrl(next.url) }
  }
}

async function answerTo(
  hop: Hop,
  { guard, send, connectTimeoutMs }: ResolvedRequestOptions,
  scope: RequestScope,
): Promise<HttpSendResponse> {
  const { signal } = scope
  signal.throwIfAborted()
  const onConnect = scope.limit(connectTimeoutMs, () => notConnected(hop.url, connectTimeoutMs))
  const sent = send({ ...hop, signal, lookup: guard.lookup, onConnect })
  try {
    const answer = await scope.race(sent)
    // What fails after this is told to whoever reads; nobody may be reading when it does.
    answer.body.on('error', () => undefined)
    return answer
  } finally {
    onConnect()
    void sent.then(
      ({ body }) => signal.aborted && body.destroy(),
      () => undefined,
    )
  }
}

async function readAnswer(
  { status, headers, body }: HttpSendResponse,
  {
    hop,
    settings,
    scope,
  }: {
    readonly hop: Hop
    readonly settings: ResolvedRequestOptions
    readonly scope: RequestScope
  },
): Promise<GuardedResponse> {
  const plain = decompress(addAbortSignal(scope.signal, body), headers.get('content-encoding'))
  const read = await scope.race(readBytes(plain, settings.maxBytes))
  return { status, headers, url: hop.url.href, ...read }
}

async function readBytes(
  body: Readable,
  maxBytes: number,
): Promise<Pick<GuardedResponse, 'body' | 'truncated'>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    // NOTE: a body is a stream of bytes: no encoding is set on it.
    const bytes = chunk as Uint8Array
    chunks.push(bytes)
    size += bytes.byteLength
    if (size > maxBytes) break
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: size > maxBytes }
}

function timedOut({ origin }: URL, timeoutMs: number): TuttiError {
  const message = `Request to ${origin} timed out after ${timeoutMs} ms`
  return new TuttiError('TOOL_TIMEOUT', message, { retryable: true })
}

function notConnected({ origin }: URL, connectTimeoutMs: number): TuttiError {
  const message = `Cannot connect to ${origin} within ${connectTimeoutMs} ms`
  return new TuttiError('TOOL_TIMEOUT', message, { retryable: true })
}

/** Codes of system errors → what they mean for a reader. */
const MEANINGS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host was not found',
  EAI_AGAIN: 'the host could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
}

function failure(error: unknown, { origin }: URL): TuttiError {
  if (TuttiError.isInstance(error)) return error
  const meaning = MEANINGS[codeOf(error)] ?? errorMessage(error)
  return new TuttiError('TOOL_FAILED', `Request to ${origin} failed: ${meaning}`, {
    cause: error,
    retryable: !(error instanceof TypeError || error instanceof RangeError),
  })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
