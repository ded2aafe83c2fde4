/** Sends one command to several runs. */
import { TuttiError } from '@tutti/core'
import { actorOf, badRequest, type Caller, cancelUnlessOver } from '@tutti/gateway'
import {
  DirectiveAction,
  ERROR_CODES,
  isErrorCode,
  type CancelRunsBody,
  type DirectiveMessage,
  type DirectiveInput,
  type RunsCancelled,
  type RunStatus,
} from '@tutti/protocol'

import { parseTag } from '../runs/list-runs.ts'
import { toDirective } from './to-command.ts'

import type { RunRecord, RunService } from '@tutti/runs'

/** Maximum number of passes over the runs of a tag; bounded so that the loop terminates. */
const MAX_PASSES = 10

/** Number of runs cancelled at the same time. */
const BATCH = 20

/** Page size of the list of runs, and maximum number of runs that one directive reaches. */
const PAGE = 1_000

/**
 * Cancels all unfinished runs with a tag and returns the status of each. Runs submitted meanwhile are cancelled too,
 * in at most {@link MAX_PASSES} passes.
 */
export async function cancelTaggedRuns(
  runs: RunService,
  { tag, mode }: CancelRunsBody,
  caller: Caller,
): Promise<RunsCancelled> {
  const statuses = new Map<string, RunStatus | undefined>()
  // Pages shift while runs end, so the list is read again to find skipped runs.
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const found = await unfinishedRuns(runs, tag)
    const fresh = found.filter((runId) => !statuses.has(runId))
    if (fresh.length === 0) break
    for (let first = 0; first < fresh.length; first += BATCH) {
      const batch = fresh.slice(first, first + BATCH)
      const ends = batch.map((runId) =>
        cancelUnlessOver(runs, runId, { mode, cause: 'CALLER', caller }),
      )
      for (const [index, status] of (await Promise.all(ends)).entries()) {
        statuses.set(batch[index] ?? '', status)
      }
    }
  }
  const cancelled = [...statuses].flatMap(([runId, status]) =>
    status === undefined ? [] : [{ runId, status }],
  )
  return { runs: cancelled, total: cancelled.length }
}

/** Returns the ids of the unfinished runs with a tag. */
async function unfinishedRuns(runs: RunService, tag: string): Promise<readonly string[]> {
  const ids: string[] = []
  let before: number | undefined
  for (;;) {
    const page = await runs.list({
      statuses: ['ACCEPTED', 'RUNNING', 'WAITING_REVIEW', 'WAITING_FOR_BUILD', 'CANCELLING'],
      tag: parseTag(tag),
      limit: PAGE,
      before,
    })
    ids.push(...page.runs.map(({ runId }) => runId))
    if (page.runs.length < PAGE) return ids
    before = page.runs.at(-1)?.place
  }
}

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
    statuses: ['RUNNING', 'WAITING_REVIEW', 'CANCELLING'],
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
