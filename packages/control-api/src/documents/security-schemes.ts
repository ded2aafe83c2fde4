/** How callers are let in, as both kinds of documents say it. */

/** A key in the header. */
export const KEY_SCHEME = {
  type: 'http',
  scheme: 'bearer',
  description: 'One of the keys of the server. Without any, everybody may do everything.',
} as const

/** A ticket in the query, for browsers. */
export const TICKET_SCHEME = {
  type: 'apiKey',
  in: 'query',
  name: 'ticket',
  description: 'What `POST /api/tickets` gave, where a browser cannot send a header.',
} as const

/** The same ticket, in the words of AsyncAPI. */
export const TICKET_IN_QUERY = {
  type: 'httpApiKey',
  in: 'query',
  name: 'ticket',
  description: TICKET_SCHEME.description,
} as const
