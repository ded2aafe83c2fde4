/** The response of a route that has answered on the connection itself. */
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'

/**
 * Tells the server of Hono to write nothing. A copy is a response of Node. The original is one only if no server of Hono
 * existed in the process when its module was loaded: each replaces the global `Response`, and writes instances of its own
 * without a look at this mark.
 */
export const ALREADY_SENT = RESPONSE_ALREADY_SENT.clone()
