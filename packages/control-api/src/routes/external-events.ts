/** Receives external events, and creates links with which callers without a key send them. */
import { TuttiError } from '@tutti/core'
import { decode, isTerminalRunStatus, ROUTES } from '@tutti/protocol'
import {
  EventLinkBody,
  ExternalEventName,
  LinkedEventData,
  SendEventBody,
  type EventLink,
  type EventLinkContent,
  type EventReceived,
  type LinkedEventReceived,
} from '@tutti/protocol/internal'
import {
  audited,
  badRequest,
  locateRun,
  readJsonBody,
  type Caller,
  type HttpRoute,
  type Signer,
} from '@tutti/gateway/internal'
import { eventRunEnded } from '@tutti/runs/internal'

import { createEventToken, readEventToken } from '../auth/event-links.ts'

import type { ReceivedState } from '@tutti/runs/internal'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Returns the routes of external events. */
export function externalEventRoutes(
  {
    runs,
    maxBodyBytes,
    apiKeys,
    clock,
    trail,
  }: Pick<ResolvedControlApiOptions, 'runs' | 'maxBodyBytes' | 'apiKeys' | 'clock' | 'trail'>,
  signer: Signer,
): readonly HttpRoute[] {
  return [
    {
      ...ROUTES.sendEvent,
      async handle({ request, caller, addSubject, parameters: { name = '' } }) {
        const body = await readJsonBody(request, SendEventBody, maxBodyBytes)
        assertName(name)
        addSubject({ target: name })
        const { id, state } = await runs.externalEvents.receive({
          name,
          ...body,
          ...(caller.name === undefined ? {} : { sender: caller.name }),
        })
        const received = toEventReceived(id, state)
        if (received.runId !== undefined) addSubject({ runId: received.runId })
        return Response.json(received, { status: 202 })
      },
    },
    {
      ...ROUTES.createEventLink,
      async handle({ request, caller, addSubject, parameters: { name = '' } }) {
        const { expiresInMs, ...event } = await readJsonBody(request, EventLinkBody, maxBodyBytes)
        assertName(name)
        addSubject({ target: name, ...(event.runId === undefined ? {} : { runId: event.runId }) })
        if (event.runId !== undefined) await assertOpen(runs, event.runId, name)
        const lifetimeMs = chooseLifetime(expiresInMs, event, runs.externalEvents.maxAgeMs)
        const expiresAt = Math.min(clock.now() + lifetimeMs, caller.expiresAt)
        const expiry = Number.isFinite(expiresAt) ? { expiresAt } : {}
        const id = `link-${crypto.randomUUID()}`
        const key = apiKeys.find((known) => known.name === caller.name)
        const content = { issuer: key?.name ?? '', id, name, ...event, ...expiry }
        const link: EventLink = {
          path: `/api/event-links/${createEventToken(content, key, signer)}`,
          id,
          ...(expiry.expiresAt === undefined
            ? {}
            : { expiresAt: new Date(expiry.expiresAt).toISOString() }),
        }
        return Response.json(link, { status: 201 })
      },
    },
    {
      ...ROUTES.sendLinkedEvent,
      async handle({ request, caller, parameters: { token = '' } }) {
        // Verified first, so that only a valid link costs the time to read a body.
        const now = clock.now()
        const {
          issuer,
          expiresAt: _,
          ...event
        } = readEventToken(token, { keys: apiKeys, now }, signer)
        if (event.runId !== undefined) await assertWanted(runs, event.id, event.runId)
        const data = await readJsonBody(request, LinkedEventData, maxBodyBytes)
        return receiveLinked({ runs, trail }, { event, issuer, data, caller, now })
      },
    },
  ]
}

/** An event that a caller sends with a link. */
interface LinkedEvent {
  /** Content of the link without its issuer. */
  readonly event: Omit<EventLinkContent, 'issuer' | 'expiresAt'>
  /** Name of the key that created the link; empty if there is none. */
  readonly issuer: string
  readonly data: LinkedEventData
  readonly caller: Caller
  readonly now: number
}

