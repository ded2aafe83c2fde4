/** The identity of the caller, tickets and the audit trail. */
import { ROUTES, type Identity } from '@tutti/protocol'
import { AuditQuery, type AuditList, type Ticket } from '@tutti/protocol/internal'

import { readQuery } from '../http/read-query.ts'
import { makeTicket } from '../auth/tickets.ts'

import type { Caller, HttpRoute, Signer } from '@tutti/gateway/internal'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Default number of entries on a page. */
const DEFAULT_LIMIT = 100

/** Size after which a page ends, in bytes. */
const MAX_PAGE_BYTES = 1_000_000

/** Converts a caller to the body of `getIdentity`. */
function toIdentity({ name, scopes, roles, expiresAt }: Caller): Identity {
  return {
    name: name ?? null,
    scopes: [...scopes],
    roles: roles === undefined ? null : [...roles],
    ...(expiresAt === Infinity ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
  }
}

/** Returns the routes for the identity of the caller, for tickets and for the audit trail. */
export function accessRoutes(
  options: ResolvedControlApiOptions,
  signer: Signer,
): readonly HttpRoute[] {
  const { apiKeys, clock, ticketTtlMs, runs, trail } = options
  return [
    {
      ...ROUTES.createTicket,
      handle({ caller }) {
        // A server without keys also issues tickets, and never verifies them. Clients need no special case.
        const key = apiKeys.find(({ name }) => name === caller.name)
        const expiresAt = Math.min(clock.now() + ticketTtlMs, caller.expiresAt)
        const ticket: Ticket = {
          ticket: makeTicket({ key, expiresAt }, signer),
          expiresAt: new Date(expiresAt).toISOString(),
        }
        return Response.json(ticket, { status: ROUTES.createTicket.status })
      },
    },
    {
      ...ROUTES.getIdentity,
      handle: ({ caller }) => Response.json(toIdentity(caller)),
    },
    {
      ...ROUTES.listAudit,
      async handle({ request }) {
        const { limit = DEFAULT_LIMIT, ...query } = readQuery(request.url, AuditQuery)
        // Flushed first, so that the list includes all earlier requests.
        await trail.flush()
        const page = { ...query, limit, maxBytes: MAX_PAGE_BYTES }
        const entries: AuditList['entries'] = [...(await runs.stores.audit.list(page))]
        return Response.json({ entries } satisfies AuditList)
      },
    },
  ]
}
