/**
 * Routes of OpenAI's conversations.
 *
 * GW-N13 A conversation is a thread, with `conv_` before its id. A run in it gets the messages of its earlier runs from
 *    the thread, texts without calls, and becomes the next run of the thread. So its input is one message of the user,
 *    and an ensemble must have inputs that contain it. While the newest run has not ended, another one is refused with
 *    `conversation_locked`.
 * GW-N14 The metadata of a conversation are the tags of its thread. Only the control API changes and deletes threads.
 */
import { Type } from '@tutti/core'
import { inputVariables } from '@tutti/ensemble'
import { threadNotFound, type ThreadRecord } from '@tutti/runs'

import { actorOf } from '../../caller.ts'
import { badRequest } from '../../http/api-error.ts'
import { readJsonBody } from '../../http/read-body.ts'
import { toOpenAiResponse } from '../errors.ts'
import { ResponseMetadata } from './wire.ts'

import type { GatewayOptions } from '../../gateway-options.ts'
import type { HttpRoute } from '../../http/route.ts'
import type { FoundModel } from '../../service/find-model.ts'
import type { Problem } from '@tutti/protocol'
import type { ReadInput } from './input.ts'
import type { CreateResponseBody, ResponseRequest } from './wire.ts'

/** Prefix of the ids of conversations, before the id of the thread. */
const PREFIX = 'conv_'

/** Characters of the id of a thread. */
const THREAD_ID = /^[A-Za-z0-9][A-Za-z0-9_-]*$/

/** Body of `POST /v1/conversations`. */
const CreateConversationBody = Type.Object(
  {
    metadata: ResponseMetadata,
    /** Not supported: a thread has messages of runs only. */
    items: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Null()])),
  },
  { additionalProperties: false },
)

/** Returns the routes for conversations. */
export function conversationRoutes({
  runs: { threads },
  maxBodyBytes,
  redactor,
}: Pick<GatewayOptions, 'runs' | 'maxBodyBytes' | 'redactor'>): readonly HttpRoute[] {
  const shared = { toErrorResponse: toOpenAiResponse }
  return [
    {
      ...shared,
      method: 'POST',
      path: '/v1/conversations',
      scope: 'runs:write',
      async handle({ request, caller, addSubject }) {
        const { metadata, items } = await readJsonBody(
          request,
          CreateConversationBody,
          maxBodyBytes,
        )
        if (items !== undefined && items !== null && items.length > 0) {
          const message = 'must be empty: a conversation begins with its first response'
          throw badRequest('request body', [{ path: '/items', message }])
        }
        const { thread } = await threads.create({ tags: metadata ?? {}, ...actorOf(caller) })
        addSubject({ target: thread.threadId })
        return Response.json(redactor.value(toConversation(thread)))
      },
    },
    {
      ...shared,
      method: 'GET',
      path: '/v1/conversations/{id}',
      scope: 'runs:read',
      async handle({ parameters: { id = '' } }) {
        const threadId = parseConversationId(id)
        const thread = await threads.get(threadId)
        if (thread === undefined) throw threadNotFound(threadId)
        return Response.json(redactor.value(toConversation(thread)))
      },
    },
  ]
}

function toConversation({ threadId, tags, createdAt }: ThreadRecord) {
  return {
    id: `${PREFIX}${threadId}`,
    object: 'conversation',
    created_at: Math.floor(createdAt / 1_000),
    metadata: tags,
  }
}

/** Returns the thread of a conversation. @throws {TuttiError} THREAD_NOT_FOUND for another id. */
function parseConversationId(id: string): string {
  const threadId = id.startsWith(PREFIX) ? id.slice(PREFIX.length) : ''
  if (!THREAD_ID.test(threadId)) throw threadNotFound(id)
  return threadId
}

/** Returns the conversation of a request as responses repeat it. */
export function toConversationParam({
  conversation,
}: Pick<CreateResponseBody, 'conversation'>): ResponseRequest['conversation'] {
  if (conversation === undefined || conversation === null) return null
  return typeof conversation === 'string' ? { id: conversation } : { id: conversation.id }
}

/**
 * Returns the thread of a request; undefined for a request without a conversation.
 *
 * @throws {TuttiError} BAD_REQUEST for an input that does not fit into a thread, and THREAD_NOT_FOUND.
 */
export function readThread(
  { conversation }: Pick<ResponseRequest, 'conversation'>,
  { history }: Pick<ReadInput, 'history'>,
  model: FoundModel,
): string | undefined {
  if (conversation === null) return undefined
  const problems: Problem[] = []
  if (history.length > 0) {
    const message = 'must be one message of the user: the conversation has the earlier messages'
    problems.push({ path: '/input', message })
  }
  if (model.kind === 'ensemble' && inputVariables(model.ensemble.tasks).length === 0) {
    const message = `must be a model or an ensemble with inputs for a request with a conversation: "${model.ensemble.name}" has none`
    problems.push({ path: '/model', message })
  }
  if (problems.length > 0) throw badRequest('request body', problems)
  return parseConversationId(conversation.id)
}
