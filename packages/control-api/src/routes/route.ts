/** What a route handler is given and gives. */

/** A route of the protocol's table with what answers it. */
export interface Route {
  readonly method: string
  /** As in the table, with parameters like `{runId}`. */
  readonly path: string
  handle(call: RouteCall): Promise<Response> | Response
}

/** One request to a route. */
export interface RouteCall {
  readonly request: Request
  readonly parameters: Readonly<Record<string, string>>
}
