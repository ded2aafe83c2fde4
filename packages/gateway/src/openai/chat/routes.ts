/**
 * Route for chat completions of OpenAI's API.
 *
 * GW-K8 The results of tools continue the run that waits for them if the rest of the request repeats it (GW-G5). If it
 *    waits no longer because it has ended or the calls have timed out, the messages are a conversation, and a new run
 *    begins.
 * GW-K9 A client that disconnects cancels its run, because the API has no way to ask for it again. With an
 *    `Idempotency-Key` the run continues, and the same request gets the same completion, also after a restart. A server
 *    that dies disconnects its clients (GW-G7).
 * GW-K11 The end of a run has status 400 or 402, because a retry would begin another run. The AI SDK repeats 408, 409, 429
 *    and 5xx and ignores `x-should-retry`. LangChain repeats all statuses except 400 to 407, 409 and 413.
 */
import { Type, TuttiError } from '@tutti/core'

import {
  encodeMessage,
  KEEP_ALIVE_COMMENT,
  STREAM_HEADERS,
  type StreamAnswer,
} from '../../http/event-stream.ts'
import { reportError } from '../../http/on-error.ts'
import { readJsonBody } from '../../http/read-body.ts'
import { readIdempotencyKey, readTrace } from '../../http/request-headers.ts'
import { readEventsUntil } from '../../runs/read-events-until.ts'
import { isOwn } from '../../runs/run-rights.ts'
import {
  findContinuation,
  toRequestMemo,
  withdrawReplaced,
  type Continuation,
} from '../../service/continued-run.ts'
import { toModelRun, findSharedModel, type FoundModel } from '../../service/find-model.ts'
import { recordedCall, type GatewayCall } from '../../service/gateway-call.ts'
import { GatewayService } from '../../service/gateway-service.ts'
import { toReaderMemo } from '../../service/orphans.ts'
import { toOpenAiError, toOpenAiResponse, type OpenAiErrorBody } from '../errors.ts'
import { omitIgnored } from '../ignored-fields.ts'
import { Completion, type CompletionEnd, type CompletionOptions } from './completion.ts'
import { readCompletionBody, readQuestion, readToolAnswers, toEntries } from './request.ts'

import type { GatewayOptions } from '../../gateway-options.ts'
import type { HttpRoute, HttpRouteCall, RouteAnswer } from '../../http/route.ts'
import type { CompletionBody, CompletionDelta } from './wire.ts'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { RunRecord } from '@tutti/runs/adapter'
import type { RunWithEvents } from '@tutti/runs/internal'

/** Returns the route for chat completions. */
export function completionRoutes(options: GatewayOptions): readonly HttpRoute[] {
  const service = new GatewayService(options)
  return [
    {
      method: 'POST',
      path: '/v1/chat/completions',
      scope: 'runs:write',
      toErrorResponse: toOpenAiResponse,
      handle: (call) => complete(call, service),
    },
  ]
}

/** The run of a completion. */
interface AskedRun {
  readonly run: Pick<RunRecord, 'runId' | 'createdAt'>
  /** Events of a run that the request has begun. */
  readonly events?: RunWithEvents['events']
  /** Ids of the reviews that the request has decided; none for a new run. */
  readonly answered: readonly string[]
  /** Whether the client can ask for the completion again. */
  readonly isRepeatable: boolean
}

/** A request for a completion. */
interface CompletionCallParts {
  readonly service: GatewayService
  readonly call: GatewayCall
  readonly body: CompletionBody
  readonly found: FoundModel
  readonly asked: AskedRun
}

