/**
 * Walks the table of provider rules: a request that breaks a rule is refused by the stub of the provider when it is
 * sent as it is, and accepted after preparation.
 */
import { ChatAnthropic } from '@langchain/anthropic'
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOpenAI } from '@langchain/openai'
import { describe, expect, test } from 'vitest'

import { bindTools } from '../src/bind-tools.ts'
import { prepareRequest } from '../src/rules/prepare-request.ts'
import { PROVIDER_RULES, rulesFor } from '../src/rules/provider-rules.ts'
import { findRuleProblem } from '../src/testing/rules-check.ts'
import { anthropicStub, geminiStub, openaiStub, type ProviderStub } from '../src/testing/index.ts'
import { toMessages } from '../src/to-messages.ts'
import { KEY } from './providers.ts'

import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import type { Message, ModelRequest, ToolSpecification } from '@tutti/ensemble/adapter'
import type { ModelIdentity } from '../src/providers.ts'
import type { ProviderRules } from '../src/rules/rule.ts'
import type { CheckedMessage, CheckedRequest } from '../src/testing/rules-check.ts'

const CLASSES = { AIMessage, HumanMessage, SystemMessage, ToolMessage }

const TOOL: ToolSpecification = {
  name: 'look_up',
  description: 'Looks up',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
}

const SYSTEM: Message = { role: 'system', content: 'You are Tester.' }
const USER: Message = { role: 'user', content: 'Find it.' }
const ANSWER: Message = { role: 'assistant', content: 'Found.', toolCalls: [] }

/** Returns an answer with one call, and its result. */
function call(id: string, name = 'look_up'): readonly Message[] {
  return [
    { role: 'assistant', content: '', toolCalls: [{ id, name, arguments: '{"word":"a"}' }] },
    { role: 'tool', toolCallId: id, toolName: name, content: 'all' },
  ]
}

function talk(...messages: readonly Message[]): ModelRequest {
  return { messages, tools: [TOOL], toolChoice: 'auto' }
}

function withTool(change: Partial<ToolSpecification>): ModelRequest {
  return { ...talk(SYSTEM, USER), tools: [TOOL, { ...TOOL, name: 'other', ...change }] }
}

function withSchema(schema: object): ModelRequest {
  return withTool({ inputSchema: { type: 'object', ...schema } })
}

const LONG = 'x'.repeat(70)
const RESULT: Message = { role: 'tool', toolCallId: 'abcdefghi', toolName: 'look_up', content: '' }

/** Requests that break a rule; every rule of the table has one. */
const BREAKING: Readonly<Record<keyof ProviderRules, readonly ModelRequest[]>> = {
  surrogates: [
    talk(SYSTEM, { role: 'user', content: 'a\ud800b' }),
    talk(SYSTEM, USER, { ...ANSWER, content: '\udc00' }, USER),
    talk({ ...SYSTEM, content: '\ud83d' }, USER),
    withTool({ description: 'a\ud800b' }),
    withSchema({ properties: { a: { type: 'string', description: '\ud800' } } }),
    withSchema({ properties: { 'a\ud800': { type: 'string' } } }),
  ],
  toolCallId: [talk(SYSTEM, USER, ...call(`functions.look_up:0 ${LONG}`))],
  uniqueToolCallIds: [
    {
      ...talk(SYSTEM, USER, ...call('call_0'), ...call('call_0', 'other')),
      tools: [TOOL, { ...TOOL, name: 'other' }],
    },
  ],
  toolName: [
    withTool({ name: `9 looks.up ${LONG}` }),
    talk(SYSTEM, USER, ...call('abcdefghi', LONG)),
  ],
  propertyName: [
    withSchema({ properties: { 'filter[name]': { type: 'string' } }, required: ['filter[name]'] }),
    withSchema({ properties: { [LONG]: { type: 'string' } } }),
    withSchema({
      properties: { a: { type: 'object', properties: { $top: { type: 'integer' } } } },
    }),
  ],
  blank: [
    talk({ ...SYSTEM, content: '' }, USER),
    talk(SYSTEM, { ...USER, content: '' }),
    talk(SYSTEM, USER, { ...ANSWER, content: '' }, USER),
    talk(SYSTEM, USER, ...call('abcdefghi').slice(0, 1), RESULT),
  ],
  systemFirst: [talk(USER, ANSWER, SYSTEM, USER)],
  userFirst: [talk(SYSTEM, ANSWER, USER), talk(SYSTEM, ...call('abcdefghi'))],
  alternation: [talk(SYSTEM, USER, USER), talk(SYSTEM, USER, ANSWER, ANSWER, USER)],
  assistantAfterTool: [talk(SYSTEM, USER, ...call('abcdefghi'), USER)],
  userLast: [talk(SYSTEM, USER, ANSWER)],
  trailingSpace: [talk(SYSTEM, USER, { ...ANSWER, content: 'So: \n' })],
  arrayItems: [
    withSchema({ properties: { a: { type: 'array' } } }),
    withSchema({ properties: { a: { type: ['array', 'null'] } } }),
  ],
  tupleItems: [
    withSchema({
      properties: {
        a: { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'number' } },
      },
    }),
  ],
  objectProperties: [withSchema({})],
  emptyObject: [withSchema({ properties: {} }), withSchema({})],
  keywords: [
    withSchema({ properties: { a: { const: 'x' } } }),
    withSchema({ properties: { a: { type: 'integer', exclusiveMinimum: 0 } } }),
    withSchema({ properties: { a: { type: ['string', 'null'] } } }),
    withSchema({ properties: { a: { type: 'string', format: 'email' } } }),
    withSchema({ properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { type: 'string' } } }),
    withSchema({ properties: { a: { oneOf: [{ type: 'string' }, { type: 'null' }] } } }),
    withSchema({ properties: { a: { type: 'array', prefixItems: [{ type: 'string' }] } } }),
    withSchema({ properties: { a: { type: 'integer', enum: [1, 2] } } }),
    withSchema({ properties: { a: true } }),
    withSchema({ properties: { a: { type: 'string' } }, required: ['b'] }),
    withSchema({ properties: { a: { allOf: [{ type: 'string' }, { minLength: 1 }] } } }),
  ],
}

