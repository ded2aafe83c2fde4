/** The identity of the caller, tickets and the audit trail. */
import { AuditQuery, ROUTES, type AuditList, type Identity, type Ticket } from '@tutti/protocol'

import { readQuery } from '../http/read-query.ts'
import { makeTicket } from '../auth/tickets.ts'

import type { Caller, HttpRoute, Signer } from '@tutti/gateway'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Entries on a page when the query names no limit. */
const DEFAULT_LIMIT = 100

/** Size after which a page of audit entries ends, in bytes. */
const MAX_PAGE_BYTES = 1_000_000

/** The key of a caller, as the caller is told of it. */
function toIdentity({ name, scopes, roles, expiresAt }: Caller): Identity {
  return {
    name: name ?? null,
    scopes: [...scopes],
    roles: roles === undefined ? null : [...roles],
    ...(expiresAt === Infinity ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
  }
}

/** The routes for the identity of the caller, for tickets and for the audit trail. */
export function accessRoutes(
  options: ResolvedControlApiOptions,
  signer: Signer,
): readonly HttpRoute[] {
  const { apiKeys, clock, ticketTtlMs, runs, trail } = options
  return [
    {
      ...ROUTES.createTicket,
      handle({ caller }) {
        // A server without keys issues tickets too and never verifies them: clients need no special case.
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
        // What was asked for before is in the list.
        await trail.flush()
        const page = { ...query, limit, maxBytes: MAX_PAGE_BYTES }
        const entries: AuditList['entries'] = [...(await runs.audit.list(page))]
        return Response.json({ entries } satisfies AuditList)
      },
    },
  ]
}