async function complete(
  { request, caller, addSubject }: HttpRouteCall,
  service: GatewayService,
): Promise<RouteAnswer> {
  const { options } = service
  const raw = await readJsonBody(
    request,
    Type.Record(Type.String(), Type.Unknown()),
    options.maxBodyBytes,
  )
  const body = readCompletionBody(omitIgnored(options, raw))
  const call = recordedCall(caller, addSubject)
  const key = readIdempotencyKey(request.headers)
  const found = findSharedModel(options, body.model)
  const sent = {
    entries: body.messages.flatMap(toEntries),
    toRun: (end: number) =>
      toModelRun(found, readQuestion({ ...body, messages: body.messages.slice(0, end) })),
    mayContinue: (run: RunRecord) => isOwn(caller, run),
  }
  const earlier = await findContinuation(service, sent)
  if (earlier.kind === 'continues') {
    const asked = await continueRun(service, call, { ...earlier, body })
    return respond({ service, call, body, found, asked }, request.signal)
  }
  const begun = await service.beginAndFollow(call, () => {
    const run = toModelRun(found, readQuestion(body))
    return {
      ...run,
      ...(body.metadata === null || body.metadata === undefined ? {} : { tags: body.metadata }),
      memo: {
        ...toRequestMemo(run),
        ...(key === undefined ? toReaderMemo('clientTools', options.runs.processes) : {}),
      },
      trace: readTrace(request.headers),
      ...(key === undefined ? {} : { idempotencyKey: key }),
    }
  })
  await withdrawReplaced(service, call, earlier)
  const asked = { ...begun, answered: [], isRepeatable: key !== undefined }
  return respond({ service, call, body, found, asked }, request.signal)
}

function respond(
  parts: CompletionCallParts,
  signal: AbortSignal,
): Promise<Response> | StreamAnswer {
  return parts.body.stream === true ? streamCompletion(parts) : answerCompletion(parts, signal)
}

/** Decides the open reviews of a run with the results at the end of a request. */
async function continueRun(
  service: GatewayService,
  call: GatewayCall,
  {
    run,
    open,
    body,
  }: Extract<Continuation, { kind: 'continues' }> & { readonly body: CompletionBody },
): Promise<AskedRun> {
  const answers = readToolAnswers(body.messages)
  for (const { reviewId, decision } of answers) {
    if (open.has(reviewId)) await service.decide(call, reviewId, () => decision)
  }
  return { run, answered: answers.map(({ reviewId }) => reviewId), isRepeatable: true }
}

async function answerCompletion(
  { service, call, body, found, asked }: CompletionCallParts,
  signal: AbortSignal,
): Promise<Response> {
  const { runId } = asked.run
  const completion = new Completion({
    ...toTools(found, body),
    answered: asked.answered,
    streamsText: false,
  })
  const batches = asked.events ?? service.options.runs.follow({ runId, from: 0 })
  let reasoning = ''
  await readEventsUntil(batches, signal, (event) => {
    for (const delta of completion.take(event)) reasoning += delta.reasoning_content ?? ''
    return completion.end !== undefined
  })
  const { end, usage } = completion
  if (end?.kind === 'message') {
    return Response.json({
      ...toHead(completion, body, asked),
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: toMessage({ ...end, reasoning }),
          finish_reason: end.finish,
          logprobs: null,
        },
      ],
      usage,
    })
  }
  if (end !== undefined) return toFailureResponse(end)
  leave(service, call, asked)
  throw new TuttiError(
    'RUN_NOT_FOUND',
    `Run "${runId}" was deleted, or its reader has disconnected`,
  )
}

/** Cancels the run of a client that has disconnected and cannot ask for it again. */
function leave(service: GatewayService, call: GatewayCall, { run, isRepeatable }: AskedRun): void {
  if (isRepeatable) return
  void service.cancelAbandoned(call, run.runId, { isExplicit: false })
}

