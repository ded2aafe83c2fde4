/** Tickets for browsers, identity of the caller, and the audit log. */
import Type from 'typebox'
import { ErrorCodeName } from '../error-body.ts'
import { CancelCause, Scope } from '../enums.ts'
import { CLOSED, Count, Instant, Limit, NullableText } from '../scalars.ts'

import type { Static } from '../../static.ts'

/**
 * Response of `POST /api/tickets`. A ticket replaces a key in the query `ticket` of a WebSocket or an event stream,
 * where browsers cannot send headers. Until it expires it has all permissions of its key.
 */
export const Ticket = Type.Object({
  /** Ticket to send. */
  ticket: Type.String(),
  /** Time at which the ticket expires. */
  expiresAt: Instant,
})
export type Ticket = Static<typeof Ticket>

/** Response of `GET /api/me`: the key of the caller and its permissions. */
export const Identity = Type.Object({
  /** Name of the key; null on a server without keys, where every caller has all permissions. */
  name: NullableText,
  /** Scopes of the key. */
  scopes: Type.Array(Scope),
  /** Roles that reviews can require; null on a server without keys, where every caller can decide every review. */
  roles: Type.Union([Type.Array(Type.String()), Type.Null()]),
  /** Time at which the key expires; absent when it does not expire. */
  expiresAt: Type.Optional(Instant),
})
export type Identity = Static<typeof Identity>

/** Query of the URL of a WebSocket. */
export const SocketQuery = Type.Object(
  {
    /** Ticket, for browsers that cannot send a key. */
    ticket: Type.Optional(Type.String({ minLength: 1 })),
    /**
     * With `none`, `hello` contains no runs, turns or reviews, and no event is sent before `subscribe` requests it;
     * `all` when absent.
     */
    snapshot: Type.Optional(Type.Enum(['all', 'none'])),
  },
  CLOSED,
)
export type SocketQuery = Static<typeof SocketQuery>

/** Query of `GET /api/audit`, newest first. A page can have fewer entries than `limit`; the last page is empty. */
export const AuditQuery = Type.Object(
  {
    /** Only entries about this run. */
    runId: Type.Optional(Type.String({ minLength: 1 })),
    /** Only entries of this key. */
    actor: Type.Optional(Type.String({ minLength: 1 })),
    /** Only entries of this action. */
    action: Type.Optional(Type.String({ minLength: 1 })),
    /** Maximum number of entries; 100 when absent. A page ends earlier when it reaches 1 MB. */
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    /** Only entries with a smaller `id`; pass the last one of the previous page. */
    before: Type.Optional(Limit),
  },
  CLOSED,
)
export type AuditQuery = Static<typeof AuditQuery>

/** Action of a caller, and its outcome. */
export const AuditEntry = Type.Object({
  /** Number of the entry; grows over time. */
  id: Count,
  /** Time of the action. */
  at: Instant,
  /** Name of the key, or `anonymous` on a server without keys. */
  actor: Type.String(),
  /** Name of the route, such as `cancelRun`, or type of the message, such as `run_control`. */
  action: Type.String(),
  /** Protocol of the request. */
  via: Type.Enum(['http', 'websocket']),
  /** Address of the caller, as reported by the connection. */
  remoteAddress: Type.Optional(Type.String()),
  /** Id of the run. */
  runId: Type.Optional(Type.String()),
  /** Review, tool or tag that the action was about. */
  target: Type.Optional(Type.String()),
  /** With `cancelRun`: what caused the cancel, unless a caller requested it. */
  cause: Type.Optional(CancelCause),
  /** Outcome of the action. */
  outcome: Type.Enum(['DONE', 'REFUSED', 'FAILED']),
  /** Error code; present unless the outcome is DONE. */
  error: Type.Optional(ErrorCodeName),
})
export type AuditEntry = Static<typeof AuditEntry>

/** Response of `GET /api/audit`. */
export const AuditList = Type.Object({ entries: Type.Array(AuditEntry) })
export type AuditList = Static<typeof AuditList>
