/** Pure: reads requests of peers. */
import { traceContextOf, type TraceContext } from '@tutti/core/internal'

import {
  actorOf,
  badRequest,
  type BeginRequest,
  type Caller,
  durationMs,
  findShared,
  parseInputs,
  toCacheKey,
  toRequestKey,
  type UsageLimits,
  WANTED_DURATION,
} from '@tutti/gateway/internal'

import type { Ensemble } from '@tutti/ensemble'
import type { Problem, TaskRequest, ToolRequest } from '@tutti/protocol/internal'

/** Tag of runs with the name of the peer. */
const PEER_TAG = 'peer'

export interface PeerTask extends BeginRequest {
  readonly limits: UsageLimits
  /** Whether progress and end of the task are sent to the peer. */
  readonly isReported: boolean
}

/**
 * Reads a request for a task.
 *
 * @throws {TuttiError} INVALID_ENSEMBLE for an unknown task, BAD_REQUEST with every problem.
 */
export function readTaskRequest(
  request: TaskRequest,
  { ensembles, caller }: { readonly ensembles: readonly Ensemble[]; readonly caller: Caller },
): PeerTask {
  const { cacheKey, maxAgeMs, deadlineMs, isReported } = readDelivery(request)
  const ensemble = findShared(ensembles, request.task, { kind: 'shared task' })
  return {
    ensemble,
    inputs: parseInputs(ensemble, request.context),
    tags: { [PEER_TAG]: request.from },
    idempotencyKey: toRequestKey(request.from, request.requestId),
    trace: readPeerTrace(request),
    limits: deadlineMs === undefined ? {} : { deadline_ms: deadlineMs },
    isReported,
    maxAgeMs,
    ...(cacheKey === undefined
      ? {}
      : { cacheKey: toCacheKey({ ensemble: ensemble.name, cacheKey, ...actorOf(caller) }) }),
  }
}

/** Returns the trace context of a request; an invalid one is ignored. */
export function readPeerTrace({
  traceContext,
}: Pick<TaskRequest | ToolRequest, 'traceContext'>): TraceContext {
  return traceContextOf(traceContext?.traceparent, traceContext?.tracestate)
}

/** Delivery options of a task; `priority` is ignored. */
export interface TaskDelivery {
  readonly isReported: boolean
  /** Maximum duration from the submission, in milliseconds. */
  readonly deadlineMs?: number
  /** Key under which results are cached. */
  readonly cacheKey?: string
  /** Maximum age of a cached result, in milliseconds; absent to use none. */
  readonly maxAgeMs?: number
}

/** Supported delivery methods. */
const METHODS = ['WEBSOCKET', 'NONE']

/**
 * Reads the delivery options of a task.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function readDelivery(request: TaskRequest): TaskDelivery {
  const { deadline, delivery, cachePolicy, cacheKey, maxAge } = request
  const deadlineMs = deadline === undefined ? undefined : durationMs(deadline)
  const maxAgeMs = readMaxAge(maxAge)
  const method = delivery?.method ?? 'WEBSOCKET'
  const problems: Problem[] = []
  if (deadline !== undefined && !isPositive(deadlineMs)) {
    problems.push({ path: '/deadline', message: `${WANTED_DURATION}, got "${deadline}"` })
  }
  if (maxAgeMs === undefined) {
    problems.push({ path: '/maxAge', message: `${WANTED_DURATION}, got "${maxAge}"` })
  }
  if (!METHODS.includes(method)) {
    const message = `must be ${METHODS.join(' or ')}, got "${method}"`
    problems.push({ path: '/delivery/method', message })
  }
  if (cachePolicy === 'USE_CACHED' && cacheKey === undefined) {
    problems.push({ path: '/cacheKey', message: 'is required with the cache policy USE_CACHED' })
  }
  if (problems.length > 0) throw badRequest('message', problems)
  return {
    isReported: method !== 'NONE',
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(cacheKey === undefined ? {} : { cacheKey }),
    ...(cachePolicy !== 'USE_CACHED' || maxAgeMs === undefined ? {} : { maxAgeMs }),
  }
}

function isPositive(ms: number | undefined): boolean {
  return ms !== undefined && ms > 0
}

/** Converts seconds or a duration to milliseconds; Infinity when absent, undefined when it has no fixed length. */
function readMaxAge(maxAge: TaskRequest['maxAge']): number | undefined {
  if (maxAge === undefined) return Infinity
  return typeof maxAge === 'number' ? maxAge * 1_000 : durationMs(maxAge)
}
