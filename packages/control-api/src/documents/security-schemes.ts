/** Security schemes of the API documents. */

/** API key in the `Authorization` header. */
export const KEY_SCHEME = {
  type: 'http',
  scheme: 'bearer',
  description:
    'The header has a key of the server. A server without configured keys requires none.',
} as const

/** Ticket in the query, for browsers (OpenAPI). */
export const TICKET_SCHEME = {
  type: 'apiKey',
  in: 'query',
  name: 'ticket',
  description: 'A ticket from `POST /api/tickets`, for browsers that cannot send a header.',
} as const

/** Ticket in the query, for browsers (AsyncAPI). */
export const TICKET_IN_QUERY = {
  type: 'httpApiKey',
  in: 'query',
  name: 'ticket',
  description: TICKET_SCHEME.description,
} as const
