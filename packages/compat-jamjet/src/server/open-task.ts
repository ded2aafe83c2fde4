/**
 * Finds or begins the task of a send.
 *
 *   params ─┬─ no id, or a free one ──────────────▶ begin
 *           └─ the id of an existing task ─┬─ no message ──────▶ follow
 *                                          └─ a message ───────▶ continue
 *
 * JAM-O1 A task is a run with the same id. A caller sees the runs of the shared ensembles, and at the address of one
 *    ensemble only its runs.
 * JAM-O2 Repeated sends of a new task with the same idempotency key are one run, even if the caller chose its id.
 * JAM-O3 Following a run of another caller requires `runs:read`, since each answer shows it. Deciding and guiding require
 *    the same scopes as over REST in addition.
 */
import { TuttiError, Type, type Static } from '@tutti/core'
import type { TraceContext } from '@tutti/core/internal'
import { decode } from '@tutti/protocol'
import { USAGE_EXTENSION } from '@tutti/protocol/internal'

import {
  assertScope,
  badRequest,
  cancelScope,
  findRecord,
  findShared,
  isOwn,
  parseInputs,
  resolveLimits,
  runNotFound,
} from '@tutti/gateway/internal'
import { readTasksDecision, readMessage } from './request.ts'

import type {
  AddSubject,
  BeginRequest,
  GatewayCall,
  GatewayService,
  RunLimits,
} from '@tutti/gateway/internal'
import type { Ensemble } from '@tutti/ensemble'
import type { RunRecord } from '@tutti/runs/adapter'
import type { TasksSendParams } from './wire.ts'

/** A request and its sender. */
export interface TaskSender {
  readonly service: GatewayService
  readonly call: GatewayCall
  /** Records the subject of the request in the audit trail. */
  readonly addSubject: AddSubject
  /** Ensembles at the address of the request. */
  readonly ensembles: readonly Ensemble[]
  readonly idempotencyKey?: string | undefined
  readonly trace?: TraceContext
}

/** Task of a send, and the part of its log that the answer covers. */
export interface OpenTask {
  readonly run: RunRecord
  readonly sessionId?: string
  /** First `seq` in the lines of a stream. */
  readonly linesFrom: number
  /** First `seq` at which an open review is the answer. */
  readonly stopFrom: number
  /** Whether this send began the run, and its caller can find it only by the id in the answer. */
  readonly isUnnamed: boolean
  /** Limits of this request on the run, without those in the budget of the run. */
  readonly limits: RunLimits
}

/** Tag of runs with the name of the caller. */
const PEER_TAG = 'peer'

/** Tag of the runs of a session. */
const SESSION_TAG = 'session'

/**
 * Begins or continues a task, and enforces the limits of the request from then on.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem, INVALID_ENSEMBLE, RUN_NOT_FOUND, RUN_COMPLETED, FORBIDDEN, and
 * as `GatewayService.begin` and `continue`.
 */
export async function openTask(params: TasksSendParams, sender: TaskSender): Promise<OpenTask> {
  const { service, call } = sender
  const asked = params.metadata?.[USAGE_EXTENSION] ?? {}
  const limits = resolveLimits(asked, service.options.clock.now())
  const task = await findOrBeginTask(params, sender, limits)
  void service.enforceLimits(task.run, task.limits, call.caller)
  return task
}

async function findOrBeginTask(
  params: TasksSendParams,
  sender: TaskSender,
  limits: RunLimits,
): Promise<OpenTask> {
  const { id, message } = params
  const { service, call } = sender
  const taskId = message?.taskId ?? id
  if (taskId === undefined) return begin(params, sender, limits)
  sender.addSubject({ runId: taskId })
  const known = await service.find(taskId, sender.ensembles, call.caller)
  // Only a message that names no task can begin one.
  const canBegin = message !== undefined && message.taskId === undefined
  if (known !== undefined && !(canBegin && isRepeat(known, sender))) {
    return { ...(await continueTask(known, params, sender)), limits }
  }
  if (canBegin) return begin(params, sender, limits)
  throw runNotFound(taskId)
}

/** Whether the run was begun by the same send. */
function isRepeat({ request, actor }: RunRecord, { idempotencyKey, call }: TaskSender): boolean {
  const key = readMemo(request).idempotencyKey
  return key !== undefined && key === idempotencyKey && isOwn(call.caller, { actor })
}