/** Returns whether a request breaks a rule, which may apply to some roles only. */
function breaks(
  { messages }: ModelRequest,
  rule: keyof ProviderRules,
  { blank }: ProviderRules,
): boolean {
  if (rule !== 'blank') return true
  return messages.some((message) => {
    const needsText = message.role !== 'assistant' || message.toolCalls.length === 0
    return needsText && message.content === '' && blank?.roles.includes(message.role)
  })
}

type Case = readonly [rule: string, request: ModelRequest]

function listCases(rules: ProviderRules): readonly Case[] {
  return Object.entries(BREAKING).flatMap(([rule, requests]) => {
    // NOTE: `BREAKING` has the names of the rules.
    const name = rule as keyof ProviderRules
    if (rules[name] === undefined) return []
    const breaking = requests.filter((request) => breaks(request, name, rules))
    return breaking.map((request, index): Case => [`${rule} ${index + 1}`, request])
  })
}

/** A provider with a stub. */
interface Service {
  readonly provider: string
  readonly stub: () => Promise<ProviderStub>
  readonly model: (baseUrl: string) => BaseChatModel
}

const OPENAI_LIKE = [
  'openai',
  'azure_openai',
  'mistral',
  'deepseek',
  'xai',
  'perplexity',
  'cohere',
  'compatible',
]

const SERVICES: readonly Service[] = [
  {
    provider: 'anthropic',
    stub: () => anthropicStub(['fine']),
    model: (anthropicApiUrl) =>
      new ChatAnthropic({ model: 'claude', apiKey: KEY, anthropicApiUrl, maxRetries: 0 }),
  },
  {
    provider: 'google-genai',
    stub: () => geminiStub(['fine']),
    model: (baseUrl) =>
      new ChatGoogleGenerativeAI({ model: 'gemini-2.5', apiKey: KEY, baseUrl, maxRetries: 0 }),
  },
  {
    provider: 'openai-responses',
    stub: () => openaiStub(['fine']),
    model: (baseURL) => openai(baseURL, true),
  },
  ...OPENAI_LIKE.map((provider) => ({
    provider,
    stub: () => openaiStub(['fine'], { service: provider }),
    model: (baseURL: string) => openai(baseURL, false),
  })),
]

function openai(baseURL: string, useResponsesApi: boolean): BaseChatModel {
  return new ChatOpenAI({
    model: 'm',
    apiKey: KEY,
    configuration: { baseURL },
    maxRetries: 0,
    useResponsesApi,
  })
}

/** Sends a request in the form of LangChain, without preparation, and returns the text of the answer. */
async function send(
  model: BaseChatModel,
  request: ModelRequest,
  identity: ModelIdentity,
): Promise<string> {
  const bound = bindTools(model, identity, request)
  let text = ''
  for await (const piece of await bound.stream(toMessages(request.messages, CLASSES, identity))) {
    text += piece.text
  }
  return text
}

