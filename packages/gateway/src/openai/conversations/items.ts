/**
 * Reads the items of a conversation.
 *
 * GW-N15 The items of a conversation are the messages of its thread, which the next run gets: of each run, that of the
 *    user and, once there is one, that of the assistant. Their ids remain the same.
 */
import { isTerminalRunStatus } from '@tutti/protocol'

import { badRequest } from '../../http/api-error.ts'
import { toItemPage, type ItemPage, type PageQuery } from '../item-page.ts'
import { parseItemId, toItemId, type ItemPosition } from './ids.ts'

import type { RunService } from '@tutti/runs'
import type { ThreadRunMessages } from '@tutti/runs/internal'

/** Size of the texts of a page after which it ends, in bytes. */
const MAX_TEXT_BYTES = 1_000_000

/** A message of a conversation. */
export interface ConversationItem {
  readonly type: 'message'
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly status: 'completed' | 'incomplete' | 'in_progress'
  readonly content: readonly object[]
}

type Threads = Pick<RunService['threads'], 'runs'>

/**
 * Returns a page of the items of a thread; empty when the id is unknown.
 *
 * @throws {TuttiError} BAD_REQUEST when the page begins after an item of another conversation.
 */
export async function listItems(
  threads: Threads,
  threadId: string,
  { limit, order, after }: PageQuery,
): Promise<ItemPage<ConversationItem>> {
  const position = after === undefined ? undefined : parseItemId(threadId, after)
  if (after !== undefined && position === undefined) {
    const message = `must be the id of an item of this conversation, got ${JSON.stringify(after)}`
    throw badRequest('query', [{ path: '/after', message }])
  }
  const from = order === 'asc' ? fromOldest(position) : fromNewest(position)
  const page = await threads.runs({ threadId, limit, maxBytes: MAX_TEXT_BYTES, ...from })
  const items = page.runs.flatMap((run) => {
    const made = toItems(threadId, run)
    return order === 'asc' ? made : made.toReversed()
  })
  const known = items.findIndex(({ id }) => id === after) + 1
  const data = items.slice(known, known + limit)
  if (data.length === 0 && page.hasMore && position?.role === 'user') {
    // The run of that item has no answer.
    const next = toItemId(threadId, { number: position.number, role: 'assistant' })
    return listItems(threads, threadId, { limit, order, after: next })
  }
  return toItemPage(data, page.hasMore || known + limit < items.length)
}

/** Returns the bounds of the runs at and after an item. The answer is the last item of its run. */
function fromOldest(position: ItemPosition | undefined): { readonly after: number } {
  if (position === undefined) return { after: 0 }
  return { after: position.role === 'assistant' ? position.number : position.number - 1 }
}

/** Returns the bounds of the runs at and before an item. The message of the user is the first item of its run. */
function fromNewest(position: ItemPosition | undefined): { readonly before?: number } {
  if (position === undefined) return {}
  return { before: position.role === 'user' ? position.number : position.number + 1 }
}

/** Finds an item of a thread. */
export async function findItem(
  threads: Threads,
  threadId: string,
  id: string,
): Promise<ConversationItem | undefined> {
  const position = parseItemId(threadId, id)
  if (position === undefined) return undefined
  const before = position.number + 1
  const { runs } = await threads.runs({ threadId, limit: 1, before, maxBytes: MAX_TEXT_BYTES })
  const run = runs.find(({ number }) => number === position.number)
  return run && toItems(threadId, run).find((item) => item.id === id)
}

/** Returns the messages of a run, in ascending order. */
function toItems(threadId: string, run: ThreadRunMessages): readonly ConversationItem[] {
  const { number, status, userMessage, assistantMessage: answer } = run
  const asked: ConversationItem = {
    type: 'message',
    id: toItemId(threadId, { number, role: 'user' }),
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: userMessage }],
  }
  if (answer === undefined) return [asked]
  const end = status === 'COMPLETED' ? 'completed' : 'incomplete'
  return [
    asked,
    {
      type: 'message',
      id: toItemId(threadId, { number, role: 'assistant' }),
      role: 'assistant',
      status: isTerminalRunStatus(status) ? end : 'in_progress',
      content: [{ type: 'output_text', text: answer, annotations: [], logprobs: [] }],
    },
  ]
}
