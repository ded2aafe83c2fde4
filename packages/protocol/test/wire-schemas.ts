/** The schemas of the wire, by sender. */
import * as api from '../src/index.ts'
import * as internal from '../src/internal.ts'

import type { Route } from '../src/internal.ts'

const routes: readonly Route[] = Object.values(api.ROUTES)

/** Schemas of everything that clients send. */
export const SENT_BY_CLIENTS: readonly unknown[] = [
  api.ClientMessage,
  ...routes.flatMap(({ body, query }) => [body, query].filter((schema) => schema !== undefined)),
]

/** Schemas of everything that servers send. */
export const SENT_BY_SERVERS: readonly unknown[] = [
  api.ServerMessage,
  internal.HubMessage,
  api.ErrorBody,
  internal.ExecutionTrace,
  internal.DagModel,
  internal.ProcessToolRequest,
  internal.ProcessToolResponse,
  api.WebhookDelivery,
  ...routes.flatMap(({ response, others = [] }) =>
    [response, ...others.map((other) => other.response)].filter((schema) => schema !== null),
  ),
]
