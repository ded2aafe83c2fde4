/** HTTP routes and their calls. */
import type { AddSubject } from './audited.ts'
import type { WireError } from './api-error.ts'
import type { StreamAnswer } from './event-stream.ts'
import type { Caller } from '../caller.ts'
import type { Scope } from '@tutti/protocol'

/** A route and its handler. */
export interface HttpRoute {
  readonly method: string
  /** Path as in the protocol's table, with parameters such as `{runId}`. */
  readonly path: string
  /** Scope that callers need; null for public routes. */
  readonly scope: Scope | null
  /** Returns the scope that a request needs instead, if that depends on its caller and on what its path names. */
  findScope?(parameters: Readonly<Record<string, string>>, caller: Caller): Promise<Scope>
  /** Whether a request belongs to this route, if a later route has the same path. @default all do */
  isFor?(request: Request): boolean
  /**
   * Media types of successful answers; `Accept` must allow one of them.
   *
   * @default that of the protocol's table; routes outside the table ignore `Accept`
   */
  readonly mediaTypes?: readonly string[]
  /** Whether a ticket in the query can replace the key. */
  readonly takesTicket?: true
  /** Whether the route itself rejects requests of HTML forms, with errors of its protocol. */
  readonly refusesForms?: true
  /**
   * Returns the answer to an error of this route, also of its authentication, limits and body.
   *
   * @default the error body of the control API
   */
  toErrorResponse?(error: WireError): Response
  handle(call: HttpRouteCall): Promise<RouteAnswer> | RouteAnswer
}

/** Answer of a route: a response, or a stream of events. */
export type RouteAnswer = Response | StreamAnswer

/** One request to a route. */
export interface HttpRouteCall {
  readonly request: Request
  readonly parameters: Readonly<Record<string, string>>
  readonly caller: Caller
  /** Adds the subject of the request to its audit entry, if the path does not contain it. */
  readonly addSubject: AddSubject
}
