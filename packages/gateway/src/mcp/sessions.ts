/**
 * Sessions of clients with protocol 2025-11-25 or older. Without a session such a client could neither cancel a call
 * nor answer a question.
 *
 *   initialize ─▶ session ─▶ requests · notifications/cancelled · answers ─▶ DELETE, or idle timeout
 *
 * GW-S1 A session belongs to the caller that opened it; for others it does not exist.
 * GW-S2 The server never ends a session with a call in progress. At the limit, the longest idle session of the same key
 *    is ended; that of another key only if this key has more sessions than the caller.
 * GW-S3 A session exists in one process. Others answer 404, and the client initializes again, as the specification
 *    requires.
 *
 * A lost connection does not end a call, as the specification of this era requires. A cancel and a DELETE do.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { TuttiError } from '@tutti/core'

import { toAuthInfo } from './caller.ts'
import { createMcpServer, type McpServerParts } from './server.ts'

import type { Caller } from '../caller.ts'

/** Maximum number of sessions of one process; each takes about 5 kB. */
export const MAX_SESSIONS = 1_000

/** One key may have the maximum number of sessions divided by this. */
const KEY_SHARE = 4

/** Idle timeout of a session, in milliseconds. */
export const SESSION_IDLE_MS = 30 * 60_000

/** `Retry-After` when every session is in use, in milliseconds. */
const RETRY_MS = 5_000

interface Session {
  readonly owner: string | undefined
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly close: () => Promise<void>
  /** Time of the last use on the monotonic clock, in milliseconds. */
  usedAt: number
  calls: number
}

/** Sessions of one process. */
export class McpSessions {
  readonly #parts: McpServerParts
  readonly #maxSessions: number
  readonly #sessions = new Map<string, Session>()

  constructor(parts: McpServerParts, maxSessions: number = MAX_SESSIONS) {
    this.#parts = parts
    this.#maxSessions = maxSessions
  }

  /**
   * Answers a request of this era.
   *
   * @throws {TuttiError} CONCURRENCY_LIMIT when every session that could make room is in use.
   */
  async handle(request: Request, parsedBody: unknown, caller: Caller): Promise<Response> {
    const sessionId = request.headers.get('mcp-session-id')
    if (sessionId === null && isInitializeRequest(parsedBody))
      return this.#open(request, parsedBody, caller)
    if (sessionId === null) {
      return jsonRpcError(400, { code: -32_000, message: NO_SESSION })
    }
    this.#sweep()
    const session = this.#sessions.get(sessionId)
    if (session === undefined || session.owner !== caller.name) {
      return jsonRpcError(404, { code: -32_001, message: 'Session not found: initialize again' })
    }
    session.usedAt = this.#now()
    return session.transport.handleRequest(request, { parsedBody, authInfo: toAuthInfo(caller) })
  }

  async #open(request: Request, parsedBody: unknown, caller: Caller): Promise<Response> {
    this.#sweep()
    this.#makeRoom(caller.name)
    const session = await this.#create(caller)
    return session.transport.handleRequest(request, { parsedBody, authInfo: toAuthInfo(caller) })
  }

  async #create({ name: owner }: Caller): Promise<Session> {
    const { heartbeatMs, maxBodyBytes } = this.#parts.service.options
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (sessionId) => {
        this.#sessions.set(sessionId, session)
      },
      onsessionclosed: (sessionId) => {
        this.#sessions.delete(sessionId)
      },
      keepAliveMs: heartbeatMs,
      maxRequestBodySize: maxBodyBytes,
    })
    const server = createMcpServer(this.#parts, {
      era: 'legacy',
      onCalls: (change) => {
        session.calls += change
        session.usedAt = this.#now()
      },
    })
    const session: Session = {
      owner,
      transport,
      close: () => server.close(),
      usedAt: this.#now(),
      calls: 0,
    }
    await server.connect(transport)
    return session
  }

  /** Ends sessions after their idle timeout. */
  #sweep(): void {
    const oldest = this.#now() - SESSION_IDLE_MS
    for (const [sessionId, { usedAt, calls }] of this.#sessions) {
      if (calls === 0 && usedAt < oldest) this.#end(sessionId)
    }
  }

  #makeRoom(owner: string | undefined): void {
    const own = this.#sessionsOf(owner)
    const limit = owner === undefined ? this.#maxSessions : this.#maxSessions / KEY_SHARE
    if (own.length < limit && this.#sessions.size < this.#maxSessions) return
    const ended =
      longestIdle(own) ?? (own.length < limit ? this.#idleOfLarger(own.length) : undefined)
    if (ended !== undefined) {
      this.#end(ended)
      return
    }
    const isOwnLimit = own.length >= limit
    throw new TuttiError(
      'CONCURRENCY_LIMIT',
      isOwnLimit
        ? `Limit of MCP sessions per key reached: ${own.length}`
        : `Limit of MCP sessions reached: ${this.#sessions.size}`,
      { retryable: true, details: { retryAfterMs: RETRY_MS, reason: 'mcp_sessions' } },
    )
  }

  #sessionsOf(owner: string | undefined): readonly Entry[] {
    return [...this.#sessions].filter(([, session]) => session.owner === owner)
  }

  /** Returns the longest idle session of the key with the most sessions, if it has at least two more than `count`. */
  #idleOfLarger(count: number): string | undefined {
    const owners = new Set([...this.#sessions.values()].map(({ owner }) => owner))
    const [most = []] = [...owners]
      .map((owner) => this.#sessionsOf(owner))
      .toSorted((a, b) => b.length - a.length)
    return most.length > count + 1 ? longestIdle(most) : undefined
  }

  #end(sessionId: string): void {
    const session = this.#sessions.get(sessionId)
    this.#sessions.delete(sessionId)
    session?.close().catch((error: unknown) => {
      this.#parts.service.options.logger.debug('Failed to close an MCP session', { error })
    })
  }

  #now(): number {
    return this.#parts.service.options.clock.elapsed()
  }
}

type Entry = readonly [id: string, session: Session]

function longestIdle(sessions: readonly Entry[]): string | undefined {
  const idle = sessions.filter(([, { calls }]) => calls === 0)
  return idle.toSorted(([, a], [, b]) => a.usedAt - b.usedAt)[0]?.[0]
}

const NO_SESSION =
  'Mcp-Session-Id is required: send initialize first, or use protocol 2026-07-28, which has no sessions'

/** A JSON-RPC error. @see https://www.jsonrpc.org/specification#error_object */
interface JsonRpcFault {
  readonly code: number
  readonly message: string
}

/** Returns an error response for a message that does not reach the SDK. */
export function jsonRpcError(status: number, error: JsonRpcFault): Response {
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status })
}
