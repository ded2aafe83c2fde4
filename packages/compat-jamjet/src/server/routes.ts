/**
 * Routes of the server as an agent on the `/tasks` wire: `send`, `sendSubscribe` and `cancel`, for all shared ensembles
 * and, below `/agents/{ensemble}`, for one of them.
 *
 *   body ─▶ envelope ─▶ params ─▶ task ─▶ follow ─┬─ send: one answer
 *                                                 └─ sendSubscribe: lines; the last one is the answer
 *
 * JAM-R1 A send is answered when the run has ended or waits for a person. A 2xx answer has a result or a question. A
 *    task that failed or was cancelled is answered with 422, because callers of this wire treat every 2xx as a result.
 *    A JSON-RPC response, and the last line of a stream, have the state in `status` instead.
 * JAM-R2 The first line of a stream has the id of the task and is sent at once. The stream ends with the answer. If the
 *    events cannot be read, it ends with a line with status `working` and the error; the caller can continue with the
 *    id.
 * JAM-R3 If the caller disconnects before it received the id, the run is cancelled after a grace period, because no
 *    request can name it. It continues if the caller chose the id, sent an idempotency key, or received the first line.
 * JAM-R4 A cancel is answered when the run has stopped, or after `CANCEL_WAIT_MS`, with the status of the task.
 * JAM-R5 A refusal has the same status and error body as on other routes; a JSON-RPC error has the body as its `data`.
 */
import { Type } from '@tutti/core'

import {
  describeExceededLimit,
  findShared,
  GatewayService,
  locateRun,
  readIdempotencyKey,
  readTrace,
  readUntypedJsonBody,
  recordedCall,
  reportError,
  runNotFound,
  sharedEnsembles,
  STREAM_HEADERS,
  type StreamAnswer,
  TASK_WITHOUT_RESULT,
} from '@tutti/gateway/internal'
import { answerValue, answerErrors, answerRefusal, wrapResult } from './answer.ts'
import { TASK_STATUSES, taskLines, type TaskReply, type TaskLine } from './events.ts'
import { openTask, type OpenTask, type TaskSender } from './open-task.ts'
import { assertSendable, readCancel, readEnvelope, readParams, type Envelope } from './request.ts'
import { TasksSendParams } from './wire.ts'

import type { GatewayOptions, HttpRoute, HttpRouteCall, RouteAnswer } from '@tutti/gateway/internal'
import type { RunUsage } from '@tutti/protocol/internal'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Maximum silence of a stream, in milliseconds: callers time out after 30 s. @see JamJet `idle_timeout_secs` */
const KEEP_ALIVE_MS = 10_000

/** Grace period of a run whose caller has disconnected, in milliseconds. */
const GRACE_MS = 30_000

/** Maximum time that a cancel waits for the run to stop, in milliseconds: callers time out after 5 s. */
const CANCEL_WAIT_MS = 3_000

/** Routes of each agent. */
const METHODS = [
  { path: '/tasks/send', scope: 'runs:write', answer: answerSend },
  { path: '/tasks/sendSubscribe', scope: 'runs:write', answer: answerSubscribe },
  { path: '/tasks/cancel', scope: 'runs:control', answer: answerCancel },
] as const

/** Path prefixes of agents: all ensembles together, and each alone. */
const PREFIXES = ['', '/agents/{ensemble}']

/** Returns the routes of the `/tasks` wire. */
export function tasksRoutes(options: GatewayOptions): readonly HttpRoute[] {
  const service = new GatewayService(options)
  return PREFIXES.flatMap((prefix) =>
    METHODS.map(({ path, scope, answer: answerCall }) => ({
      method: 'POST',
      path: `${prefix}${path}`,
      scope,
      handle: (call) => handle(call, service, answerCall),
    })),
  )
}

/** One request of the wire. */
interface WireCall {
  readonly body: Readonly<Record<string, unknown>>
  readonly envelope: Envelope
  readonly sender: TaskSender
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal
}

const AnyObject = Type.Record(Type.String(), Type.Unknown())

async function handle(
  { request, caller, addSubject, parameters }: HttpRouteCall,
  service: GatewayService,
  answerCall: (call: WireCall) => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  const { options } = service
  const { ensemble } = parameters
  const shared = sharedEnsembles(options)
  const ensembles =
    ensemble === undefined
      ? shared
      : [findShared(shared, ensemble, { kind: 'agent', code: 'NOT_FOUND' })]
  const key = readIdempotencyKey(request.headers)
  const body = await readUntypedJsonBody(request, AnyObject, options.maxBodyBytes)
  const envelope = readEnvelope(body)
  const sender = {
    service,
    call: recordedCall(caller, addSubject),
    addSubject,
    ensembles,
    idempotencyKey: key,
    trace: readTrace(request.headers),
  }
  const call = { body, envelope, sender, signal: request.signal }
  return answerErrors(envelope, options, () => answerCall(call))
}

