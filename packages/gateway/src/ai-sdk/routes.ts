/**
 * Routes for `useChat` of the AI SDK.
 *
 *   POST {api}               begins or continues the run of a chat and streams its message
 *   GET  {api}/{id}/stream   streams the message of the newest run again from its start
 *   POST {api}/{id}/stop     cancels the newest run
 *
 * GW-C11 A chat belongs to the key that sends it; another key with the same id has another chat. Its newest run is its
 *    response: a new message cancels an unfinished one.
 * GW-C12 A lost connection does not affect the run, because a client that reloads and one that calls `stop()` close the
 *    connection in the same way. `stop` cancels explicitly. With `onDisconnect: 'cancel'` a lost connection cancels.
 * GW-C13 A stream can be joined until {@link REPLAY_MS} after the end of its run, so a run that ends during a reload is
 * not missed. After that there is no content.
 */
import { TuttiError } from '@tutti/core'
import { isTerminalRunStatus } from '@tutti/protocol'
import { CALLER_REVIEW_KINDS } from '@tutti/protocol/internal'

import { badRequest } from '../http/api-error.ts'
import {
  encodeMessage,
  KEEP_ALIVE_COMMENT,
  STREAM_HEADERS,
  type StreamAnswer,
} from '../http/event-stream.ts'
import { reportError } from '../http/on-error.ts'
import { readJsonBody } from '../http/read-body.ts'
import { readIdempotencyKey, readTrace } from '../http/request-headers.ts'
import { isRepeated, toRequestMemo } from '../service/continued-run.ts'
import {
  toModelRun,
  findSharedModel,
  listSharedModels,
  type ModelRun,
} from '../service/find-model.ts'
import { recordedCall, type GatewayCall } from '../service/gateway-call.ts'
import { GatewayService } from '../service/gateway-service.ts'
import { toChatKey } from '../service/request-key.ts'
import { ChatStream, type KnownPart } from './chat-stream.ts'
import {
  hasAnswers,
  readAnswers,
  readChatConversation,
  toChatTools,
  type ChatAnswer,
} from './request.ts'
import { ChatBody, type ChatMessage } from './wire.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { HttpRoute, HttpRouteCall } from '../http/route.ts'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { ListedRun } from '@tutti/runs'
import type { RunWithEvents } from '@tutti/runs/internal'

/** Path of the API, which is the default of `DefaultChatTransport`. */
const API = '/api/chat'

/** Tag of runs with the id of their chat. */
const CHAT_TAG = 'chat'

/** Time after the end of a run during which its message can be streamed again, in milliseconds. */
const REPLAY_MS = 60_000

/** Headers of the protocol. */
const HEADERS = { ...STREAM_HEADERS, 'x-vercel-ai-ui-message-stream': 'v1' }

/** Returns the routes for chats. */
export function aiSdkRoutes(options: GatewayOptions): readonly HttpRoute[] {
  const chats = new Chats(new GatewayService(options))
  return [
    { method: 'POST', path: API, scope: 'runs:write', handle: (call) => chats.send(call) },
    {
      method: 'GET',
      path: `${API}/{chatId}/stream`,
      scope: 'runs:read',
      handle: (call) => chats.resume(call),
    },
    {
      method: 'POST',
      path: `${API}/{chatId}/stop`,
      scope: 'runs:control',
      handle: (call) => chats.stop(call),
    },
  ]
}

/** The chats of all callers. */
class Chats {
  readonly #service: GatewayService

  constructor(service: GatewayService) {
    this.#service = service
  }

  async send(routeCall: HttpRouteCall): Promise<StreamAnswer> {
    const { request, caller, addSubject } = routeCall
    const { options } = this.#service
    const body = await readJsonBody(request, ChatBody, options.maxBodyBytes)
    const call = recordedCall(caller, addSubject)
    const newest = await this.#newest(body.id, caller.name)
    const last = body.messages.at(-1)
    const isAnswer = last?.role === 'assistant' && body.trigger !== 'regenerate-message'
    if (isAnswer && !hasAnswers(last)) {
      const message =
        'must end with a message of the user, or with answers to tool calls or approvals'
      throw badRequest('request body', [{ path: '/messages', message }])
    }
    if (isAnswer && newest?.runId === last.id && !isTerminalRunStatus(newest.status)) {
      const answers = await this.#readAnswers(last)
      if (await this.#continues(request, body, { runId: newest.runId, answers })) {
        addSubject({ runId: newest.runId })
        for (const { review, decision } of answers) {
          await this.#service.decide(call, review.reviewId, () => decision)
        }
        const answered = answers.map(({ review }) => review.reviewId)
        const known = { seq: last.metadata?.seq, answered }
        return this.#stream(newest.runId, call, { ...body, known })
      }
    }
    const { run, events } = await this.#begin(routeCall, call, body)
    if (newest !== undefined && newest.runId !== run.runId && !isTerminalRunStatus(newest.status)) {
      await this.#service.cancelAbandoned(call, newest.runId, { isExplicit: true })
    }
    return this.#stream(run.runId, call, { ...body, events })
  }

  async resume({ parameters: { chatId = '' }, caller }: HttpRouteCall) {
    const newest = await this.#newest(chatId, caller.name)
    const { clock } = this.#service.options.runs
    const { completedAt = Infinity } = newest ?? {}
    if (newest === undefined || completedAt < clock.now() - REPLAY_MS) {
      return new Response(null, { status: 204 })
    }
    return this.#stream(newest.runId, recordedCall(caller), {})
  }

