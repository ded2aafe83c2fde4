/**
 * Routes of OpenAI's Responses API.
 *
 *   POST   /v1/responses                    begins a run, or continues the run that waits
 *   GET    /v1/responses/{id}               a response, or its stream from any event on
 *   POST   /v1/responses/{id}/cancel        cancels the run
 *   DELETE /v1/responses/{id}               deletes the run with its responses
 *   GET    /v1/responses/{id}/input_items   the input of the response
 *
 * GW-N10 A lost connection does not affect a run whose response the client can retrieve or request again: in a stream, in
 *    the background, after outputs, or with an `Idempotency-Key`. Otherwise the client has no id, and the run is
 *    cancelled, as OpenAI cancels a synchronous response whose connection closes.
 * GW-N11 A response is readable with the scope runs:read, by any key. Without this scope, a key can only continue its own
 *    responses, also by the ids of their calls, and cancels no other, because the answer shows the response. With `store: false`
 *    a response is only in the answer to its request.
 * GW-N12 `previous_response_id` of an ended run begins a run with the conversation so far, without its instructions: the
 *    messages, and the calls of client tools with their outputs. Of a run that waits, the outputs continue it, if nothing
 *    else changes (GW-G5). The same outputs sent again return the response that they began.
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
import { hasScope, type Caller } from '../../caller.ts'
import { deleteRun } from '../../runs/delete-run.ts'
import { readEventsUntil } from '../../runs/read-events-until.ts'
import { isOwn } from '../../runs/run-rights.ts'
import { findContinuation, toRequestMemo, withdrawReplaced } from '../../service/continued-run.ts'
import { findSharedModel } from '../../service/find-model.ts'
import { recordedCall, type GatewayCall } from '../../service/gateway-call.ts'
import { GatewayService } from '../../service/gateway-service.ts'
import { toReaderMemo } from '../../service/orphans.ts'
import { conversationRoutes } from '../conversations/routes.ts'
import { toOpenAiError, toOpenAiResponse } from '../errors.ts'
import { omitIgnored } from '../ignored-fields.ts'
import { readPageQuery, selectPage } from '../item-page.ts'
import { assertNoDecision, matchOutputs } from './answers.ts'
import { parseResponseId, toResponseId, type ResponseId } from './ids.ts'
import { listOutputItems, listRequestItems } from './input-items.ts'
import {
  findNewMessages,
  isSameAnswer,
  NO_EARLIER,
  readOutputs,
  toEntry,
  toItems,
  type ClientOutput,
  type EarlierItems,
} from './input.ts'
import { findChanges, findParameterProblems, toResponseRequest } from './parameters.ts'
import { resolveReferences } from './item-references.ts'
import {
  findStoredRun,
  foldOf,
  locateStoredRun,
  readResponses,
  responseNotFound,
  toEarlier,
  toMemo,
  toStoredRun,
  toWireResponse,
  type LoadedRun,
  type StoredRun,
} from './stored-run.ts'
import { toResponseRun } from './to-run.ts'
import { CreateResponseBody, type InputItem } from './wire.ts'

import type { GatewayOptions } from '../../gateway-options.ts'
import type { HttpRoute, HttpRouteCall, RouteAnswer } from '../../http/route.ts'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { EventBatches, RunWithEvents } from '@tutti/runs/internal'
import type { NumberedEvent, RunResponses } from './run-responses.ts'

const PATH = '/v1/responses'

/** Time for which a cancel waits until the run has stopped, in milliseconds. */
const STOP_MS = 10_000

