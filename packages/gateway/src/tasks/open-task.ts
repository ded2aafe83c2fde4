/**
 * From the parameters of a send to the run that does it.
 *
 *   params ─┬─ no id, or one that is free ──────────▶ submit
 *           └─ the id of a task that is there ─┬─ no message ───▶ only looked at
 *                                              ├─ a review is open ─▶ decided
 *                                              └─ at work ──────────▶ guided
 *
 * O1 A task is a run: their ids are the same. A caller sees the runs of the ensembles that are shared, and
 *    under the address of one ensemble only those of it.
 * O2 The same new task under the same idempotency key is one run, also when its id was chosen.
 * O3 What needs a scope of its own over REST needs it here: deciding, guiding, looking at a run of others.
 */
import { TuttiError, Type, type Static, type TraceContext } from '@tutti/core'
import {
  decode,
  isTerminalRunStatus,
  shortList,
  shortText,
  suggest,
  type SubmitRunBody,
  USAGE_EXTENSION,
} from '@tutti/protocol'

import { actorOf, assertScope, type Caller } from '../caller.ts'
import { findRecord, runNotFound } from '../runs/find-run.ts'
import { badRequest } from '../http/api-error.ts'
import { inputsOfText } from '../peer/inputs-of-text.ts'
import { sharedEnsembles } from '../peer/shared.ts'
import { decideReview } from '../runs/decide-review.ts'
import { submitRun } from '../runs/submit-run.ts'
import { decisionOfMessage } from './decision-of-message.ts'
import { type CallerLimits, type SendParams } from './message-schema.ts'
import { messageText } from './message-text.ts'

import type { TellSubject } from '../http/audited.ts'
import type { GatewayOptions } from '../gateway-options.ts'
import type { Ensemble } from '@tutti/ensemble'
import type { ReviewRecord, RunRecord, SubmitRun } from '@tutti/runs'

/** Who sends, where, and under which key. */
export interface Sender {
  readonly options: GatewayOptions
  readonly caller: Caller
  readonly tell: TellSubject
  /** The ensemble of the address; absent at the address of all. */
  readonly ensemble?: Ensemble
  readonly idempotencyKey?: string | undefined
  readonly trace?: TraceContext
}

/** A task, and from where on its caller looks at it. */
export interface OpenTask {
  readonly run: RunRecord
  readonly sessionId?: string
  /** The first event of which a stream tells. */
  readonly tellFrom: number
  /** From which event on a review that is open is the answer. */
  readonly stopFrom: number
  /** Whether this send made the run, and nobody could find it again who was not told its id. */
  readonly isUnnamed: boolean
  /** Whether this send made the run, or one like it before: then the budget of the caller is that of the run. */
  readonly isBegun: boolean
}

/** Tag of runs that others asked for: by whom. */
const PEER_TAG = 'peer'

/** Tag of the runs of a session. */
const SESSION_TAG = 'session'

/**
 * Begins a task, or goes on with one.
 *
 * @throws {TuttiError} BAD_REQUEST naming what does not fit, INVALID_ENSEMBLE, RUN_NOT_FOUND, RUN_COMPLETED,
 * FORBIDDEN, and as `submitRun`, `decideReview` and `injectDirective`.
 */
export async function openTask(params: SendParams, sender: Sender): Promise<OpenTask> {
  const { id, message } = params
  const taskId = message?.taskId ?? id
  if (taskId === undefined) return begin(params, sender)
  const known = await taskOf(taskId, sender)
  // Only a message that names no task can begin one.
  const canBegin = message !== undefined && message.taskId === undefined
  if (known !== undefined && !(canBegin && isRepeat(known, sender))) {
    return goOn(known, params, sender)
  }
  if (canBegin) return begin(params, sender)
  throw runNotFound(taskId)
}

/**
 * The run of a task, if this caller may know of it.
 *
 * @throws {TuttiError} STORE_UNAVAILABLE.
 */
export async function taskOf(
  taskId: string,
  { options, ensemble }: Pick<Sender, 'options' | 'ensemble'>,
): Promise<RunRecord | undefined> {
  const run = await options.runs.record(taskId)
  const visible = ensemble === undefined ? sharedEnsembles(options) : [ensemble]
  return visible.some(({ name }) => name === run?.ensemble) ? run : undefined
}

/** Whether the run was made by the very send that is made again. */
function isRepeat({ request, actor }: RunRecord, { idempotencyKey, caller }: Sender): boolean {
  const key = memoOf(request).idempotencyKey
  return key !== undefined && key === idempotencyKey && actor === caller.name
}

/** What a send keeps with the run that it makes, beside the message. */
const Memo = Type.Object({
  sessionId: Type.Optional(Type.String()),
  idempotencyKey: Type.Optional(Type.String()),
})

function memoOf(request: RunRecord['request']): Static<typeof Memo> {
  const decoded = decode(Memo, request?.memo?.['tasksWire'])
  return decoded.ok ? decoded.value : {}
}

