/**
 * Route of the server as an agent of AG-UI: `POST /agui/{ensemble}`, for each shared ensemble and each model alias.
 *
 *   body ─▶ has answers? ─▶ decide ──────────┐
 *           names a run?  ─▶ join ───────────┼─▶ events of the segment
 *           otherwise     ─▶ begin ──────────┘
 *
 * GW-Y15 The `runId` of a request is the id of the run that it begins. The same request joins the run, from its first
 *    event: after a lost connection, after a restart of the server, and in another process.
 * GW-Y16 A run continues when its client disconnects. With the query `onDisconnect=cancel` it is cancelled, because in
 *    AG-UI an aborted request and a lost connection are the same. A server that drains closes connections itself and
 *    cancels no run. For a run of another caller, the query requires `runs:control`.
 * GW-Y17 A request whose interrupts are already decided in the same way joins the segment that follows them. A different
 *    decision is refused with REVIEW_RESOLVED.
 * GW-Y18 Every request requires `runs:read`, since each shows a run. Beginning a run requires `runs:write` in addition,
 *    and deciding a review the same as over REST.
 * GW-Y19 A refused request has the status and error body of the control API. When the events of a run cannot be read,
 *    the stream ends with RUN_ERROR, and the same request joins the run later.
 */
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { eventPages } from '@tutti/runs/internal'

import { assertScope } from '../caller.ts'
import { badRequest } from '../http/api-error.ts'
import {
  encodeMessage,
  KEEP_ALIVE_COMMENT,
  STREAM_HEADERS,
  type StreamAnswer,
} from '../http/event-stream.ts'
import { reportError } from '../http/on-error.ts'
import { readJsonBody } from '../http/read-body.ts'
import { readTrace } from '../http/request-headers.ts'
import { cancelScope } from '../runs/run-rights.ts'
import { toModelRun, findSharedModel, type FoundModel } from '../service/find-model.ts'
import { auditedCall, type GatewayCall } from '../service/gateway-call.ts'
import { GatewayService } from '../service/gateway-service.ts'
import { toRequestKey } from '../service/request-key.ts'
import { AguiRun } from './events.ts'
import { readRunId } from './messages.ts'
import { readResume } from './interrupt.ts'
import { lastResults, readClientTools, readAguiConversation, readResult } from './request.ts'
import { AguiInput, type AguiEvent } from './wire.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { HttpRoute, HttpRouteCall } from '../http/route.ts'
import type { LoggedRunEvent, ReviewDecisionBody } from '@tutti/protocol'
import type { ReviewRecord, RunRecord } from '@tutti/runs/adapter'
import type { RunWithEvents } from '@tutti/runs/internal'

/** Tag of runs with their thread. */
const THREAD_TAG = 'aguiThread'

/** Returns the route of the AG-UI agents. */
export function aguiRoutes(options: GatewayOptions): readonly HttpRoute[] {
  const service = new GatewayService(options)
  return [
    {
      method: 'POST',
      path: '/agui/{ensemble}',
      scope: 'runs:read',
      handle: (call) => handle(call, service),
    },
  ]
}

/** One request. */
interface AguiCall {
  readonly service: GatewayService
  readonly call: GatewayCall
  readonly model: FoundModel
  readonly input: AguiInput
  readonly headers: Headers
  /** Whether the run is cancelled when its client disconnects. */
  readonly isAbort: boolean
}

/** A run, and the reviews that the request has answered. */
interface TakenRun {
  readonly run: Pick<RunRecord, 'runId' | 'ensemble'>
  readonly answered: ReadonlySet<string>
  /** Events of a run that the request has begun. */
  readonly events?: RunWithEvents['events']
}

async function handle(
  { request, caller, parameters: { ensemble = '' } }: HttpRouteCall,
  service: GatewayService,
): Promise<StreamAnswer> {
  const { options } = service
  const model = findAgent(options, ensemble)
  const isAbort = readOnDisconnect(request.url) === 'cancel'
  const input = await readJsonBody(request, AguiInput, options.maxBodyBytes)
  const { headers } = request
  const call = auditedCall(options, caller)
  const taken = await take({ service, call, model, input, headers, isAbort })
  return stream(service, { call, input, taken, isAbort })
}

