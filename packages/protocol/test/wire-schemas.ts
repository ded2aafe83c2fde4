/** The schemas of the wire, by sender. */
import * as protocol from '../src/index.ts'

import type { Route } from '../src/index.ts'

const routes: readonly Route[] = Object.values(protocol.ROUTES)

/** Schemas of everything that clients send. */
export const SENT_BY_CLIENTS: readonly unknown[] = [
  protocol.ClientMessage,
  ...routes.flatMap(({ body, query }) => [body, query].filter((schema) => schema !== undefined)),
]

/** Schemas of everything that servers send. */
export const SENT_BY_SERVERS: readonly unknown[] = [
  protocol.ServerMessage,
  protocol.HubMessage,
  protocol.ErrorBody,
  protocol.ExecutionTrace,
  protocol.DagModel,
  protocol.ProcessToolRequest,
  protocol.ProcessToolResponse,
  protocol.WebhookDelivery,
  ...routes.flatMap(({ response, others = [] }) =>
    [response, ...others.map((other) => other.response)].filter((schema) => schema !== null),
  ),
]
