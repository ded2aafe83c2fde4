/** Tells the agents of runs something, as a body or a message asks. */
import { TuttiError } from '@tutti/core'
import { DirectiveAction, ERROR_CODES, isErrorCode } from '@tutti/protocol'
import { actorOf, badRequest, type Caller, durationMs } from '@tutti/gateway'

import type { Directive, DirectiveInput, InjectAccepted, InjectBody } from '@tutti/protocol'
import type { RunRecord, RunService } from '@tutti/runs'

/** Runs that one directive without a run reaches, at most: as many as could ever be at work. */
const MAX_RUNS = 1_000

/**
 * Tells the agents of one run what a body says, or does the action that it names.
 *
 * @throws {TuttiError} as `RunService.send`, and BAD_REQUEST for a time that is no length.
 */
export async function injectDirective(
  runs: RunService,
  runId: string,
  {
    content,
    action,
    value,
    target,
    priority,
    ttl,
    caller,
  }: InjectBody & { readonly caller: Caller },
): Promise<InjectAccepted> {
  const directive = {
    ...(content === undefined ? {} : { content }),
    ...(action === undefined ? {} : { action }),
    ...(value === undefined ? {} : { value }),
    ...actorOf(caller),
    ...(target === undefined ? {} : { to: target }),
    ...(priority === undefined ? {} : { priority }),
    ...(ttl === undefined ? {} : { ttlMs: ttlMs(ttl, 'Request body') }),
  }
  const { id } = await runs.send(runId, { kind: 'inject', directive })
  return { directiveId: id, status: 'ACTIVE' }
}

/**
 * Tells the agents of a run, or of every run that is at work, what a message says; resolves with the
 * directive's id, the same in every run. A directive to an ensemble is for all agents of its runs.
 *
 * @throws {TuttiError} as `RunService.send`, when no run has taken it; BAD_REQUEST naming what the
 * message lacks; RUN_NOT_RUNNING when no run is at work.
 */
export async function broadcastDirective(
  runs: RunService,
  message: Directive,
  { homeRunId, caller }: { readonly homeRunId: string | undefined; readonly caller: Caller },
): Promise<string> {
  const directive = { ...toDirective(message), ...actorOf(caller), id: crypto.randomUUID() }
  const targets = await runsMeant(runs, message.runId ?? homeRunId)
  const taken = await Promise.allSettled(
    targets.map(({ runId, ensemble }) =>
      runs.send(runId, { kind: 'inject', directive: forEnsemble(directive, ensemble) }),
    ),
  )
  const refusals = taken.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  const fault = refusals.find((reason) => !isRefusal(reason))
  if (fault !== undefined) throw fault
  if (refusals.length === taken.length) throw refusals[0]
  return directive.id
}

function toDirective(message: Directive): DirectiveInput {
  const { content, to, from, action, value, ttl, priority } = message
  if (content === undefined && action === undefined) {
    throw badRequest('Message', [{ path: '/content', message: 'is required, or action' }])
  }
  if (action !== undefined && !DirectiveAction.enum.some((known) => known === action)) {
    const known = DirectiveAction.enum.join(', ')
    const problem = `must be one of ${known}, got ${JSON.stringify(action)}`
    throw badRequest('Message', [{ path: '/action', message: problem }])
  }
  return {
    ...(content === undefined ? {} : { content }),
    ...(action === undefined ? {} : { action }),
    ...(value === undefined ? {} : { value }),
    ...(to === undefined ? {} : { to }),
    ...(from === undefined ? {} : { from }),
    ...(priority === undefined ? {} : { priority }),
    ...(ttl === undefined ? {} : { ttlMs: ttlMs(ttl, 'Message') }),
  }
}

type RunMeant = Pick<RunRecord, 'runId' | 'ensemble'>

/** The run of that id, or every run that is at work. */
async function runsMeant(
  runs: RunService,
  runId: string | undefined,
): Promise<readonly RunMeant[]> {
  if (runId !== undefined) {
    const run = (await runs.get(runId))?.run
    return [{ runId, ensemble: run?.ensemble ?? '' }]
  }
  const page = await runs.list({
    statuses: ['RUNNING', 'WAITING_REVIEW', 'CANCELLING'],
    limit: MAX_RUNS,
    offset: 0,
  })
  if (page.runs.length > 0) return page.runs
  throw new TuttiError('RUN_NOT_RUNNING', 'No run is being worked on', { retryable: true })
}

function forEnsemble({ to, ...directive }: DirectiveInput, ensemble: string): DirectiveInput {
  return to === undefined || to === ensemble ? directive : { ...directive, to }
}

/** Whether a run has refused the directive, as it is over or has nobody of that name. */
function isRefusal(reason: unknown): boolean {
  if (!TuttiError.isInstance(reason) || !isErrorCode(reason.code)) return false
  return ERROR_CODES[reason.code].status < 500
}

function ttlMs(ttl: string, what: string): number {
  const length = durationMs(ttl)
  if (length !== undefined && length > 0) return length
  const message = `must be longer than 0 and count no months or years, got "${ttl}"`
  throw badRequest(what, [{ path: '/ttl', message }])
}