/**
 * Finds the ensemble or the model of an agent.
 *
 * @throws {TuttiError} NOT_FOUND, suggesting a similar name.
 */
function findAgent(options: GatewayOptions, name: string): FoundModel {
  try {
    return findSharedModel(options, name)
  } catch (error) {
    throw new TuttiError('NOT_FOUND', errorMessage(error))
  }
}

/**
 * Reads what happens to the run when its client disconnects.
 *
 * @throws {TuttiError} BAD_REQUEST for an unknown value.
 */
function readOnDisconnect(url: string): 'cancel' | 'continue' {
  const value = new URL(url).searchParams.get('onDisconnect') ?? 'continue'
  if (value === 'cancel' || value === 'continue') return value
  const message = `must be "cancel" or "continue", got ${JSON.stringify(value)}`
  throw badRequest('query', [{ path: '/onDisconnect', message }])
}

async function take(call: AguiCall): Promise<TakenRun> {
  const answers = [...(await readResumed(call)), ...(await readResults(call))]
  if (answers.length > 0) return resume(call, answers)
  return (await join(call)) ?? { ...(await begin(call)), answered: new Set() }
}

/** Joins the run that the request names; undefined when it does not exist. */
async function join(aguiCall: AguiCall): Promise<TakenRun | undefined> {
  const run = await findRun(aguiCall, aguiCall.input.runId)
  if (run === undefined) return undefined
  return { run, answered: new Set() }
}

/**
 * Finds a run of the agent.
 *
 * @throws {TuttiError} FORBIDDEN when the caller may not read it, or not cancel it as the request demands.
 */
async function findRun(
  { service, call: { caller }, model, isAbort }: AguiCall,
  runId: string,
): Promise<RunRecord | undefined> {
  const run = await service.find(runId, [modelEnsemble(model)], caller)
  if (run !== undefined && isAbort) assertScope(caller, cancelScope(caller, run))
  return run
}

function modelEnsemble(model: FoundModel) {
  return model.kind === 'ensemble' ? model.ensemble : model.template
}

function begin({ service, call, model, input, headers }: AguiCall): Promise<RunWithEvents> {
  return service.beginAndFollow(call, () => {
    const { runId, threadId, tools = [] } = input
    return {
      ...toModelRun(model, {
        ...readAguiConversation(input),
        clientTools: readClientTools(tools),
      }),
      runId,
      tags: { [THREAD_TAG]: threadId },
      idempotencyKey: toRequestKey(`agui ${call.caller.name ?? ''}`, runId),
      trace: readTrace(headers),
    }
  })
}

/** A review and its decision. */
interface Decision {
  readonly review: ReviewRecord
  readonly decision: ReviewDecisionBody
}

/**
 * Applies the answers of a request after all of them have been read.
 *
 * @throws {TuttiError} REVIEW_NOT_FOUND for a review of another agent, BAD_REQUEST for reviews of several runs, and as
 * `GatewayService.decide`.
 */
async function resume(aguiCall: AguiCall, answers: readonly Decision[]): Promise<TakenRun> {
  const runIds = new Set(answers.map(({ review: { runId } }) => runId))
  const [runId = ''] = runIds
  const run = await findRun(aguiCall, runId)
  if (run === undefined) throw unknownInterrupt(answers[0]?.review.reviewId ?? '')
  if (runIds.size > 1) {
    const message = `must answer interrupts of one run, got those of ${[...runIds].join(', ')}`
    throw badRequest('request body', [{ path: '/resume', message }])
  }
  for (const answer of answers) await decide(aguiCall, answer)
  return { run, answered: new Set(answers.map(({ review: { reviewId } }) => reviewId)) }
}

/** Reads the answers to interrupts. */
async function readResumed(call: AguiCall): Promise<readonly Decision[]> {
  const { resume: entries = [] } = call.input
  return Promise.all(
    entries.map(async (entry, index) => {
      const review = await findReview(call, entry.interruptId)
      return { review, decision: readResume(entry, review.request, `/resume/${index}`) }
    }),
  )
}

