/** What a route handler is given and gives. */
import type { AddSubject } from './audited.ts'
import type { Caller } from '../caller.ts'
import type { Scope } from '@tutti/protocol'

/** A route of the protocol's table with what answers it. */
export interface HttpRoute {
  readonly method: string
  /** As in the table, with parameters like `{runId}`. */
  readonly path: string
  /** What its callers must be allowed to do; null when everybody may. */
  readonly scope: Scope | null
  /** Which requests are of this route, where another one after it has the same address. @default all */
  isFor?(request: Request): boolean
  /**
   * Media types that it can send on success, one of which `Accept` must allow.
   *
   * @default that of the protocol's table; routes that are not in the table ignore `Accept`
   */
  readonly mediaTypes?: readonly string[]
  /** True where a ticket in the query takes the place of a key. */
  readonly takesTicket?: true
  /** True where the route itself refuses what forms of web pages send, in the words of its own protocol. */
  readonly refusesForms?: true
  handle(call: HttpRouteCall): Promise<Response> | Response
}

/** One request to a route. */
export interface HttpRouteCall {
  readonly request: Request
  readonly parameters: Readonly<Record<string, string>>
  readonly caller: Caller
  /** Says for the audit trail what the request is about, where its path does not. */
  readonly addSubject: AddSubject
}