/** Begins or continues the task of a send. */
async function takeSend(method: string, { body, sender }: WireCall): Promise<OpenTask> {
  const params = readParams(body, method, TasksSendParams)
  assertSendable(params)
  return openTask(params, sender)
}

/** Cancels the run later if no request can name it. A draining server closes connections itself, so it cancels none. */
function leaveTask({ run, isUnnamed }: OpenTask, { service, call }: TaskSender): void {
  const { runs } = service.options
  if (!isUnnamed || runs.status.state === 'DRAINING') return
  service.cancelAfter(run, GRACE_MS, call.caller)
}

async function answerSend(call: WireCall): Promise<Response> {
  const { envelope, sender, signal } = call
  const { options } = sender.service
  const task = await takeSend('tasks/send', call)
  try {
    const { runId } = task.run
    const linesOf = lineReader(task)
    for await (const events of options.runs.follow({ runId, from: 0, signal })) {
      const last = linesOf(events).at(-1)
      if (last !== undefined && isAnswer(last)) return answerWith(last, envelope)
    }
  } catch (error) {
    // The run still exists: with its id the caller can send another request.
    return answerRefusal(envelope, reportError(error, options), firstLine(task))
  }
  leaveTask(task, sender)
  return answerValue(envelope, firstLine(task))
}

function answerWith(end: TaskReply, envelope: Envelope): Response {
  const { total_cost_usd: cost } = end
  const body = cost === undefined ? end : { ...end, cost_usd: cost }
  const hasResult = end.status === 'completed' || end.status === 'input-required'
  return answerValue(
    envelope,
    body,
    hasResult || envelope.rpcId !== undefined ? 200 : TASK_WITHOUT_RESULT,
  )
}

function firstLine({ run, sessionId }: OpenTask) {
  const session = sessionId === undefined ? {} : { sessionId }
  return { id: run.runId, status: 'working', ...session } as const
}

const LINE_HEADERS = { ...STREAM_HEADERS, 'content-type': 'application/x-ndjson' }

async function answerSubscribe(call: WireCall): Promise<StreamAnswer> {
  const { envelope, sender, signal } = call
  const { options } = sender.service
  const { runs, clock, heartbeatMs, logger } = options
  const task = await takeSend('tasks/sendSubscribe', call)
  if (signal.aborted) leaveTask(task, sender)
  const { runId } = task.run
  const linesOf = lineReader(task)
  const written = (line: object): string => `${JSON.stringify(wrapResult(envelope, line))}\n`
  let isDone = false
  const encoder = {
    head: written(firstLine(task)),
    // Readers skip empty lines. @see https://github.com/ndjson/ndjson-spec
    keepAlive: '\n',
    get isDone() {
      return isDone
    },
    encode(events: readonly LoggedRunEvent[]) {
      const lines = linesOf(events)
      isDone = lines.some(isAnswer)
      return lines.map(written).join('')
    },
    fail(error: unknown) {
      logger.warn('Closed a task stream early: failed to read its events', { runId, error })
      return written({ ...firstLine(task), ...reportError(error, options).body })
    },
  }
  const parts = {
    batches: runs.follow({ runId, from: 0 }),
    encoder,
    clock,
    heartbeatMs: Math.min(heartbeatMs, KEEP_ALIVE_MS),
  }
  return { headers: LINE_HEADERS, parts }
}

/** Returns a function that maps batches of events, from the first, to the lines of a request; the answer is last. */
function lineReader({
  run: { runId: id },
  sessionId,
  linesFrom,
  stopFrom,
  limits,
}: OpenTask): (events: readonly LoggedRunEvent[]) => readonly (TaskLine | TaskReply)[] {
  const whyCancelled = (usage: RunUsage): string | undefined => describeExceededLimit(limits, usage)
  const updateOf = taskLines({ id, sessionId, stopFrom, whyCancelled })
  return (events) => {
    const lines: (TaskLine | TaskReply)[] = []
    for (const event of events) {
      const { line, end } = updateOf(event)
      if (line !== undefined && event.seq >= linesFrom) lines.push(line)
      if (end !== undefined) return [...lines, end]
    }
    return lines
  }
}

function isAnswer(line: TaskLine | TaskReply): line is TaskReply {
  return line.status !== 'working'
}

async function answerCancel({ body, envelope, sender, signal }: WireCall): Promise<Response> {
  const { service, call, ensembles, addSubject } = sender
  const { id } = readCancel(body)
  addSubject({ runId: id })
  const run = await service.locate(id, ensembles)
  if (run === undefined) throw runNotFound(id)
  await service.cancel(call, run, { waitMs: CANCEL_WAIT_MS, signal })
  const { status } = await locateRun(service.options.runs, id)
  return answerValue(envelope, { id, status: TASK_STATUSES[status] })
}
