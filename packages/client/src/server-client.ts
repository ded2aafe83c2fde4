/** Calls about the server itself: health, capabilities, status, audit trail. */
import {
  decode,
  ROUTES,
  routePath,
  type Capabilities,
  type Identity,
  type ServerStatus,
} from '@tutti/protocol'
import type {
  AuditList,
  AuditQuery,
  DrainAccepted,
  Liveness,
  Readiness,
  Ticket,
} from '@tutti/protocol/internal'

import { callRoute } from './http/call-route.ts'
import { exchange, type CallOptions } from './http/exchange.ts'
import { answerError, decodeAnswer } from './http/read-answer.ts'

import type { ResolvedClientOptions } from './options.ts'

/** A document that describes the API in the format of its standard. */
export type ApiDocument = Readonly<Record<string, unknown>>

/** Probes of a server; they need no key. */
export interface HealthClient {
  /** Returns whether the process is alive. */
  live(options?: CallOptions): Promise<Liveness>
  /** Returns whether the server accepts runs; NOT_READY is a result, not an error. */
  ready(options?: CallOptions): Promise<Readiness>
}

/** Tickets that replace the key where a browser cannot send it. */
export interface TicketsClient {
  /** Creates a ticket with the permissions of this client's key; it expires. */
  create(options?: CallOptions): Promise<Ticket>
}

/** Audit trail of a server. */
export interface AuditClient {
  /** Returns a page of entries, newest first; `before` is the last `id` of the previous page. */
  list(query?: AuditQuery, options?: CallOptions): Promise<AuditList>
}

/** Calls about the server itself. Every method throws {@link TuttiClientError}. */
export interface ServerClient {
  readonly health: HealthClient
  readonly tickets: TicketsClient
  readonly audit: AuditClient
  /** Returns the ensembles, models and tools of the server. */
  capabilities(options?: CallOptions): Promise<Capabilities>
  /** Returns the name, scopes and roles of the key of this client. */
  identity(options?: CallOptions): Promise<Identity>
  /** Returns the state of the server. */
  status(options?: CallOptions): Promise<ServerStatus>
  /** Drains the server: it accepts no new runs, completes or hands over the active ones, and stops. */
  drain(options?: CallOptions): Promise<DrainAccepted>
  /** Returns the OpenAPI 3.1 document of the server's routes. */
  openApi(options?: CallOptions): Promise<ApiDocument>
  /** Returns the AsyncAPI 3.0 document of the server's WebSocket. */
  asyncApi(options?: CallOptions): Promise<ApiDocument>
}

/** Creates the server part of a client. */
export function createServerClient(settings: ResolvedClientOptions): ServerClient {
  return {
    health: {
      live: async (options) =>
        callRoute(settings, ROUTES.getLiveness, { ...options, path: routePath('getLiveness') }),
      ready: async (options) => readiness(settings, options),
    },
    tickets: {
      create: async (options) =>
        callRoute(settings, ROUTES.createTicket, { ...options, path: routePath('createTicket') }),
    },
    audit: {
      list: async (query = {}, options = {}) =>
        callRoute(settings, ROUTES.listAudit, { ...options, path: routePath('listAudit'), query }),
    },
    capabilities: async (options) =>
      callRoute(settings, ROUTES.getCapabilities, {
        ...options,
        path: routePath('getCapabilities'),
      }),
    identity: async (options) =>
      callRoute(settings, ROUTES.getIdentity, { ...options, path: routePath('getIdentity') }),
    status: async (options) =>
      callRoute(settings, ROUTES.getStatus, { ...options, path: routePath('getStatus') }),
    drain: async (options) =>
      callRoute(settings, ROUTES.drain, { ...options, path: routePath('drain') }),
    openApi: async (options) =>
      callRoute(settings, ROUTES.getOpenApi, { ...options, path: routePath('getOpenApi') }),
    asyncApi: async (options) =>
      callRoute(settings, ROUTES.getAsyncApi, { ...options, path: routePath('getAsyncApi') }),
  }
}

/** Returns the readiness; a server that is not ready sends it with an error status. */
async function readiness(
  settings: ResolvedClientOptions,
  options: CallOptions | undefined,
): Promise<Readiness> {
  const { method, response, others } = ROUTES.getReadiness
  const [{ status: alsoGood }] = others
  const path = routePath('getReadiness')
  const answer = await exchange(settings, { ...options, method, path, alsoGood })
  const isReadiness = answer.status !== alsoGood || decodes(answer.text)
  if (!isReadiness) throw answerError(answer)
  return decodeAnswer(answer, (value) => decode(response, value))
}

function decodes(text: string): boolean {
  try {
    return decode(ROUTES.getReadiness.response, JSON.parse(text)).ok
  } catch {
    return false
  }
}