describe.each(SERVICES)('$provider', ({ provider, stub, model }) => {
  const identity = { provider, name: 'm' }

  test.each(listCases(rulesFor(identity)))(
    'A provider refuses a request that breaks %s, and accepts it after preparation',
    async (_, request) => {
      await using service = await stub()
      const made = model(service.baseUrl)
      const refusal = await send(made, request, identity).catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(Error)
      // NOTE: some classes of LangChain refuse a request themselves, such as system messages in the middle.
      if (service.requests.length > 0) expect(refusal).toMatchObject({ status: 400 })
      expect(await send(made, prepareRequest(request, identity).request, identity)).toBe('fine')
    },
  )
})

describe.each(Object.entries(PROVIDER_RULES))('the rules of %s', (provider, rules) => {
  const identity = { provider, name: 'm' }

  test.each(
    listCases(rules).filter(([rule]) => !/^(?:keywords|emptyObject|uniqueToolCallIds)/.test(rule)),
  )('The rules of a provider find what breaks %s, and nothing after preparation', (_, request) => {
    expect(findRuleProblem(toSent(request), rules)).toMatch(/\S/)
    expect(
      findRuleProblem(toSent(prepareRequest(request, identity).request), rules),
    ).toBeUndefined()
  })

  test('The rules of a provider do not change a request that needs nothing', () => {
    const turn = [SYSTEM, USER, ...call('abcdefghi'), ANSWER, USER]
    const request = { ...talk(...turn), tools: [] }
    expect(prepareRequest(request, identity).request).toBe(request)
  })

  test('The rules of a provider accept generated conversations after preparation, which needs no second one', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const { request } = prepareRequest(generateTalk(seed), identity)
      expect(findRuleProblem(toSent(request), rules)).toBeUndefined()
      expect(findUnpaired(request.messages)).toEqual([])
      expect(prepareRequest(request, identity).request).toBe(request)
    }
  })

  test('The rules of a provider name a public source and a text for each rule', () => {
    for (const { source, refusal } of Object.values(rules)) {
      expect(source).toMatch(/^https:\/\/[^\s]+$/)
      expect(refusal).toMatch(/\S/)
    }
  })
})

const TEXTS: readonly [string, ...string[]] = [
  '',
  ' \n',
  'a',
  'b ',
  'a\ud800b',
  '🧀',
  'x'.repeat(80),
]
const IDS: readonly [string, ...string[]] = [
  '',
  'call_0',
  'functions.f:0',
  'a b',
  'abcdefghi',
  '名',
  '\udc00',
  'x'.repeat(80),
  '#',
]

/** Generates a conversation whose calls all have results, the same one for the same seed. */
function generateTalk(seed: number): ModelRequest {
  let state = seed
  const pick = <T>(list: readonly [T, ...T[]]): T => {
    state = (state * 48_271) % 2_147_483_647
    return list[state % list.length] ?? list[0]
  }
  const text = (): string => pick(TEXTS)
  const messages: Message[] = []
  for (let left = 1 + (seed % 9); left > 0; left -= 1) {
    const role = pick(['system', 'user', 'assistant', 'calls'])
    if (role === 'system' || role === 'user') messages.push({ role, content: text() })
    if (role === 'assistant') messages.push({ role, content: text(), toolCalls: [] })
    if (role !== 'calls') continue
    const ids = new Set([pick(IDS), pick(IDS)])
    const toolCalls = [...ids].map((id) => ({ id, name: text(), arguments: `{"a":"${text()}"}` }))
    messages.push({ role: 'assistant', content: text(), toolCalls })
    for (const { id, name } of toolCalls) {
      messages.push({ role: 'tool', toolCallId: id, toolName: name, content: text() })
    }
  }
  return { messages, tools: [], toolChoice: 'auto' }
}

/** Returns the ids of results without a call in the answer before them, and of calls without a result. */
function findUnpaired(messages: readonly Message[]): readonly string[] {
  const unpaired: string[] = []
  let open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.toolCallId)) unpaired.push(message.toolCallId)
      continue
    }
    unpaired.push(...open)
    open = new Set(message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [])
  }
  return [...unpaired, ...open]
}

/** Returns the parts of a request that have rules, in the form of a stub. */
function toSent({ messages, tools }: ModelRequest): CheckedRequest {
  return {
    body: JSON.parse(JSON.stringify({ messages, tools })),
    tools: tools.map(({ name, inputSchema }) => ({ name, at: 'name', schema: inputSchema })),
    messages: messages.map((message, index): CheckedMessage => {
      const at = `messages.${index}`
      const called = message.role === 'assistant' ? message.toolCalls : []
      const calls = called.map(({ id, name }) => ({ id, idAt: at, name, nameAt: at }))
      return { role: message.role, at, text: message.content, calls }
    }),
  }
}