async function begin(params: SendParams, sender: Sender): Promise<OpenTask> {
  const { options, caller, idempotencyKey, tell, trace } = sender
  const { id, sessionId, message, metadata } = params
  const ensemble = ensembleOf(metadata?.ensemble, sender)
  const { text } = messageText(message?.parts ?? [])
  const inputs = inputsOfText(ensemble, text)
  const tags = {
    [PEER_TAG]: caller.name ?? 'anonymous',
    ...(sessionId === undefined ? {} : { [SESSION_TAG]: sessionId }),
  }
  const body: SubmitRunBody = {
    ensemble: ensemble.name,
    inputs: { ...inputs },
    tags,
    ...(id === undefined ? {} : { runId: id }),
  }
  const key = idempotencyKey === undefined ? {} : { idempotencyKey }
  const session = sessionId === undefined ? {} : { sessionId }
  const run = await submitRun(options, body, {
    caller,
    ...trace,
    ...budgetOf(metadata?.[USAGE_EXTENSION]),
    memo: { tasksWire: { message, ...session, ...key } },
    ...key,
  })
  tell({ runId: run.runId, target: ensemble.name })
  const isUnnamed = id === undefined && idempotencyKey === undefined
  return {
    run,
    ...sessionOf(sessionId),
    tellFrom: 0,
    stopFrom: run.lastSeq,
    isUnnamed,
    isBegun: true,
  }
}

/** What the caller can still spend, as the budget of the run. */
function budgetOf(limits: CallerLimits = {}): Pick<SubmitRun, 'budget' | 'isAllowance'> {
  const { max_cost_usd: maxCostUsd, max_tokens: maxTokens } = limits
  if (maxCostUsd === undefined && maxTokens === undefined) return {}
  return {
    isAllowance: true,
    budget: {
      ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
    },
  }
}

/** The ensemble that is asked: that of the address, else that of the metadata, else the first. */
function ensembleOf(name: string | undefined, { options, ensemble }: Sender): Ensemble {
  const known = ensemble === undefined ? sharedEnsembles(options) : [ensemble]
  const [first] = known
  if (first === undefined) {
    throw new TuttiError('NOT_CONFIGURED', 'This server shares no ensemble')
  }
  const found = name === undefined ? first : known.find((one) => one.name === name)
  if (found !== undefined) return found
  const names = known.map((one) => one.name)
  const near = name === undefined ? undefined : suggest(name, names)
  const hint = near === undefined ? '' : ` Did you mean '${near}'?`
  const message = `Unknown ensemble '${shortText(name ?? '')}'. Available: [${shortList(names)}]${hint}`
  throw new TuttiError('INVALID_ENSEMBLE', message)
}

async function goOn(run: RunRecord, params: SendParams, sender: Sender): Promise<OpenTask> {
  const { options, caller, tell } = sender
  const { runs } = options
  const { runId, lastSeq } = run
  tell({ runId, target: run.ensemble })
  assertSameTask(run, params)
  const isOwn = run.actor === caller.name
  if (params.metadata?.[USAGE_EXTENSION] !== undefined && !isOwn)
    assertScope(caller, 'runs:control')
  const session = sessionOf(memoOf(run.request).sessionId)
  const task = { ...session, isUnnamed: false, isBegun: false }
  if (params.message === undefined) {
    if (!isOwn) assertScope(caller, 'runs:read')
    return { ...task, run, tellFrom: 0, stopFrom: lastSeq }
  }
  const said = messageText(params.message.parts)
  const review = await reviewMeant(run, params, sender)
  if (review === undefined) {
    assertScope(caller, 'runs:control')
    const directive = { content: said.text, ...actorOf(caller) }
    await runs.send(runId, { kind: 'inject', directive })
  } else {
    assertScope(caller, 'reviews:decide')
    const decision = decisionOfMessage(said, review.request)
    await decideReview(runs, review.reviewId, { ...decision, caller })
  }
  const after = await findRecord(runs, runId)
  return { ...task, run: after, tellFrom: lastSeq + 1, stopFrom: after.lastSeq }
}

/** @throws {TuttiError} BAD_REQUEST when what is said of the task is not so. */
function assertSameTask({ runId, ensemble, request }: RunRecord, params: SendParams): void {
  const { sessionId, metadata } = params
  const kept = memoOf(request).sessionId
  const said = [
    ['/params/metadata/ensemble', metadata?.ensemble, ensemble],
    ['/params/sessionId', sessionId, kept],
  ] as const
  const problems = said.flatMap(([path, given, is]) => {
    if (given === undefined || given === is) return []
    const wanted = is === undefined ? 'be left out' : `be "${is}"`
    return [{ path, message: `must ${wanted}, as task "${runId}" has it, got "${given}"` }]
  })
  if (problems.length > 0) throw badRequest('Request body', problems)
}

/** The review that the message decides; undefined when none is open, so that it guides the agents. */
async function reviewMeant(
  { runId, status }: RunRecord,
  { metadata }: SendParams,
  { options: { runs } }: Sender,
): Promise<ReviewRecord | undefined> {
  const reviewId = metadata?.reviewId
  if (reviewId === undefined) {
    return isTerminalRunStatus(status) ? undefined : (await runs.openReviews({ runId }))[0]
  }
  const review = await runs.review(reviewId)
  if (review?.runId === runId) return review
  throw new TuttiError(
    'REVIEW_NOT_FOUND',
    `Task "${runId}" has no review with the id "${reviewId}"`,
  )
}

function sessionOf(sessionId: string | undefined): Pick<OpenTask, 'sessionId'> {
  return sessionId === undefined ? {} : { sessionId }
}