/** Whether a request is for a response. OpenAI's API has another route at a path that an id could have. */
function namesResponse({ url }: Request): boolean {
  return new URL(url).pathname !== `${PATH}/input_tokens`
}

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
      isFor: namesResponse,
      scope: 'runs:read',
      handle: (call) => responses.retrieve(call),
    },
    {
      ...shared,
      method: 'DELETE',
      path: `${PATH}/{id}`,
      isFor: namesResponse,
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

/** A waiting run that a request answers: the end of one of its segments. */
interface AnsweredRun extends LoadedRun {
  readonly segment: number
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
    const sent = await readJsonBody(request, CreateResponseBody, this.#options.maxBodyBytes)
    const given = omitIgnored(this.#options, sent)
    const problems = findParameterProblems(given)
    if (problems.length > 0) throw badRequest('request body', problems)
    const body = await resolveReferences(this.#options, call.caller, given)
    const opened = await this.#open(call, body)
    if (body.stream === true) return this.#stream(opened, -1)
    const responses =
      body.background === true
        ? await readResponses(this.#options, opened.stored)
        : await this.#untilDone(opened, request.signal)
    const isKnown = body.background === true || opened.segment > 0
    const isRepeatable = readIdempotencyKey(request.headers) !== undefined
    if (!isKnown && !isRepeatable && !responses.isDone(opened.segment)) {
      const abandoned = recordedCall(call.caller, call.addSubject)
      const { runId } = opened.stored.run
      void this.#service.cancelAbandoned(abandoned, runId, { isExplicit: false })
    }
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
    const { caller } = routeCall
    const items = toItems(body.input)
    const id = body.previous_response_id ?? undefined
    if (id === undefined) {
      const outputs = readOutputs(items)
      const isAlone = outputs.length > 0 && outputs.length === items.length
      if (!isAlone) return this.#openWhole(routeCall, body, items)
      return this.#openAfter(routeCall, body, await this.#findWaiting(outputs, caller))
    }
    const previous = parseResponseId(id)
    const found = previous === undefined ? undefined : await this.#loadPrevious(previous, caller)
    if (previous === undefined || found === undefined || !found.responses.has(previous.segment)) {
      throw badRequest('request body', [
        { path: '/previous_response_id', message: `names no stored response, got "${id}"` },
      ])
    }
    return this.#openAfter(routeCall, body, { ...found, segment: previous.segment })
  }

  /** Begins or continues the run of a request that has its whole conversation. */
  async #openWhole(
    routeCall: HttpRouteCall,
    body: CreateResponseBody,
    items: readonly InputItem[],
  ): Promise<OpenResponse> {
    const { caller, addSubject } = routeCall
    const call = recordedCall(caller, addSubject)
    const earlier = await findContinuation(this.#service, {
      entries: items.map(toEntry),
      toRun: (end) => {
        const asked = { ...body, input: items.slice(0, end) }
        return toResponseRun(findSharedModel(this.#options, body.model), asked, NO_EARLIER).run
      },
      mayContinue: (run) =>
        toStoredRun(run) !== undefined && (isOwn(caller, run) || hasScope(caller, 'runs:control')),
    })
    if (earlier.kind === 'continues') {
      const { runId } = earlier.run
      const found = await this.#load(runId, caller)
      const outputs = readOutputs(items)
      const asked = new Set(outputs.map(({ reviewId }) => reviewId))
      const segment = findPause(found.responses, asked)
      const open = outputs.filter(({ reviewId }) => earlier.open.has(reviewId))
      return this.#answer(call, { ...found, segment }, open)
    }
    const begun = await this.#begin(routeCall, body, NO_EARLIER)
    await withdrawReplaced(this.#service, call, earlier)
    return begun
  }

  /** Continues the run of a response, or begins one with its conversation. */
  async #openAfter(
    routeCall: HttpRouteCall,
    body: CreateResponseBody,
    found: AnsweredRun,
  ): Promise<OpenResponse> {
    const { stored, responses, segment } = found
    const items = toItems(body.input)
    const outputs = readOutputs(items)
    const earlier = toEarlier(found, { segment, items })
    const isLast = responses.newest === segment
    if (isLast && isTerminalRunStatus(stored.run.status)) {
      return this.#begin(routeCall, body, earlier)
    }
    const id = toResponseId({ runId: stored.run.runId, segment })
    const path = '/previous_response_id'
    if (!responses.isDone(segment)) {
      throw badRequest('request body', [{ path, message: `is in progress, got "${id}"` }])
    }
    if (!isLast && outputs.length === 0) {
      const newest = toResponseId({ runId: stored.run.runId, segment: responses.newest })
      const message = `must be the newest response of its run, "${newest}", got "${id}"`
      throw badRequest('request body', [{ path, message }])
    }
    const isDecided = ({ reviewId, answer }: ClientOutput): boolean =>
      isSameAnswer(answer, responses.decisionOf(reviewId))
    const changes = [
      ...findChanges(toResponseRequest(body), stored.request),
      ...findNewMessages(items),
    ]
    const call = recordedCall(routeCall.caller, routeCall.addSubject)
    const isSame = changes.length === 0
    if (!isLast && isSame && outputs.every(isDecided)) return this.#answer(call, found, [])
    const open = isLast ? outputs.filter((output) => !isDecided(output)) : outputs
    // Refuses a request that lacks outputs.
    matchOutputs(open, isLast ? responses.open : responses.pauseAfter(segment))
    if (isLast && isSame) return this.#answer(call, found, open)
    assertNoDecision(open, changes)
    const begun = await this.#begin(routeCall, body, earlier)
    if (isLast) {
      await withdrawReplaced(this.#service, call, { kind: 'replaces', run: stored.run })
    }
    return begun
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

  /**
   * Finds the response that outputs answer, by their ids.
   *
   * @throws {TuttiError} BAD_REQUEST, naming outputs for no call, and FORBIDDEN.
   */
  async #findWaiting(outputs: readonly ClientOutput[], caller: Caller): Promise<AnsweredRun> {
    const { runs } = this.#options
    const reviews = await Promise.all(outputs.map(({ reviewId }) => runs.reviews.get(reviewId)))
    const problems = outputs.flatMap(({ id, path }, index) =>
      reviews[index] === undefined
        ? [{ path, message: `is for no call of this server, got "${id}"` }]
        : [],
    )
    const runIds = new Set(reviews.flatMap((review) => review?.runId ?? []))
    if (runIds.size > 1) problems.push({ path: '/input', message: 'has outputs for several runs' })
    const [runId] = runIds
    if (problems.length > 0 || runId === undefined) throw badRequest('request body', problems)
    const found = await this.#load(runId, caller)
    const asked = new Set(outputs.map(({ reviewId }) => reviewId))
    return { ...found, segment: findPause(found.responses, asked) }
  }

  /** Begins a run. */
  async #begin(
    { request, caller, addSubject }: HttpRouteCall,
    body: CreateResponseBody,
    earlier: EarlierItems,
  ): Promise<OpenResponse> {
    const key = readIdempotencyKey(request.headers)
    const call = recordedCall(caller, addSubject)
    const isSynchronous = body.stream !== true && body.background !== true
    const read = () => {
      const { run, question } = toResponseRun(
        findSharedModel(this.#options, body.model),
        body,
        earlier,
      )
      return {
        ...run,
        memo: {
          ...toMemo(body, question),
          ...toRequestMemo(run),
          ...(isSynchronous && key === undefined
            ? toReaderMemo('all', this.#options.runs.processes)
            : {}),
        },
        trace: readTrace(request.headers),
        ...(key === undefined ? {} : { idempotencyKey: key }),
      }
    }
    const isFollowed = body.stream === true || body.background !== true
    const { run, events } = isFollowed
      ? await this.#service.beginAndFollow(call, read)
      : { run: await this.#service.begin(call, read), events: undefined }
    const stored = toStoredRun(run)
    if (stored !== undefined) return { stored, segment: 0, events }
    await events?.return?.()
    throw responseNotFound(toResponseId({ runId: run.runId, segment: 0 }))
  }

  /** Decides the reviews for which a run waits, and returns the response that follows. */
  async #answer(
    call: GatewayCall,
    { stored, responses, segment }: AnsweredRun,
    outputs: readonly ClientOutput[],
  ): Promise<OpenResponse> {
    if (outputs.length > 0) {
      for (const { review, decision } of matchOutputs(outputs, responses.open)) {
        await this.#service.decide(call, review.reviewId, () => decision)
      }
    }
    return { stored, segment: segment + 1 }
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

/** Finds the newest segment that ended with one of these reviews. */
function findPause(responses: RunResponses, asked: ReadonlySet<string>): number {
  const isAsked = ({ reviewId }: { readonly reviewId: string }): boolean => asked.has(reviewId)
  let segment = responses.newest
  while (segment > 0 && !responses.pauseAfter(segment).some(isAsked)) segment -= 1
  return segment
}

function readAfter(query: URLSearchParams): number {
  const given = query.get('starting_after')
  if (given === null) return -1
  if (/^\d{1,9}$/.test(given)) return Number(given)
  const message = `must be the sequence number of an event, got ${JSON.stringify(given)}`
  throw badRequest('query', [{ path: '/starting_after', message }])
}
