/** External events for the runs of a server. */
import { ROUTES, routePath } from '@tutti/protocol'
import type {
  EventLink,
  EventLinkBody,
  EventReceived,
  SendEventBody,
} from '@tutti/protocol/internal'

import { callRoute } from './http/call-route.ts'

import type { CallOptions } from './http/exchange.ts'
import type { ResolvedClientOptions } from './options.ts'

/** External events. Every method throws {@link TuttiClientError}. */
export interface EventsClient {
  /**
   * Sends an event to the wait that opened first for its name and key, or stores it for one. Without an id it gets a random one,
   * under which a repeated call counts once.
   */
  send(name: string, event?: SendEventBody, options?: CallOptions): Promise<EventReceived>
  /** Creates a link with which a caller without a key sends one event: `POST` with the data as JSON. */
  createLink(name: string, link?: EventLinkBody, options?: CallOptions): Promise<EventLink>
}

/** Creates the events part of a client. */
export function createEventsClient(settings: ResolvedClientOptions): EventsClient {
  return {
    send: async (name, event = {}, options = {}) =>
      callRoute(settings, ROUTES.sendEvent, {
        ...options,
        path: routePath('sendEvent', { name }),
        body: { id: crypto.randomUUID(), ...event },
        // The id makes it safe to repeat.
        isSafe: true,
      }),
    createLink: async (name, link = {}, options = {}) =>
      callRoute(settings, ROUTES.createEventLink, {
        ...options,
        path: routePath('createEventLink', { name }),
        body: link,
        // A link has no effect until it is used.
        isSafe: true,
      }),
  }
}
