/**
 * Routes of OpenAI's Responses API.
 *
 *   POST   /v1/responses                    begins a run, or continues the run that waits
 *   GET    /v1/responses/{id}               a response, or its stream from any event on
 *   POST   /v1/responses/{id}/cancel        cancels the run
 *   DELETE /v1/responses/{id}               deletes the run with its responses
 *   GET    /v1/responses/{id}/input_items   the input of the response
 *
 * GW-N10 A lost connection does not affect the run: its response can be retrieved, and its stream joined.
 * GW-N11 A response is readable with the scope runs:read, by any key. Without this scope, a key can only continue its own
 *    responses, also by the ids of their calls, and cancels no other, because the answer shows the response. With `store: false` a response is only in the answer to its request.
 * GW-N12 `previous_response_id` of an ended run begins a run with the conversation so far, without its instructions: the
 *    messages, and the calls of client tools with their outputs. Of a run that waits, the outputs continue it. The same outputs sent again return the response that they began.
 */
import { isTerminalRunStatus } from '@tutti/protocol'

import { badRequest } from '../../http/api-error.ts'
import {
  encodeMessage,
  KEEP_ALIVE_COMMENT,
  STREAM_HEADERS,
  type StreamAnswer,
} from '../../http/event-stream.ts'
import { reportError } from '../../http/on-error.ts'
import { readJsonBody } from '../../http/read-body.ts'
import { readIdempotencyKey, readTrace } from '../../http/request-headers.ts'
import { deleteRun } from '../../runs/delete-run.ts'
import { readEventsUntil } from '../../runs/read-events-until.ts'
import {
  toModelRun,
  findSharedModel,
  type FoundModel,
  type ModelRun,
} from '../../service/find-model.ts'
import { recordedCall, type GatewayCall } from '../../service/gateway-call.ts'
import { GatewayService, type BeginRequest } from '../../service/gateway-service.ts'
import { conversationRoutes } from '../conversations/routes.ts'
import { toOpenAiError, toOpenAiResponse } from '../errors.ts'
import { readPageQuery, selectPage } from '../item-page.ts'
import { matchOutputs } from './answers.ts'
import { readThread } from './conversation.ts'
import { parseResponseId, toResponseId, type ResponseId } from './ids.ts'
import { listOutputItems, listRequestItems, toTypedText } from './input-items.ts'
import { findMessagesOfUser, readInput, readOutputs, toItems, type ClientOutput } from './input.ts'
import {
  assertSameRequest,
  findParameterProblems,
  toClientTools,
  readTextSchema,
  toResponseRequest,
} from './parameters.ts'
import { resolveReferences } from './item-references.ts'
import {
  findStoredRun,
  foldOf,
  locateStoredRun,
  readResponses,
  responseNotFound,
  toMemo,
  toNextHistory,
  toStoredRun,
  toWireResponse,
  type StoredRun,
} from './stored-run.ts'
import { CreateResponseBody } from './wire.ts'

import type { Caller } from '../../caller.ts'
import type { GatewayOptions } from '../../gateway-options.ts'
import type { HttpRoute, HttpRouteCall, RouteAnswer } from '../../http/route.ts'
import type { HistoryMessage, LoggedRunEvent } from '@tutti/protocol'
import type { EventBatches, RunWithEvents } from '@tutti/runs'
import type { NumberedEvent, RunResponses } from './run-responses.ts'

const PATH = '/v1/responses'

/** Time for which a cancel waits until the run has stopped, in milliseconds. */
const STOP_MS = 10_000

/** Returns the routes for responses. */
export function responsesRoutes(options: GatewayOptions): readonly HttpRoute[] {
  const responses = new Responses(new GatewayService(options))
  const shared = { toErrorResponse: toOpenAiResponse }
  return [
    ...conversationRoutes(options),
    {
      ...shared,
      method: 'POST',
      path: PATH,
      scope: 'runs:write',
      handle: (call) => responses.create(call),
    },
    {
      ...shared,
      method: 'GET',
      path: `${PATH}/{id}`,
      scope: 'runs:read',
      handle: (call) => responses.retrieve(call),
    },
    {
      ...shared,
      method: 'DELETE',
      path: `${PATH}/{id}`,
      scope: 'runs:control',
      handle: (call) => responses.delete(call),
    },
    {
      ...shared,
      method: 'POST',
      path: `${PATH}/{id}/cancel`,
      scope: 'runs:control',
      handle: (call) => responses.cancel(call),
    },
    {
      ...shared,
      method: 'GET',
      path: `${PATH}/{id}/input_items`,
      scope: 'runs:read',
      handle: (call) => responses.listInput(call),
    },
  ]
}

