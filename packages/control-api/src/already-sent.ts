/** The response of a route that has answered on the connection itself. */
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'

/**
 * Marks a request as answered, so that the server of Hono writes nothing. A copy is a response of Node. The original is one
 * only if no server of Hono existed in the process when its module was loaded: each replaces the global `Response`, and
 * writes instances of that class without a look at the mark.
 */
export const ALREADY_SENT = RESPONSE_ALREADY_SENT.clone()