/** Reads the results of client tools at the end of the conversation. */
async function readResults(call: AguiCall): Promise<readonly Decision[]> {
  const { input } = call
  const results = lastResults(input.messages)
  const [runId = ''] = results.flatMap(({ toolCallId }) => readRunId(toolCallId))
  const run = runId === '' ? undefined : await findRun(call, runId)
  if (run === undefined) return []
  const reviews = await findClientCalls(call, run)
  const decisions = results.map(async (result) => {
    const reviewId = reviews.get(result.toolCallId ?? '')
    if (reviewId === undefined) return []
    return [{ review: await findReview(call, reviewId), decision: readResult(result) }]
  })
  return (await Promise.all(decisions)).flat()
}

/** Returns the calls of client tools of a run with their reviews, as its log has them. */
async function findClientCalls(
  { service: { options }, input }: AguiCall,
  { runId, ensemble }: Pick<RunRecord, 'runId' | 'ensemble'>,
): Promise<ReadonlyMap<string, string>> {
  const run = new AguiRun({
    ids: input,
    run: { runId, ensemble },
    state: undefined,
    messages: [],
    answered: new Set(),
  })
  for await (const events of eventPages(options.runs, { runId, from: 0 })) run.fold(events)
  return run.clientCalls
}

async function findReview({ service }: AguiCall, interruptId: string): Promise<ReviewRecord> {
  const review = await service.options.runs.reviews.get(interruptId)
  if (review !== undefined) return review
  throw unknownInterrupt(interruptId)
}

function unknownInterrupt(interruptId: string): TuttiError {
  return new TuttiError('REVIEW_NOT_FOUND', `No interrupt has the id "${interruptId}"`)
}

/** Decides a review; a repeated decision has no effect. */
async function decide({ service, call }: AguiCall, { review, decision }: Decision): Promise<void> {
  try {
    await service.decide(call, review.reviewId, () => decision)
  } catch (error) {
    const isClosed =
      TuttiError.isInstance(error) && ['REVIEW_RESOLVED', 'RUN_COMPLETED'].includes(error.code)
    if (!isClosed || !(await isRepeated(service, { review, decision }))) throw error
  }
}

/** Whether a review was decided in this way. */
async function isRepeated(
  { options: { runs } }: GatewayService,
  { review: { runId, reviewId }, decision: wanted }: Decision,
): Promise<boolean> {
  const types = ['review_decided'] as const
  for await (const events of eventPages(runs, { runId, from: 0, types })) {
    for (const event of events) {
      if (event.type !== 'review_decided' || event.reviewId !== reviewId) continue
      return (
        event.decision === wanted.decision &&
        event.feedback === wanted.feedback &&
        event.revisedOutput === wanted.revisedOutput
      )
    }
  }
  return false
}

/** Parts of an answer. */
interface Answering {
  readonly call: GatewayCall
  readonly input: AguiInput
  readonly taken: TakenRun
  /** Whether the run is cancelled when its client disconnects. */
  readonly isAbort: boolean
}

function stream(service: GatewayService, { call, input, taken, isAbort }: Answering): StreamAnswer {
  const { options } = service
  const { runs, clock, heartbeatMs } = options
  const { runId, ensemble } = taken.run
  const run = new AguiRun({
    ids: { threadId: input.threadId, runId: input.runId },
    run: { runId, ensemble },
    state: input.state,
    messages: input.messages,
    answered: taken.answered,
  })
  let hasFailed = false
  const encoder = {
    head: encodeEvents(run.start()),
    keepAlive: KEEP_ALIVE_COMMENT,
    get isDone() {
      return run.isDone
    },
    encode: (events: readonly LoggedRunEvent[]) => encodeEvents(run.after(events)),
    fail(error: unknown) {
      hasFailed = true
      const { error: code, message } = reportError(error, options).body
      return encodeEvents([{ type: 'RUN_ERROR', message, code }])
    },
  }
  const watch = {
    over() {
      if (!isAbort || run.isDone || hasFailed) return
      void service.cancelAbandoned(call, runId, { isExplicit: false })
    },
  }
  const batches = taken.events ?? runs.follow({ runId, from: 0 })
  return { headers: STREAM_HEADERS, parts: { batches, encoder, clock, heartbeatMs, watch } }
}

function encodeEvents(events: readonly AguiEvent[]): string {
  return events.map(encodeMessage).join('')
}
