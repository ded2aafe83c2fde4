/** Tickets for browsers, and the audit trail. Ours. */
import Type from 'typebox'
import { ErrorCodeName } from '../error-body.ts'
import { Scope } from '../enums.ts'
import { CLOSED, Count, Instant, NullableText } from '../scalars.ts'

/**
 * Answer to `POST /api/tickets`: takes the place of a key in the query `ticket` of a WebSocket or an event
 * stream, where browsers cannot send headers. It can read and do what its key can, until it expires.
 */
export const Ticket = Type.Object({ ticket: Type.String(), expiresAt: Instant })
export type Ticket = Type.Static<typeof Ticket>

/** Answer to `GET /api/me`: the key that the request carries, and what it may do. */
export const Identity = Type.Object({
  /** Name of the key; null on a server without keys, where everyone may do everything. */
  name: NullableText,
  scopes: Type.Array(Scope),
  /** Roles that reviews may require; null on a server without keys, where everyone may decide every review. */
  roles: Type.Union([Type.Array(Type.String()), Type.Null()]),
  /** When the key expires; absent when it never does. */
  expiresAt: Type.Optional(Instant),
})
export type Identity = Type.Static<typeof Identity>

/** Query of a WebSocket's address. */
export const SocketQuery = Type.Object(
  {
    /** For browsers, in place of a key. */
    ticket: Type.Optional(Type.String({ minLength: 1 })),
    /**
     * With `none`, `hello` is without runs, turns and reviews, and no event is sent before a `subscribe`
     * asks for it; `all` when absent.
     */
    snapshot: Type.Optional(Type.Enum(['all', 'none'])),
  },
  CLOSED,
)
export type SocketQuery = Type.Static<typeof SocketQuery>

/** Query of `GET /api/audit`: newest first. A page may have fewer entries than `limit`; the last page is empty. */
export const AuditQuery = Type.Object(
  {
    runId: Type.Optional(Type.String({ minLength: 1 })),
    actor: Type.Optional(Type.String({ minLength: 1 })),
    action: Type.Optional(Type.String({ minLength: 1 })),
    /** Maximum number of entries; 100 when absent. A page ends earlier when it reaches 1 MB. */
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    /** Only entries with a smaller `id`: the last one of the page before. */
    before: Type.Optional(Count),
  },
  CLOSED,
)
export type AuditQuery = Type.Static<typeof AuditQuery>

/** Who did what, and what came of it. */
export const AuditEntry = Type.Object({
  /** Grows with time. */
  id: Count,
  at: Instant,
  /** Name of the key, or `anonymous` where no keys are set. */
  actor: Type.String(),
  /** Name of the route, such as `cancelRun`, or type of the message, such as `run_control`. */
  action: Type.String(),
  via: Type.Enum(['http', 'websocket']),
  /** Address of the caller, as the connection says it. */
  remoteAddress: Type.Optional(Type.String()),
  runId: Type.Optional(Type.String()),
  /** The review, tool or tag it was about. */
  target: Type.Optional(Type.String()),
  outcome: Type.Enum(['DONE', 'REFUSED', 'FAILED']),
  /** Why it was refused, or failed. */
  error: Type.Optional(ErrorCodeName),
})
export type AuditEntry = Type.Static<typeof AuditEntry>

/** Answer to `GET /api/audit`. */
export const AuditList = Type.Object({ entries: Type.Array(AuditEntry) })
export type AuditList = Type.Static<typeof AuditList>
