/** What a client asks of the server itself: how it is, what it offers, who did what. */
import {
  decode,
  ROUTES,
  routePath,
  type AuditList,
  type AuditQuery,
  type Capabilities,
  type DrainAccepted,
  type Identity,
  type Liveness,
  type Readiness,
  type ServerStatus,
  type Ticket,
} from '@tutti/protocol'

import { callRoute } from './http/call-route.ts'
import { exchange, type CallOptions } from './http/exchange.ts'
import { answerError, decodeAnswer } from './http/read-answer.ts'

import type { ResolvedClientOptions } from './options.ts'

/** A document that describes the API; its own standard says what is in it. */
export type ApiDocument = Readonly<Record<string, unknown>>

/** Probes of a server; they need no key. */
export interface HealthClient {
  /** Says that the process is alive. */
  live(options?: CallOptions): Promise<Liveness>
  /** Says whether runs are taken; NOT_READY is an answer too, and no error. */
  ready(options?: CallOptions): Promise<Readiness>
}

/** Tickets that take the place of a key where a browser cannot send one. */
export interface TicketsClient {
  /** Makes a ticket that can do what the key of this client can, until it expires. */
  create(options?: CallOptions): Promise<Ticket>
}

/** Who did what. */
export interface AuditClient {
  /** A page of entries, newest first; `before` is the `id` of the last entry of the page before. */
  list(query?: AuditQuery, options?: CallOptions): Promise<AuditList>
}

/** The server itself. Every method throws {@link TuttiClientError}. */
export interface ServerClient {
  readonly health: HealthClient
  readonly tickets: TicketsClient
  readonly audit: AuditClient
  /** The ensembles, models and tools that the server offers. */
  capabilities(options?: CallOptions): Promise<Capabilities>
  /** The name, scopes and roles of the key of this client. */
  identity(options?: CallOptions): Promise<Identity>
  /** How the server is. */
  status(options?: CallOptions): Promise<ServerStatus>
  /** Has the server take no new runs, end or hand over the running ones, and stop. */
  drain(options?: CallOptions): Promise<DrainAccepted>
  /** The OpenAPI 3.1 document of the server's routes. */
  openApi(options?: CallOptions): Promise<ApiDocument>
  /** The AsyncAPI 3.0 document of its WebSocket. */
  asyncApi(options?: CallOptions): Promise<ApiDocument>
}

/** Makes the part of a client that is about the server. */
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

/** A server that takes no runs says so with the status of an error and the body of an answer. */
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
