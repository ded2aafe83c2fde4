/**
 * Pure: the conversation of a request, which is a thread.
 *
 * GW-N13 A run in a conversation gets the messages of its earlier runs from the thread, texts without calls, and becomes
 *    the next run of the thread. So its input is one message of the user, and an ensemble must have inputs that contain
 *    it. While the newest run has not ended, another one is refused with `conversation_locked`.
 */
import { inputVariables } from '@tutti/ensemble/internal'

import { badRequest } from '../../http/api-error.ts'
import { parseConversationId } from '../conversations/ids.ts'

import type { FoundModel } from '../../service/find-model.ts'
import type { Problem } from '@tutti/protocol/internal'
import type { ReadInput } from './input.ts'
import type { CreateResponseBody, ResponseRequest } from './wire.ts'

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
