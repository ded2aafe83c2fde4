/**
 * Routes of OpenAI's conversations.
 *
 *   POST   /v1/conversations                   creates a conversation
 *   GET    /v1/conversations/{id}              a conversation
 *   POST   /v1/conversations/{id}              replaces its metadata
 *   DELETE /v1/conversations/{id}              deletes it with its responses
 *   GET    /v1/conversations/{id}/items        its messages
 *   GET    /v1/conversations/{id}/items/{item}
 *
 * GW-N14 A conversation is a thread, and its metadata are the tags of the thread. Its items come from its runs alone:
 *    routes that would add or delete single items do not exist.
 * GW-N16 A key with `runs:write` creates conversations and begins responses in them. Reading a conversation requires
 *    `runs:read`, and so does a response in the conversation of another key, because its answer can repeat the
 *    messages. Changing and deleting one require `runs:control`.
 */
import { TuttiError, Type } from '@tutti/core'
import type { ThreadRecord } from '@tutti/runs/adapter'
import { threadNotFound } from '@tutti/runs/internal'

import { badRequest } from '../../http/api-error.ts'
import { largeResponse } from '../../http/large-json.ts'
import { readJsonBody } from '../../http/read-body.ts'
import { createThreadAs } from '../../runs/create-thread.ts'
import { deleteThread } from '../../runs/delete-thread.ts'
import { toOpenAiResponse } from '../errors.ts'
import { readPageQuery, type PageQuery } from '../item-page.ts'
import { ResponseMetadata } from '../request-fields.ts'
import { parseConversationId, toConversationId } from './ids.ts'
import { findItem, listItems } from './items.ts'

import type { GatewayOptions } from '../../gateway-options.ts'
import type { HttpRoute, HttpRouteCall } from '../../http/route.ts'

const PATH = '/v1/conversations'

const CLOSED = { additionalProperties: false } as const

/** Body of `POST /v1/conversations`. */
const CreateConversationBody = Type.Object(
  {
    metadata: ResponseMetadata,
    /** Not supported: a thread has messages of runs only. */
    items: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Null()])),
  },
  CLOSED,
)

/** Body of `POST /v1/conversations/{id}`. */
const UpdateConversationBody = Type.Object({ metadata: ResponseMetadata }, CLOSED)

/** Returns the routes for conversations. */
export function conversationRoutes(options: GatewayOptions): readonly HttpRoute[] {
  const conversations = new Conversations(options)
  const shared = { toErrorResponse: toOpenAiResponse }
  return [
    {
      ...shared,
      method: 'POST',
      path: PATH,
      scope: 'runs:write',
      handle: (call) => conversations.create(call),
    },
    {
      ...shared,
      method: 'GET',
      path: `${PATH}/{id}`,
      scope: 'runs:read',
      handle: (call) => conversations.retrieve(call),
    },
    {
      ...shared,
      method: 'POST',
      path: `${PATH}/{id}`,
      scope: 'runs:control',
      handle: (call) => conversations.update(call),
    },
    {
      ...shared,
      method: 'DELETE',
      path: `${PATH}/{id}`,
      scope: 'runs:control',
      handle: (call) => conversations.delete(call),
    },
    {
      ...shared,
      method: 'GET',
      path: `${PATH}/{id}/items`,
      scope: 'runs:read',
      handle: (call) => conversations.listItems(call),
    },
    {
      ...shared,
      method: 'GET',
      path: `${PATH}/{id}/items/{item}`,
      scope: 'runs:read',
      handle: (call) => conversations.retrieveItem(call),
    },
  ]
}

/** The conversations of all callers. */
class Conversations {
  readonly #options: GatewayOptions

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  async create({ request, caller, addSubject }: HttpRouteCall): Promise<Response> {
    const { runs, maxBodyBytes } = this.#options
    const body = await readJsonBody(request, CreateConversationBody, maxBodyBytes)
    if ((body.items ?? []).length > 0) {
      const message = 'must be empty: a conversation begins with its first response'
      throw badRequest('request body', [{ path: '/items', message }])
    }
    const tags = body.metadata ?? {}
    const { thread } = await createThreadAs(runs, { tags }, caller)
    addSubject({ target: thread.threadId })
    return this.#answer(thread)
  }

  async retrieve({ parameters: { id = '' } }: HttpRouteCall): Promise<Response> {
    return this.#answer(await this.#find(id))
  }

  async update({ request, addSubject, parameters: { id = '' } }: HttpRouteCall): Promise<Response> {
    const { runs, maxBodyBytes } = this.#options
    const threadId = parseConversationId(id)
    addSubject({ target: threadId })
    const { metadata } = await readJsonBody(request, UpdateConversationBody, maxBodyBytes)
    const thread = await runs.threads.setTags(threadId, metadata ?? {})
    if (thread === undefined) throw threadNotFound(threadId)
    return this.#answer(thread)
  }

  async delete({ caller, addSubject, parameters: { id = '' } }: HttpRouteCall): Promise<Response> {
    const threadId = parseConversationId(id)
    addSubject({ target: threadId })
    await deleteThread(this.#options, threadId, caller)
    return Response.json({ id, object: 'conversation.deleted', deleted: true })
  }

  async listItems({ request, parameters: { id = '' } }: HttpRouteCall): Promise<Response> {
    const query = readPageQuery(new URL(request.url).searchParams)
    return largeResponse(this.#options.reads, request, () => this.#readItems(id, query))
  }

  async retrieveItem({ parameters: { id = '', item = '' } }: HttpRouteCall): Promise<Response> {
    const { runs, redactor } = this.#options
    const { threadId } = await this.#find(id)
    const found = await findItem(runs.threads, threadId, item)
    if (found !== undefined) return Response.json(redactor.value(found))
    throw new TuttiError('NOT_FOUND', `No item of the conversation "${id}" has the id "${item}"`)
  }

  async #readItems(id: string, query: PageQuery) {
    const { runs, redactor } = this.#options
    const { threadId } = await this.#find(id)
    return redactor.value(await listItems(runs.threads, threadId, query))
  }

  /** Finds the thread of a conversation. @throws {TuttiError} THREAD_NOT_FOUND. */
  async #find(id: string): Promise<ThreadRecord> {
    const threadId = parseConversationId(id)
    const thread = await this.#options.runs.threads.get(threadId)
    if (thread === undefined) throw threadNotFound(threadId)
    return thread
  }

  #answer({ threadId, tags, createdAt }: ThreadRecord): Response {
    const conversation = {
      id: toConversationId(threadId),
      object: 'conversation',
      created_at: Math.floor(createdAt / 1_000),
      metadata: tags,
    }
    return Response.json(this.#options.redactor.value(conversation))
  }
}