function streamCompletion({
  service,
  call,
  body,
  found,
  asked,
}: CompletionCallParts): StreamAnswer {
  const { runs, clock, heartbeatMs } = service.options
  const { runId } = asked.run
  const streamsText = (body.response_format?.type ?? 'text') === 'text'
  const completion = new Completion({
    ...toTools(found, body),
    answered: asked.answered,
    streamsText,
  })
  const hasUsage = body.stream_options?.include_usage === true
  const chunk = (choices: readonly object[], more: object = {}): string =>
    encodeMessage({
      ...toHead(completion, body, asked),
      object: 'chat.completion.chunk',
      choices,
      ...(hasUsage ? { usage: null } : {}),
      ...more,
    })
  const choice = (delta: CompletionDelta, finish: string | null = null) => ({
    index: 0,
    delta,
    finish_reason: finish,
    logprobs: null,
  })
  const encodeEnd = (end: CompletionEnd): string => {
    if (end.kind === 'failure') return encodeMessage(toFailure(end))
    const usage = hasUsage ? chunk([], { usage: completion.usage }) : ''
    return `${chunk([choice({}, end.finish)])}${usage}data: [DONE]\n\n`
  }
  let hasStarted = false
  const encoder = {
    head: ': run\n\n',
    keepAlive: KEEP_ALIVE_COMMENT,
    get isDone() {
      return completion.end !== undefined
    },
    encode(events: readonly LoggedRunEvent[]) {
      const deltas = events.flatMap((event) => completion.take(event))
      const { end } = completion
      const head = hasStarted ? '' : chunk([choice({ role: 'assistant' })])
      if (deltas.length === 0 && end === undefined) return ''
      hasStarted = true
      const changes = deltas.map((delta) => chunk([choice(delta)])).join('')
      return `${head}${changes}${end === undefined ? '' : encodeEnd(end)}`
    },
    fail: (error: unknown) => encodeMessage(toOpenAiError(reportError(error, service.options))),
  }
  const watch = {
    over: () => {
      if (completion.end === undefined) leave(service, call, asked)
    },
  }
  const batches = asked.events ?? runs.follow({ runId, from: 0 })
  return { headers: STREAM_HEADERS, parts: { batches, encoder, clock, heartbeatMs, watch } }
}

/** Returns the tools that the output task of a run can call. */
function toTools(
  found: FoundModel,
  { tools }: CompletionBody,
): Pick<CompletionOptions, 'callsTools' | 'clientTools'> {
  const clientTools = (tools ?? []).map(({ function: { name } }) => name)
  if (found.kind === 'alias') return { clientTools }
  const { tasks, plan } = found.ensemble
  const task = tasks.find(({ name }) => name === plan.outputTask)
  const delegates = plan.workflow === 'HIERARCHICAL' || task?.agent.allowDelegation === true
  return { clientTools, callsTools: delegates || (task?.tools.length ?? 0) > 0 }
}

function toHead(
  { part }: Completion,
  { model }: CompletionBody,
  { run: { runId, createdAt } }: AskedRun,
): { readonly id: string; readonly created: number; readonly model: string } {
  const id = part === 0 ? `chatcmpl-${runId}` : `chatcmpl-${runId}-${part}`
  return { id, created: Math.floor(createdAt / 1000), model }
}

function toMessage({
  content,
  reasoning,
  refusal = null,
  calls,
}: {
  readonly content: string
  readonly reasoning: string
  readonly refusal?: string | null
  readonly calls: NonNullable<Extract<CompletionEnd, { kind: 'message' }>>['calls']
}) {
  const isEmpty = content === '' && (refusal !== null || calls.length > 0)
  return {
    role: 'assistant',
    content: isEmpty ? null : content,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    refusal,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

/** A run that ended without an answer. */
type Failure = Extract<CompletionEnd, { readonly kind: 'failure' }>

/** Failure code of a run → status and type of its error; the other codes are failures of the server. */
const FAILURES: Readonly<Record<string, readonly [status: number, type: string]>> = {
  BUDGET_EXCEEDED: [402, 'insufficient_quota'],
  CANCELLED: [400, 'invalid_request_error'],
  GUARDRAIL_VIOLATION: [400, 'invalid_request_error'],
  REQUEST_REJECTED: [400, 'invalid_request_error'],
  INPUT_TOO_LARGE: [400, 'invalid_request_error'],
}

const SERVER_FAILURE = [400, 'server_error'] as const

function toFailure({ code, message }: Failure): OpenAiErrorBody {
  const [, type] = FAILURES[code] ?? SERVER_FAILURE
  return { error: { message, type, param: null, code: code.toLowerCase() } }
}

/** Returns a failed run as an error (GW-K11). */
function toFailureResponse(failure: Failure): Response {
  const [status] = FAILURES[failure.code] ?? SERVER_FAILURE
  return Response.json(toFailure(failure), { status, headers: { 'x-should-retry': 'false' } })
}
