/** Attacks OpenAI's APIs: chat completions, responses, conversations and models. */
import { Type } from '@tutti/core'
import * as fc from 'fast-check'

import { CompletionBody } from '../../../packages/gateway/src/openai/chat/wire.ts'
import {
  CreateResponseBody,
  ResponseTool,
} from '../../../packages/gateway/src/openai/responses/wire.ts'
import {
  bodiesOf,
  FIRST_ID,
  followUpAttempt,
  postsOf,
  requestAttempt,
  type Attempt,
  type Target,
} from './target.ts'

import type { Request } from '../lib/exchange.ts'

/** OpenAI's APIs. */
export function openAiTarget(): Target {
  const requests = fc.oneof(
    { weight: 4, arbitrary: completions() },
    { weight: 4, arbitrary: responses() },
    { weight: 1, arbitrary: conversations() },
    { weight: 1, arbitrary: readsOf(STATIC_PATHS) },
  )
  return {
    name: 'openai',
    attempts: fc.oneof(
      { weight: 3, arbitrary: requests.map(requestAttempt) },
      { weight: 2, arbitrary: followUps() },
    ),
  }
}

const MODEL = Type.Enum(['one', 'two', 'write', 'reviewed'])

function completions(): fc.Arbitrary<Request> {
  return postsOf(fc.constant('/v1/chat/completions'), bodiesOf(CompletionBody))
}

const PART = Type.Object({
  type: Type.Enum(['input_text', 'output_text', 'refusal', 'input_image']),
  text: Type.Optional(Type.String()),
  refusal: Type.Optional(Type.String()),
})
const CONTENT = Type.Union([Type.String(), Type.Array(PART)])
const CALL_ID = Type.Enum(['call_x', 'call_y', 'fc_x', ''])

/** Item of each type that an input can have. */
const ITEM = Type.Union([
  Type.Object({
    type: Type.Optional(Type.Literal('message')),
    role: Type.Enum(['user', 'assistant', 'system', 'developer']),
    content: CONTENT,
  }),
  Type.Object({
    type: Type.Literal('function_call'),
    call_id: CALL_ID,
    name: Type.String(),
    arguments: Type.String(),
  }),
  Type.Object({ type: Type.Literal('function_call_output'), call_id: CALL_ID, output: CONTENT }),
  Type.Object({
    type: Type.Literal('mcp_approval_response'),
    approval_request_id: Type.Enum(['mcpr_x', 'x']),
    approve: Type.Boolean(),
    reason: Type.Optional(Type.String()),
  }),
  Type.Object({ type: Type.Literal('item_reference'), id: Type.Enum(['msg_x_0_0', 'fc_x', 'x']) }),
  Type.Object({ type: Type.Literal('reasoning'), summary: Type.Array(PART) }),
])

const FUNCTION = Type.Object({
  type: Type.Literal('function'),
  name: Type.Enum(['search', 'echo']),
  description: ResponseTool.properties.description,
  parameters: ResponseTool.properties.parameters,
})

const { properties: RESPONSE } = CreateResponseBody

/** Fields that have an effect: a body that also has the others is mostly refused because of them. */
const RESPONSE_BODY = Type.Object({
  model: MODEL,
  input: Type.Union([Type.String(), Type.Array(ITEM)]),
  instructions: RESPONSE.instructions,
  previous_response_id: Type.Optional(Type.Enum([FIRST_ID, 'resp_first', 'resp_missing_1', 'x'])),
  stream: RESPONSE.stream,
  background: RESPONSE.background,
  store: RESPONSE.store,
  metadata: RESPONSE.metadata,
  max_output_tokens: RESPONSE.max_output_tokens,
  tools: Type.Optional(Type.Array(FUNCTION)),
  text: RESPONSE.text,
})

function responses(): fc.Arbitrary<Request> {
  const body = fc.oneof(
    { weight: 3, arbitrary: bodiesOf(RESPONSE_BODY) },
    { weight: 1, arbitrary: bodiesOf(CreateResponseBody) },
  )
  return postsOf(fc.constant('/v1/responses'), body)
}

/** Body of `POST /v1/conversations` and, without items, of `POST /v1/conversations/{id}`. */
const CONVERSATION_BODY = Type.Object({
  metadata: RESPONSE.metadata,
  items: Type.Optional(Type.Array(ITEM)),
})