/** Data that a send stores with a new run, in addition to the message. */
const Memo = Type.Object({
  sessionId: Type.Optional(Type.String()),
  idempotencyKey: Type.Optional(Type.String()),
})

function readMemo(request: RunRecord['request']): Static<typeof Memo> {
  const decoded = decode(Memo, request?.memo?.['tasksWire'])
  return decoded.ok ? decoded.value : {}
}

async function begin(
  params: TasksSendParams,
  sender: TaskSender,
  limits: RunLimits,
): Promise<OpenTask> {
  const { id, sessionId } = params
  const run = await sender.service.begin(sender.call, () => beginRequest(params, sender))
  sender.addSubject({ target: run.ensemble })
  return {
    run,
    ...toSessionField(sessionId),
    linesFrom: 0,
    stopFrom: run.lastSeq,
    isUnnamed: id === undefined && sender.idempotencyKey === undefined,
    limits: { ...limits, maxCostUsd: Infinity, maxTokens: Infinity },
  }
}

function beginRequest(
  { id: runId, sessionId, message, metadata }: TasksSendParams,
  { call: { caller }, ensembles, idempotencyKey, trace }: TaskSender,
): BeginRequest {
  const ensemble = chooseEnsemble(metadata?.ensemble, ensembles)
  const key = idempotencyKey === undefined ? {} : { idempotencyKey }
  const { deadline_ms: _, ...budget } = metadata?.[USAGE_EXTENSION] ?? {}
  return {
    ensemble,
    inputs: parseInputs(ensemble, readMessage(message?.parts ?? []).text),
    tags: {
      [PEER_TAG]: caller.name ?? 'anonymous',
      ...(sessionId === undefined ? {} : { [SESSION_TAG]: sessionId }),
    },
    runId,
    trace,
    limits: budget,
    memo: { tasksWire: { message, ...toSessionField(sessionId), ...key } },
    ...key,
  }
}

/** Returns the ensemble with a name, or else the first of the address. */
function chooseEnsemble(name: string | undefined, ensembles: readonly Ensemble[]): Ensemble {
  const [first] = ensembles
  if (first === undefined) {
    throw new TuttiError('NOT_CONFIGURED', 'This server shares no ensembles')
  }
  return name === undefined ? first : findShared(ensembles, name)
}

async function continueTask(
  run: RunRecord,
  params: TasksSendParams,
  { service, call, addSubject }: TaskSender,
): Promise<Omit<OpenTask, 'limits'>> {
  const { runId, lastSeq } = run
  const { caller } = call
  addSubject({ runId, target: run.ensemble })
  assertSameTask(run, params)
  if (params.metadata?.[USAGE_EXTENSION] !== undefined) {
    assertScope(caller, cancelScope(caller, run))
  }
  const task = { ...toSessionField(readMemo(run.request).sessionId), isUnnamed: false }
  if (params.message === undefined) {
    return { ...task, run, linesFrom: 0, stopFrom: lastSeq }
  }
  const message = readMessage(params.message.parts)
  await service.continue(call, run, {
    reviewId: params.metadata?.reviewId,
    decide: (review) => readTasksDecision(message, review),
    guide: () => message.text,
  })
  const after = await findRecord(service.options.runs, runId, caller)
  return { ...task, run: after, linesFrom: lastSeq + 1, stopFrom: after.lastSeq }
}

/** Checks a request against its task. @throws {TuttiError} BAD_REQUEST when they contradict each other. */
function assertSameTask({ runId, ensemble, request }: RunRecord, params: TasksSendParams): void {
  const { sessionId, metadata } = params
  const stored = readMemo(request).sessionId
  const stated = [
    ['/params/metadata/ensemble', metadata?.ensemble, ensemble],
    ['/params/sessionId', sessionId, stored],
  ] as const
  const problems = stated.flatMap(([path, given, is]) => {
    if (given === undefined || given === is) return []
    const wanted = is === undefined ? 'must be absent' : `must be "${is}"`
    return [{ path, message: `${wanted}, as in task "${runId}", got "${given}"` }]
  })
  if (problems.length > 0) throw badRequest('request body', problems)
}

function toSessionField(sessionId: string | undefined): Pick<OpenTask, 'sessionId'> {
  return sessionId === undefined ? {} : { sessionId }
}
