/** Attacks the chats of the AI SDK: new messages, answers to a waiting run, resumed and stopped streams. */
import { Type } from '@tutti/core'
import * as fc from 'fast-check'

import { ChatBody, ChatMessage } from '../../../packages/gateway/src/ai-sdk/wire.ts'
import { bodiesOf, postsOf, requestAttempt, type Target } from './target.ts'

import type { Request } from '../lib/exchange.ts'

/** Ids of chats, which clients choose. */
const CHATS = ['chat-1', 'chat-2'] as const

/** A message that a user wrote. */
const USER_MESSAGE = Type.Object({
  id: Type.String(),
  role: Type.Literal('user'),
  parts: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() }), {
    minItems: 1,
  }),
})

/** A part of an answer: a call of a client tool with its state, an approval, or text. */
const ANSWER_PART = Type.Object({
  type: Type.Enum(['text', 'tool-search', 'dynamic-tool', 'step-start', 'file']),
  text: Type.Optional(Type.String()),
  toolName: Type.Optional(Type.String()),
  toolCallId: Type.Optional(Type.String()),
  state: Type.Optional(
    Type.Enum(['input-available', 'output-available', 'output-error', 'approval-responded']),
  ),
  input: Type.Optional(Type.Unknown()),
  output: Type.Optional(Type.Unknown()),
  errorText: Type.Optional(Type.String()),
  approval: Type.Optional(Type.Object({ id: Type.String(), approved: Type.Boolean() })),
})

const ANSWER = Type.Object({
  id: Type.String(),
  role: Type.Literal('assistant'),
  parts: Type.Array(ANSWER_PART),
})

/** A conversation that the server accepts, with a client tool in some requests. */
const CONVERSATION = Type.Object({
  id: Type.Enum(CHATS),
  messages: Type.Array(Type.Union([USER_MESSAGE, ANSWER, ChatMessage]), { minItems: 1 }),
  trigger: Type.Optional(Type.Enum(['submit-message', 'regenerate-message'])),
  messageId: Type.Optional(Type.String()),
  model: Type.Optional(Type.Enum(['one', 'write', 'reviewed'])),
  instructions: Type.Optional(Type.String()),
  tools: ChatBody.properties.tools,
  onDisconnect: ChatBody.properties.onDisconnect,
})

/** Chats of the AI SDK. */
export function chatsTarget(): Target {
  const path = fc.constantFrom('/api/chat', '/api/chat?model=write', '/api/chat?model=none')
  const others = fc.constantFrom(
    ['GET', '/api/chat/chat-1/stream'],
    ['GET', '/api/chat/missing/stream'],
    ['GET', '/api/chat/%ff/stream'],
    ['GET', `/api/chat/${'x'.repeat(10_000)}/stream`],
    ['POST', '/api/chat/chat-1/stop'],
    ['POST', '/api/chat/%00/stop'],
  )
  const requests: fc.Arbitrary<Request> = fc.oneof(
    { weight: 4, arbitrary: postsOf(path, bodiesOf(CONVERSATION)) },
    { weight: 2, arbitrary: postsOf(path, bodiesOf(ChatBody)) },
    { weight: 1, arbitrary: others.map(([method = '', to = '']) => ({ method, path: to })) },
  )
  return { name: 'chats', attempts: requests.map(requestAttempt) }
}