function conversations(): fc.Arbitrary<Request> {
  const path = fc.constantFrom('/v1/conversations', '/v1/conversations/conv_missing')
  return postsOf(path, bodiesOf(CONVERSATION_BODY))
}

type Call = readonly [method: string, path: string]

const LONG = 'x'.repeat(10_000)

const STATIC_PATHS: readonly Call[] = [
  ['GET', '/v1/models'],
  ['GET', '/v1/models/one'],
  ['GET', '/v1/models/%ff'],
  ['GET', `/v1/models/${LONG}`],
  ['GET', '/v1/responses/resp_first'],
  ['GET', '/v1/responses/resp_missing_999999?stream=true'],
  ['GET', `/v1/responses/${LONG}`],
  ['POST', '/v1/responses/%00/cancel'],
  ['DELETE', '/v1/conversations/conv_%2e%2e'],
  ['GET', '/v1/conversations/first/items?limit=0&order=x'],
  ['GET', '/v1/toString'],
]

const RESPONSE_PATHS: readonly Call[] = [
  ['GET', `/v1/responses/${FIRST_ID}`],
  ['GET', `/v1/responses/${FIRST_ID}_1`],
  ['GET', `/v1/responses/${FIRST_ID}?stream=true`],
  ['GET', `/v1/responses/${FIRST_ID}?stream=true&starting_after=999999999`],
  ['GET', `/v1/responses/${FIRST_ID}?stream=true&starting_after=-1`],
  ['GET', `/v1/responses/${FIRST_ID}/input_items`],
  ['GET', `/v1/responses/${FIRST_ID}/input_items?limit=101&after=%ff&order=asc`],
  ['POST', `/v1/responses/${FIRST_ID}/cancel`],
  ['DELETE', `/v1/responses/${FIRST_ID}`],
]

const CONVERSATION_PATHS: readonly Call[] = [
  ['GET', `/v1/conversations/${FIRST_ID}`],
  ['GET', `/v1/conversations/${FIRST_ID}/items`],
  ['GET', `/v1/conversations/${FIRST_ID}/items?limit=1&order=asc&after=x`],
  ['GET', `/v1/conversations/${FIRST_ID}/items/msg_${FIRST_ID}_1_user`],
  ['DELETE', `/v1/conversations/${FIRST_ID}`],
]

function readsOf(calls: readonly Call[]): fc.Arbitrary<Request> {
  return fc.constantFrom(...calls).map(([method, path]) => ({ method, path }))
}

/** Attempts that create a response or a conversation, and use its id. */
function followUps(): fc.Arbitrary<Attempt> {
  const json = { 'content-type': 'application/json' }
  const create = (path: string, body: object): Request => ({
    method: 'POST',
    path,
    headers: json,
    body: JSON.stringify(body),
  })
  const search = { type: 'function', name: 'search', parameters: { type: 'object' } }
  const response = fc
    .constantFrom<object>(
      { model: 'one', input: 'x' },
      { model: 'write', input: 'x', background: true },
      { model: 'reviewed', input: 'x', background: true },
      { model: 'one', input: 'x', tools: [search] },
    )
    .map((body) => create('/v1/responses', body))
  const conversation = fc.constant(create('/v1/conversations', { metadata: { team: 'a' } }))
  const inConversation = Type.Object({
    ...RESPONSE_BODY.properties,
    previous_response_id: Type.Optional(Type.Null()),
    conversation: Type.Union([Type.Literal(FIRST_ID), Type.Object({ id: Type.Literal(FIRST_ID) })]),
  })
  const own = fc.constant(`/v1/conversations/${FIRST_ID}`)
  const afterConversation = fc.oneof(
    readsOf(CONVERSATION_PATHS),
    postsOf(fc.constant('/v1/responses'), bodiesOf(inConversation)),
    postsOf(own, bodiesOf(Type.Object({ metadata: RESPONSE.metadata }))),
  )
  const next = Type.Object({
    ...RESPONSE_BODY.properties,
    previous_response_id: Type.Literal(FIRST_ID),
  })
  const afterResponse = fc.oneof(
    readsOf(RESPONSE_PATHS),
    postsOf(fc.constant('/v1/responses'), bodiesOf(next)),
  )
  return fc.oneof(
    fc.tuple(response, afterResponse).map(([first, second]) => followUpAttempt(first, second)),
    fc
      .tuple(conversation, afterConversation)
      .map(([first, second]) => followUpAttempt(first, second)),
  )
}