/** A segment of a run. */
interface OpenResponse {
  readonly stored: StoredRun
  readonly segment: number
  /** Events of a run that the request has begun. */
  readonly events?: RunWithEvents['events']
}

/** A run with what has happened so far. */
interface LoadedRun {
  readonly stored: StoredRun
  readonly responses: RunResponses
}

/** The responses of all callers. */
class Responses {
  readonly #service: GatewayService
  readonly #options: GatewayOptions

  constructor(service: GatewayService) {
    this.#service = service
    this.#options = service.options
  }

  async create(call: HttpRouteCall): Promise<RouteAnswer> {
    const { request } = call
    const given = await readJsonBody(request, CreateResponseBody, this.#options.maxBodyBytes)
    const problems = findParameterProblems(given)
    if (problems.length > 0) throw badRequest('request body', problems)
    const body = await resolveReferences(this.#options, call.caller, given)
    const opened = await this.#open(call, body)
    if (body.stream === true) return this.#stream(opened, -1)
    const responses =
      body.background === true
        ? await readResponses(this.#options, opened.stored)
        : await this.#untilDone(opened, request.signal)
    return Response.json(toWireResponse(opened.stored, responses.stateOf(opened.segment)))
  }

  async retrieve({
    request,
    caller,
    parameters: { id = '' },
  }: HttpRouteCall): Promise<RouteAnswer> {
    const query = new URL(request.url).searchParams
    const opened = await this.#find(id, caller)
    const responses = await readResponses(this.#options, opened.stored)
    if (!responses.has(opened.segment)) throw responseNotFound(id)
    if (query.get('stream') === 'true') return this.#stream(opened, readAfter(query))
    return Response.json(toWireResponse(opened.stored, responses.stateOf(opened.segment)))
  }

  async cancel(routeCall: HttpRouteCall): Promise<Response> {
    const { request, caller, addSubject, parameters } = routeCall
    const { stored, segment } = await this.#find(parameters['id'] ?? '', caller)
    const { run } = stored
    addSubject({ runId: run.runId })
    if (!isTerminalRunStatus(run.status)) {
      const stop = { waitMs: STOP_MS, signal: request.signal }
      await this.#service.cancel(recordedCall(caller, addSubject), run, stop)
    }
    const responses = await readResponses(this.#options, stored)
    return Response.json(toWireResponse(stored, responses.stateOf(segment)))
  }

  async delete({ caller, addSubject, parameters: { id = '' } }: HttpRouteCall): Promise<Response> {
    const { runId } = (await this.#find(id)).stored.run
    addSubject({ runId })
    await deleteRun(this.#options, runId, caller)
    return Response.json({ id, object: 'response', deleted: true })
  }

  async listInput({ request, caller, parameters: { id = '' } }: HttpRouteCall): Promise<Response> {
    const { stored, segment } = await this.#find(id, caller)
    const { runId } = stored.run
    const query = readPageQuery(new URL(request.url).searchParams)
    const items =
      segment === 0
        ? listRequestItems(runId, stored.body.input)
        : listOutputItems(runId, segment, await readResponses(this.#options, stored))
    return Response.json(selectPage(items, query))
  }

  /**
   * Finds a stored response for its reader; without one, only to act on it.
   *
   * @throws {TuttiError} RUN_NOT_FOUND; FORBIDDEN when the reader may not read it.
   */
  async #find(id: string, reader?: Caller): Promise<OpenResponse> {
    const parsed = parseResponseId(id)
    const find = (runId: string) =>
      reader === undefined
        ? locateStoredRun(this.#options, runId)
        : findStoredRun(this.#options, runId, reader)
    const stored = parsed === undefined ? undefined : await find(parsed.runId)
    if (parsed === undefined || stored?.request.store !== true) throw responseNotFound(id)
    return { stored, segment: parsed.segment }
  }

  /** Begins or continues the run of a request. */
  async #open(routeCall: HttpRouteCall, body: CreateResponseBody): Promise<OpenResponse> {
    const { caller, addSubject } = routeCall
    const call = recordedCall(caller, addSubject)
    const items = toItems(body.input)
    const outputs = readOutputs(items)
    const id = body.previous_response_id ?? undefined
    const previous = id === undefined ? undefined : parseResponseId(id)
    if (id === undefined) {
      if (outputs.length === 0) return this.#begin(routeCall, body, [])
      const waiting = await this.#findWaiting(outputs, caller)
      const found = await this.#load(waiting.runId, caller)
      return this.#continue(call, body, { ...found, previous: waiting, outputs })
    }
    const found = previous === undefined ? undefined : await this.#loadPrevious(previous, caller)
    if (previous === undefined || found === undefined || !found.responses.has(previous.segment)) {
      throw badRequest('request body', [
        { path: '/previous_response_id', message: `names no stored response, got "${id}"` },
      ])
    }
    const { stored, responses } = found
    const isLast = responses.newest === previous.segment
    if (isLast && isTerminalRunStatus(stored.run.status)) {
      if (outputs.length > 0) matchOutputs(outputs, [])
      return this.#begin(routeCall, body, toNextHistory(stored, responses))
    }
    const messages = findMessagesOfUser(items)
    if (messages.length > 0 && isLast && responses.isDone(previous.segment)) {
      const message = 'cannot accompany outputs: the response waits only for these'
      throw badRequest(
        'request body',
        messages.map((path) => ({ path, message })),
      )
    }
    return this.#continue(call, body, { ...found, previous, outputs })
  }

  async #loadPrevious({ runId }: ResponseId, caller: Caller): Promise<LoadedRun | undefined> {
    const stored = await findStoredRun(this.#options, runId, caller)
    if (stored?.request.store !== true) return undefined
    return { stored, responses: await readResponses(this.#options, stored) }
  }

  async #load(runId: string, caller: Caller): Promise<LoadedRun> {
    const stored = await findStoredRun(this.#options, runId, caller)
    if (stored === undefined) throw responseNotFound(toResponseId({ runId, segment: 0 }))
    return { stored, responses: await readResponses(this.#options, stored) }
  }

  /** Finds the response that outputs answer, by their ids. */
  async #findWaiting(outputs: readonly ClientOutput[], caller: Caller): Promise<ResponseId> {
    const { runs } = this.#options
    const reviews = await Promise.all(outputs.map(({ reviewId }) => runs.review(reviewId)))
    const problems = outputs.flatMap(({ id, path }, place) =>
      reviews[place] === undefined
        ? [{ path, message: `is for no call of this server, got "${id}"` }]
        : [],
    )
    const runIds = new Set(reviews.flatMap((review) => review?.runId ?? []))
    if (runIds.size > 1) problems.push({ path: '/input', message: 'has outputs for several runs' })
    const [runId] = runIds
    if (problems.length > 0 || runId === undefined) throw badRequest('request body', problems)
    const { responses } = await this.#load(runId, caller)
    const asked = new Set(outputs.map(({ reviewId }) => reviewId))
    const isAsked = ({ reviewId }: { readonly reviewId: string }): boolean => asked.has(reviewId)
    let segment = responses.newest
    while (segment > 0 && !responses.pauseAfter(segment).some(isAsked)) segment -= 1
    return { runId, segment }
  }

  /** Begins a run. */
  async #begin(
    { request, caller, addSubject }: HttpRouteCall,
    body: CreateResponseBody,
    earlier: readonly HistoryMessage[],
  ): Promise<OpenResponse> {
    const key = readIdempotencyKey(request.headers)
    const call = recordedCall(caller, addSubject)
    const read = () => ({
      ...toRun(findSharedModel(this.#options, body.model), body, earlier),
      memo: toMemo(body),
      trace: readTrace(request.headers),
      ...(key === undefined ? {} : { idempotencyKey: key }),
    })
    const isFollowed = body.stream === true || body.background !== true
    const { run, events } = isFollowed
      ? await this.#service.beginAndFollow(call, read)
      : { run: await this.#service.begin(call, read), events: undefined }
    const stored = toStoredRun(run)
    if (stored !== undefined) return { stored, segment: 0, events }
    await events?.return?.()
    throw responseNotFound(toResponseId({ runId: run.runId, segment: 0 }))
  }

  /** Decides the reviews for which a run waits. */
  async #continue(
    call: GatewayCall,
    body: CreateResponseBody,
    {
      stored,
      responses,
      previous,
      outputs,
    }: LoadedRun & {
      readonly previous: ResponseId
      readonly outputs: readonly ClientOutput[]
    },
  ): Promise<OpenResponse> {
    const next = { stored, segment: previous.segment + 1 }
    const isDecided = (output: ClientOutput): boolean => isSameOutput(responses, output)
    if (outputs.length > 0 && responses.newest > previous.segment && outputs.every(isDecided)) {
      return next
    }
    const id = toResponseId(previous)
    const path = '/previous_response_id'
    if (responses.newest > previous.segment) {
      const newest = toResponseId({ ...previous, segment: responses.newest })
      const message = `must be the newest response of its run, "${newest}", got "${id}"`
      throw badRequest('request body', [{ path, message }])
    }
    if (!responses.isDone(previous.segment)) {
      throw badRequest('request body', [{ path, message: `is in progress, got "${id}"` }])
    }
    assertSameRequest(toResponseRequest(body), stored.request)
    const open = outputs.filter((output) => !isDecided(output))
    for (const { review, decision } of matchOutputs(open, responses.open)) {
      await this.#service.decide(call, review.reviewId, () => decision)
    }
    return next
  }

  /** Follows a run until a segment has ended, or the client has left. */
  async #untilDone(opened: OpenResponse, gone: AbortSignal): Promise<RunResponses> {
    const responses = foldOf(opened.stored)
    await readEventsUntil(this.#follow(opened), gone, (event) => {
      responses.after(event)
      return responses.isDone(opened.segment)
    })
    return responses
  }

  #follow({ stored, events }: OpenResponse): EventBatches {
    return events ?? this.#options.runs.follow({ runId: stored.run.runId, from: 0 })
  }

  #stream(opened: OpenResponse, startingAfter: number): StreamAnswer {
    const { stored, segment } = opened
    const { clock, heartbeatMs } = this.#options
    const responses = foldOf(stored)
    let sequence = startingAfter
    const take = (event: LoggedRunEvent): string =>
      responses
        .after(event)
        .filter((one) => one.segment === segment && one.sequence > startingAfter)
        .map((one) => {
          sequence = one.sequence
          return toFrame(stored, one)
        })
        .join('')
    const encoder = {
      head: '',
      keepAlive: KEEP_ALIVE_COMMENT,
      get isDone() {
        return responses.isDone(segment)
      },
      encode: (events: readonly LoggedRunEvent[]) => events.map(take).join(''),
      fail: (error: unknown) => {
        const { message, code, param } = toOpenAiError(reportError(error, this.#options)).error
        const data = { type: 'error', code, message, param, sequence_number: sequence + 1 }
        return `event: error\n${encodeMessage(data)}`
      },
    }
    const batches = this.#follow(opened)
    return { headers: STREAM_HEADERS, parts: { batches, encoder, clock, heartbeatMs } }
  }
}

function toFrame(stored: StoredRun, { sequence, event }: NumberedEvent): string {
  const data =
    'response' in event ? { ...event, response: toWireResponse(stored, event.response) } : event
  return `event: ${event.type}\n${encodeMessage({ ...data, sequence_number: sequence })}`
}

/** Whether the log has an output as the decision of its review. */
function isSameOutput(responses: RunResponses, { reviewId, answer }: ClientOutput): boolean {
  const decided = responses.decisionOf(reviewId)
  if (decided === undefined) return false
  if (answer.kind === 'output') return toTypedText(decided.revisedOutput ?? '') === answer.text
  return (decided.decision !== 'REJECT') === answer.approve
}

/** Returns the run that answers a request. */
function toRun(
  found: FoundModel,
  body: CreateResponseBody,
  earlier: readonly HistoryMessage[],
): ModelRun & Pick<BeginRequest, 'threadId'> {
  const asked = toResponseRequest(body)
  const input = readInput(toItems(body.input))
  const { text, history, instructions } = input
  const threadId = readThread(asked, input, found)
  const outputSchema = readTextSchema(asked)
  const { max_output_tokens: maxOutputTokens, instructions: own } = asked
  if (found.kind === 'ensemble')
    assertForEnsemble(found.ensemble.name, { outputSchema, maxOutputTokens })
  const system = [...(own === null ? [] : [own]), ...instructions]
  const run = toModelRun(found, {
    text,
    history: [...earlier, ...history],
    instructions: system.length === 0 ? undefined : system.join('\n\n'),
    clientTools: toClientTools(asked),
    outputSchema,
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
  })
  return { ...run, threadId }
}

/** Refuses parameters that only apply to a model. */
function assertForEnsemble(
  name: string,
  asked: { readonly outputSchema: object | undefined; readonly maxOutputTokens: number | null },
): void {
  const message = `is only for models, and "${name}" is an ensemble: its tasks define their output`
  const problems = [
    ...(asked.outputSchema === undefined ? [] : [{ path: '/text/format', message }]),
    ...(asked.maxOutputTokens === null ? [] : [{ path: '/max_output_tokens', message }]),
  ]
  if (problems.length > 0) throw badRequest('request body', problems)
}

function readAfter(query: URLSearchParams): number {
  const given = query.get('starting_after')
  if (given === null) return -1
  if (/^\d{1,9}$/.test(given)) return Number(given)
  const message = `must be the sequence number of an event, got ${JSON.stringify(given)}`
  throw badRequest('query', [{ path: '/starting_after', message }])
}
