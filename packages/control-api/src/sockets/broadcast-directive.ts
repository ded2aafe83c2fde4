/** Sends the directive of a message to its run, or to all active ones. */
import { TuttiError } from '@tutti/core'
import { actorOf, badRequest, type Caller } from '@tutti/gateway/internal'
import { ERROR_CODES, isErrorCode } from '@tutti/protocol'
import {
  DirectiveAction,
  type DirectiveInput,
  type DirectiveMessage,
} from '@tutti/protocol/internal'

import { toDirective } from '../runs/to-directive.ts'

import type { RunService } from '@tutti/runs'
import type { RunRecord } from '@tutti/runs/adapter'

/** Maximum number of runs that one directive reaches. */
const PAGE = 1_000

/**
 * Injects a directive into one run, or into all active runs. Returns the id of the directive, the same in every run. A
 * directive to an ensemble is for all agents of its runs.
 *
 * @throws {TuttiError} like `RunService.send` when no run accepted it; BAD_REQUEST for an invalid message;
 * RUN_NOT_RUNNING when no run is active.
 */
export async function broadcastDirective(
  runs: RunService,
  message: DirectiveMessage,
  { runId, caller }: { readonly runId: string | undefined; readonly caller: Caller },
): Promise<string> {
  const directive = { ...readDirective(message), ...actorOf(caller), id: crypto.randomUUID() }
  const targets = await findTargets(runs, message.runId ?? runId)
  const taken = await Promise.allSettled(
    targets.map(({ runId: target, ensemble }) =>
      runs.send(target, { kind: 'inject', directive: forEnsemble(directive, ensemble) }),
    ),
  )
  const refusals = taken.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  const fault = refusals.find((reason) => !isRefusal(reason))
  if (fault !== undefined) throw fault
  if (refusals.length === taken.length) throw refusals[0]
  return directive.id
}

function readDirective(message: DirectiveMessage): DirectiveInput {
  const { content, to, from, action } = message
  if (content === undefined && action === undefined) {
    throw badRequest('message', [{ path: '/content', message: 'is required, or action' }])
  }
  if (action !== undefined && !DirectiveAction.enum.some((known) => known === action)) {
    const known = DirectiveAction.enum.join(', ')
    const problem = `must be one of ${known}, got ${JSON.stringify(action)}`
    throw badRequest('message', [{ path: '/action', message: problem }])
  }
  return {
    ...toDirective(message, { what: 'message' }),
    ...(to === undefined ? {} : { to }),
    ...(from === undefined ? {} : { from }),
  }
}

type TargetRun = Pick<RunRecord, 'runId' | 'ensemble'>

/** Returns the run with an id, or all active runs. */
async function findTargets(
  runs: RunService,
  runId: string | undefined,
): Promise<readonly TargetRun[]> {
  if (runId !== undefined) {
    const run = await runs.record(runId)
    return [{ runId, ensemble: run?.ensemble ?? '' }]
  }
  const page = await runs.list({
    statuses: ['RUNNING', 'WAITING_REVIEW', 'WAITING', 'CANCELLING'],
    limit: PAGE,
    offset: 0,
  })
  if (page.runs.length > 0) return page.runs
  throw new TuttiError('RUN_NOT_RUNNING', 'No run is active', { retryable: true })
}

function forEnsemble({ to, ...directive }: DirectiveInput, ensemble: string): DirectiveInput {
  return to === undefined || to === ensemble ? directive : { ...directive, to }
}

/** Returns whether a run refused the directive, because it has ended or has no task or agent of that name. */
function isRefusal(reason: unknown): boolean {
  if (!TuttiError.isInstance(reason) || !isErrorCode(reason.code)) return false
  return ERROR_CODES[reason.code].status < 500
}