  async stop({
    parameters: { chatId = '' },
    caller,
    addSubject,
  }: HttpRouteCall): Promise<Response> {
    const newest = await this.#newest(chatId, caller.name)
    if (newest !== undefined && !isTerminalRunStatus(newest.status)) {
      addSubject({ runId: newest.runId })
      const call = recordedCall(caller, addSubject)
      await this.#service.cancelAbandoned(call, newest.runId, { isExplicit: true })
    }
    return new Response(null, { status: 204 })
  }

  /** Finds the newest run of a chat. */
  async #newest(chatId: string, actor: string | undefined): Promise<ListedRun | undefined> {
    const cacheKey = toChatKey(chatId, actor)
    const page = await this.#service.options.runs.list({ cacheKey, limit: 1, offset: 0 })
    return page.runs[0]
  }

  async #begin(
    { request }: HttpRouteCall,
    call: GatewayCall,
    body: ChatBody,
  ): Promise<RunWithEvents> {
    const key = readIdempotencyKey(request.headers)
    return this.#service.beginAndFollow(call, () => ({
      ...this.#toRun(request, body),
      memo: toRequestMemo(this.#toRun(request, toAsked(body))),
      cacheKey: toChatKey(body.id, call.caller.name),
      tags: { [CHAT_TAG]: body.id },
      trace: readTrace(request.headers),
      ...(key === undefined ? {} : { idempotencyKey: key }),
    }))
  }

  /** Returns the run that answers a conversation. */
  #toRun(request: Request, body: ChatBody): ModelRun {
    const { options } = this.#service
    const query = new URL(request.url).searchParams.get('model')
    const name = body.model ?? query ?? listSharedModels(options)[0]?.name ?? ''
    return toModelRun(findSharedModel(options, name), {
      ...readChatConversation(body),
      clientTools: toChatTools(body.tools),
    })
  }

  /**
   * Whether the answers of a request continue the run that it names (GW-G5). Results of client tools do if the rest of
   * the request repeats the one that began the run. Decisions of reviews always do, because they are about its work.
   */
  async #continues(
    request: Request,
    body: ChatBody,
    { runId, answers }: { readonly runId: string; readonly answers: readonly ChatAnswer[] },
  ): Promise<boolean> {
    const asked = toAsked(body)
    if (asked.messages.length === 0) return true
    if (answers.some(({ review }) => review.kind !== 'CLIENT_TOOL')) return true
    const run = await this.#service.options.runs.record(runId)
    return run !== undefined && isRepeated(run, this.#toRun(request, asked))
  }

  /**
   * Returns the answers of a message to open reviews. Reviews that were decided elsewhere meanwhile remain as they are.
   *
   * @throws {TuttiError} REVIEW_RESOLVED when the run waits for other answers.
   */
  async #readAnswers({ id: runId, parts }: ChatMessage): Promise<readonly ChatAnswer[]> {
    const { runs } = this.#service.options
    const open = await runs.reviews.open({ runId, kinds: CALLER_REVIEW_KINDS })
    const reviews = open.map(({ request }) => request)
    const answers = readAnswers({ parts }, reviews)
    if (answers.length === 0 && reviews.length > 0) {
      throw new TuttiError('REVIEW_RESOLVED', `Run "${runId}" no longer waits for these answers`)
    }
    return answers
  }

  async #stream(runId: string, call: GatewayCall, how: StreamOptions): Promise<StreamAnswer> {
    const { runs, clock, heartbeatMs } = this.#service.options
    const { lastSeq = -1 } = how.events === undefined ? ((await runs.record(runId)) ?? {}) : {}
    const stream = new ChatStream(runId, { known: how.known, pausesFrom: lastSeq })
    const encoder = {
      head: stream.start().map(encodeMessage).join(''),
      keepAlive: KEEP_ALIVE_COMMENT,
      get isDone() {
        return stream.isDone
      },
      encode: (events: readonly LoggedRunEvent[]) => {
        const text = stream.after(events).map(encodeMessage).join('')
        return stream.isDone ? `${text}${DONE}` : text
      },
      fail: (error: unknown) => {
        const { message } = reportError(error, this.#service.options).body
        return `${encodeMessage({ type: 'error', errorText: message })}${DONE}`
      },
    }
    const watch = {
      over: () => {
        if (stream.isDone || how.onDisconnect !== 'cancel') return
        void this.#service.cancelAbandoned(call, runId, { isExplicit: false })
      },
    }
    const batches = how.events ?? runs.follow({ runId, from: 0 })
    return { headers: HEADERS, parts: { batches, encoder, clock, heartbeatMs, watch } }
  }
}

/** Returns a request up to the newest message of the user; the client adds to the answer after it. */
function toAsked(body: ChatBody): ChatBody {
  const asked = body.messages.findLastIndex(({ role }) => role === 'user')
  return { ...body, messages: body.messages.slice(0, asked + 1) }
}

interface StreamOptions {
  /** Part of the message that the client has. @default none */
  readonly known?: KnownPart
  /** Events of a run that has just begun. */
  readonly events?: RunWithEvents['events']
  readonly onDisconnect?: ChatBody['onDisconnect'] | undefined
}

const DONE = 'data: [DONE]\n\n'
