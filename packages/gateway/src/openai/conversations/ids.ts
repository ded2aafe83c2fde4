/** Pure: ids of conversations and of their items. Each contains the id of its thread. */
import { threadNotFound } from '@tutti/runs/internal'

/** Prefix of the ids of conversations, before the id of the thread. */
const PREFIX = 'conv_'

/** Characters of the id of a thread. */
const THREAD_ID = /^[A-Za-z0-9][A-Za-z0-9_-]*$/

/** Returns the id of the conversation that is a thread. */
export function toConversationId(threadId: string): string {
  return `${PREFIX}${threadId}`
}

/** Returns the thread of a conversation. @throws {TuttiError} THREAD_NOT_FOUND for another id. */
export function parseConversationId(id: string): string {
  const threadId = id.startsWith(PREFIX) ? id.slice(PREFIX.length) : ''
  if (!THREAD_ID.test(threadId)) throw threadNotFound(id)
  return threadId
}

/** A message of a thread: that of the user or of the assistant in one of its runs. */
export interface ItemPosition {
  /** Number of the run in its thread, from 1. */
  readonly number: number
  readonly role: 'user' | 'assistant'
}

const ITEM = /^msg_(?<threadId>.+)_(?<number>[1-9]\d{0,9})_(?<role>user|assistant)$/

/** Returns the id of a message of a thread. */
export function toItemId(threadId: string, { number, role }: ItemPosition): string {
  return `msg_${threadId}_${number}_${role}`
}

/** Parses the id of a message of a thread; undefined when it is none. */
export function parseItemId(threadId: string, id: string): ItemPosition | undefined {
  const groups = ITEM.exec(id)?.groups
  if (groups === undefined || groups['threadId'] !== threadId) return undefined
  const role = groups['role'] === 'user' ? 'user' : 'assistant'
  return { number: Number(groups['number']), role }
}