/** Receives the event of a link, and records it in the audit trail (API-L6). */
async function receiveLinked(
  {
    runs: { externalEvents },
    trail,
  }: Pick<ResolvedControlApiOptions, 'trail'> & {
    readonly runs: Pick<ResolvedControlApiOptions['runs'], 'externalEvents'>
  },
  { event, issuer, data, caller, now }: LinkedEvent,
): Promise<Response> {
  const isKnown = (await externalEvents.state(event.id)) !== undefined
  const sender = issuer === '' ? undefined : issuer
  const { id, state } = await externalEvents.receive({
    ...event,
    data,
    ...(sender === undefined ? {} : { sender }),
  })
  const { status, runId } = toEventReceived(id, state)
  const respond = () => Response.json({ id, status } satisfies LinkedEventReceived, { status: 202 })
  // A repeated request changes nothing, so that a caller without a key cannot fill the audit trail.
  if (isKnown) return respond()
  const action = {
    caller: { ...caller, name: sender },
    action: 'sendLinkedEvent',
    via: 'http',
    target: event.name,
    ...(runId === undefined ? {} : { runId }),
  } as const
  return audited(action, { trail, now }, respond)
}

/** @throws {TuttiError} BAD_REQUEST for a name that no event can have. */
function assertName(name: string): void {
  if (decode(ExternalEventName, name).ok) return
  const message =
    'must be 1 to 100 letters, digits, "_", ".", ":" or "-" and start with a letter or digit'
  throw badRequest('event', [{ path: '/name', message }])
}

/** Checks that the run of a new link can get its event. @throws {TuttiError} RUN_NOT_FOUND; RUN_COMPLETED. */
async function assertOpen(
  runs: ResolvedControlApiOptions['runs'],
  runId: string,
  name: string,
): Promise<void> {
  const { status } = await locateRun(runs, runId)
  if (isTerminalRunStatus(status)) throw eventRunEnded(runId, name)
}

/**
 * Checks that a link for one run can still have an effect: that the run has not ended, or that it had the event before.
 *
 * @throws {TuttiError} NOT_FOUND.
 */
async function assertWanted(
  runs: Pick<ResolvedControlApiOptions['runs'], 'record' | 'externalEvents'>,
  eventId: string,
  runId: string,
): Promise<void> {
  const run = await runs.record(runId)
  if (run !== undefined && !isTerminalRunStatus(run.status)) return
  if ((await runs.externalEvents.state(eventId))?.kind === 'delivered') return
  throw new TuttiError('NOT_FOUND', 'This link has expired: its run has ended')
}

/** Longest validity of a link when events are stored for ever, in milliseconds: 1 year. */
const MAX_LINK_MS = 31_536_000_000

/**
 * Returns the time for which a link is valid. Its event must be known until then, so that it counts once: one for a run is
 * known until the run ends.
 *
 * @throws {TuttiError} BAD_REQUEST.
 */
function chooseLifetime(
  wantedMs: number | undefined,
  { runId }: EventLinkBody,
  maxAgeMs: number,
): number {
  if (wantedMs === undefined && runId !== undefined) return Infinity
  const maxMs = Math.min(runId === undefined ? maxAgeMs : Infinity, MAX_LINK_MS)
  const ms = wantedMs ?? maxMs
  if (ms <= maxMs) return ms
  const message = `must be at most ${maxMs}, the time for which the event is known, got ${ms}`
  throw badRequest('request body', [{ path: '/expiresInMs', message }])
}

function toEventReceived(id: string, state: ReceivedState): EventReceived {
  if (state.kind === 'free') return { id, status: 'STORED' }
  const { kind, runId, reviewId } = state
  return {
    id,
    status: kind === 'delivered' ? 'DELIVERED' : 'DELIVERING',
    ...(runId === undefined ? {} : { runId }),
    ...(reviewId === undefined ? {} : { reviewId }),
  }
}
