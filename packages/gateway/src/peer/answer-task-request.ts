/**
 * Does what a peer asks of a shared task: a run of an ensemble, under the name that the peer knows.
 *
 *   task ─find─▶ ensemble · context ─▶ inputs ─cached?─▶ submit ─▶ accepted ─▶ progress … ─▶ response
 *
 * T1 `task_accepted` comes as soon as the run is durable and says which it is, so that the peer can cancel
 *    it; `task_response` comes when it has ended.
 * T2 The same `requestId` of the same peer is one run, however often it is asked and over which connection;
 *    each time its end is told. The connection that goes away changes nothing.
 * T3 A run that is not done at its deadline is cancelled, by the process that was asked.
 * T4 With USE_CACHED the newest run of the same task, key and actor that was COMPLETED, and is not too old,
 *    answers.
 */
import { TuttiError } from '@tutti/core'
import { shortList, shortText, suggest, type TaskRequest } from '@tutti/protocol'

import { actorOf } from '../caller.ts'
import { submitRun } from '../runs/submit-run.ts'
import { cancelAtDeadline } from './cancel-at-deadline.ts'
import { inputsOfText } from './inputs-of-text.ts'
import { reportTask } from './report-task.ts'
import { cacheKeyOf, requestKey } from './request-key.ts'
import { sharedEnsembles } from './shared.ts'
import { deadlineOf } from './task-reports.ts'
import { traceOfPeer } from './trace-of-peer.ts'
import { taskWishes, type TaskWishes } from './task-wishes.ts'

import type { PeerCall } from './peer-call.ts'
import type { Ensemble } from '@tutti/ensemble'
import type { RunRecord } from '@tutti/runs'

/** Tag of runs that peers asked for: by which one. */
const PEER_TAG = 'peer'

/** Runs under one cache key that are looked at for one that is fresh. */
const CACHED_RUNS = 10

/**
 * Takes the task; its end is told later.
 *
 * @throws {TuttiError} BAD_REQUEST naming what does not fit, INVALID_ENSEMBLE for an unknown task, and as
 * `submitRun`; nothing was sent then.
 */
export async function answerTaskRequest(request: TaskRequest, asker: PeerCall): Promise<void> {
  const { options, caller } = asker
  const { requestId } = request
  const wishes = taskWishes(request)
  const ensemble = sharedTask(sharedEnsembles(options), request.task)
  const inputs = inputsOfText(ensemble, request.context)
  const cacheKey =
    wishes.cacheKey === undefined
      ? undefined
      : cacheKeyOf({ ensemble: ensemble.name, cacheKey: wishes.cacheKey, ...actorOf(caller) })
  const { queued: queuePosition } = await options.runs.load()
  const run =
    (await cachedRun(asker, cacheKey, wishes)) ??
    (await submitRun(
      options,
      { ensemble: ensemble.name, inputs: { ...inputs }, tags: { [PEER_TAG]: request.from } },
      {
        caller,
        ...(cacheKey === undefined ? {} : { cacheKey }),
        idempotencyKey: requestKey(request.from, requestId),
        ...traceOfPeer(request),
      },
    ))
  const { runId, status } = run
  const isWaiting = status === 'ACCEPTED'
  asker.send({
    type: 'task_accepted',
    requestId,
    runId,
    queuePosition: isWaiting ? queuePosition : 0,
  })
  const underWay = { requestId, run, deadlineAt: deadlineOf(run, wishes.deadlineMs) }
  void cancelAtDeadline(underWay, asker)
  if (wishes.reports) void reportTask(underWay, asker)
}

function sharedTask(shared: readonly Ensemble[], name: string): Ensemble {
  const found = shared.find((ensemble) => ensemble.name === name)
  if (found !== undefined) return found
  const names = shared.map((ensemble) => ensemble.name)
  const near = suggest(name, names)
  const hint = near === undefined ? '' : ` Did you mean '${near}'?`
  const message = `Unknown shared task '${shortText(name)}'. Available: [${shortList(names)}]${hint}`
  throw new TuttiError('INVALID_ENSEMBLE', message)
}

async function cachedRun(
  { options }: PeerCall,
  cacheKey: string | undefined,
  { maxAgeMs }: TaskWishes,
): Promise<RunRecord | undefined> {
  if (cacheKey === undefined || maxAgeMs === undefined) return undefined
  const { runs } = await options.runs.list({
    statuses: ['COMPLETED'],
    cacheKey,
    limit: CACHED_RUNS,
    offset: 0,
  })
  const oldest = options.clock.now() - maxAgeMs
  const found = runs.find(({ completedAt = -Infinity }) => completedAt >= oldest)
  return found === undefined ? undefined : options.runs.record(found.runId)
}
