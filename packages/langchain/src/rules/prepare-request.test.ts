import { describe, expect, test } from 'vitest'

import { prepareRequest } from './prepare-request.ts'
import { PROVIDER_RULES, rulesFor } from './provider-rules.ts'

import type { Message, ModelReply, ModelRequest, ToolSpecification } from '@tutti/ensemble/adapter'

const CLAUDE = { provider: 'anthropic', name: 'claude-sonnet-4-5' }
const MISTRAL = { provider: 'mistral', name: 'mistral-large' }
const OPENAI = { provider: 'openai', name: 'gpt-5' }

const TOOL: ToolSpecification = {
  name: 'list',
  description: 'Lists',
  inputSchema: { type: 'object', properties: { $top: { type: 'integer' } } },
}

const USER: Message = { role: 'user', content: 'Go.' }

function talk(
  messages: readonly Message[],
  tools: readonly ToolSpecification[] = [],
): ModelRequest {
  return { messages, tools, toolChoice: 'auto' }
}

function turn(id: string, text = '{"$top":1}'): readonly Message[] {
  return [
    { role: 'assistant', content: '', toolCalls: [{ id, name: 'list', arguments: text }] },
    { role: 'tool', toolCallId: id, toolName: 'list', content: 'all' },
  ]
}

function listIds(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === 'tool') return [message.toolCallId]
    return message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : []
  })
}

describe('[LC-R3] the ids of a conversation', () => {
  test('The ids of a conversation do not change when the conversation grows', () => {
    const turns = ['a b', 'a.b', 'toolu_1', 'a b', 'toolu_1', 'x#2'].flatMap((id) => turn(id))
    const all = listIds(prepareRequest(talk([USER, ...turns]), CLAUDE).request.messages)
    for (let length = 2; length <= turns.length; length += 2) {
      const request = talk([USER, ...turns.slice(0, length)])
      expect(listIds(prepareRequest(request, CLAUDE).request.messages)).toEqual(
        all.slice(0, length),
      )
    }
    expect(new Set(all).size).toBe(turns.length / 2)
  })

  test('The ids of a conversation never equal the own id of another call', () => {
    const [id = ''] = listIds(prepareRequest(talk([USER, ...turn('a b')]), CLAUDE).request.messages)
    const messages = [USER, ...turn(id), ...turn('a b'), ...turn(id)]
    const ids = listIds(prepareRequest(talk(messages), CLAUDE).request.messages)
    expect(ids[0]).toBe(id)
    expect(new Set(ids).size).toBe(3)
  })

  test('The ids of a conversation are those of the answer before a result, also when several answers have the same id', () => {
    const messages = [USER, ...turn('call_0'), ...turn('call_0')]
    const ids = listIds(prepareRequest(talk(messages), CLAUDE).request.messages)
    expect(ids[0]).toBe('call_0')
    expect([ids[0] === ids[1], ids[2] === ids[3], ids[0] === ids[2]]).toEqual([true, true, false])
  })

  test('The ids of a conversation keep repetitions for a provider that accepts them', () => {
    const request = talk([USER, ...turn('call_0'), ...turn('call_0')])
    expect(prepareRequest(request, OPENAI).request).toBe(request)
  })

  test('The ids of a conversation are the same in the content that a provider expects back', () => {
    const content = {
      kind: 'blocks',
      blocks: [
        { type: 'thinking', thinking: 't', signature: 's' },
        { type: 'tool_use', id: 'a b' },
      ],
    }
    const [answer, result] = turn('a b')
    const thinking = { ...answer, providerContent: { provider: 'anthropic', content } }
    // NOTE: an assistant message with content.
    const { request } = prepareRequest(talk([USER, thinking as Message, result ?? USER]), CLAUDE)
    const [id] = listIds(request.messages)
    expect(JSON.stringify(request.messages[1])).toContain(`{"type":"tool_use","id":"${id}"}`)
  })
})

describe('[LC-R4] the reply', () => {
  const reply: ModelReply = {
    text: '',
    toolCalls: [{ id: 'c', name: 'list', arguments: '{"top_x":1}' }],
  }

  test('The reply has the own names of tools and properties, also when its arguments are cut', () => {
    const prepared = prepareRequest(talk([USER], [TOOL]), CLAUDE)
    const [tool] = prepared.request.tools
    const { properties = {} } = { ...tool?.inputSchema } as { properties?: object }
    const [name = ''] = Object.keys(properties)
    const call = { id: 'c', name: 'list', arguments: `{"${name}":725653563933458432,"q":"cu` }
    expect(prepared.restore({ ...reply, toolCalls: [call] }).toolCalls).toEqual([
      { ...call, arguments: '{"$top":725653563933458432,"q":"cu' },
    ])
  })

  test('The reply is the same object when no name was changed', () => {
    const tool = { ...TOOL, inputSchema: { type: 'object', properties: { top: {} } } }
    expect(prepareRequest(talk([USER], [tool]), CLAUDE).restore(reply)).toBe(reply)
  })

  test('The reply keeps a call of an unknown tool', () => {
    const prepared = prepareRequest(talk([USER], [TOOL]), CLAUDE)
    const unknown = { ...reply, toolCalls: [{ id: 'c', name: 'other', arguments: '{"$top":1}' }] }
    expect(prepared.restore(unknown)).toEqual(unknown)
  })
})

describe('[LC-R2] a request that needs no change', () => {
  test('A request that needs no change keeps its list of tools, and is prepared once for all requests with it', () => {
    const tools = [{ ...TOOL, inputSchema: { type: 'object', properties: { top: {} } } }]
    const { request } = prepareRequest(talk([{ ...USER, content: '' }], tools), CLAUDE)
    expect(request.tools).toBe(tools)
    const renamed = [TOOL]
    const [first, second] = [0, 1].map(
      () => prepareRequest(talk([USER], renamed), CLAUDE).request.tools,
    )
    expect(first).toBe(second)
  })
})

test('A tuple of an earlier draft keeps its meaning', () => {
  const items = [{ type: 'string' }, { type: 'number' }]
  const inputSchema = {
    type: 'object',
    properties: { a: { type: 'array', items, additionalItems: false, minItems: 2 } },
  }
  const { request } = prepareRequest(talk([USER], [{ ...TOOL, inputSchema }]), CLAUDE)
  expect(request.tools[0]?.inputSchema).toEqual({
    type: 'object',
    properties: { a: { type: 'array', prefixItems: items, items: false, minItems: 2 } },
  })
})

describe('roles', () => {
  const calls = turn('abcdefghi')

  test.each<[string, typeof CLAUDE, readonly Message[], readonly string[]]>([
    [
      'an answer after the result of a tool',
      MISTRAL,
      [USER, ...calls, USER],
      ['user: Go.', 'assistant: ', 'tool: all', 'assistant: Understood.', 'user: Go.'],
    ],
    ['one message for several of the user', MISTRAL, [USER, USER], ['user: Go.\n\nGo.']],
    [
      'a last message of the user',
      MISTRAL,
      [USER, { role: 'assistant', content: 'A', toolCalls: [] }],
      ['user: Go.', 'assistant: A', 'user: Continue.'],
    ],
    [
      'a first message of the user',
      CLAUDE,
      [{ role: 'assistant', content: 'A', toolCalls: [] }, USER],
      ['user: (The conversation begins with an answer.)', 'assistant: A', 'user: Go.'],
    ],
    [
      'one system message at the start',
      CLAUDE,
      [{ role: 'system', content: 'S' }, USER, { role: 'system', content: 'T' }],
      ['system: S\n\nT', 'user: Go.'],
    ],
    [
      'a placeholder for a message of the user without text',
      CLAUDE,
      [{ role: 'user', content: ' \n' }],
      ['user: (empty message)'],
    ],
    [
      'no answer without text',
      CLAUDE,
      [USER, { role: 'assistant', content: ' \n', toolCalls: [] }, USER],
      ['user: Go.', 'user: Go.'],
    ],
    [
      'no whitespace at the end of the last answer',
      CLAUDE,
      [USER, { role: 'assistant', content: 'So: ', toolCalls: [] }],
      ['user: Go.', 'assistant: So:'],
    ],
    [
      'no last answer for a model without prefill',
      { provider: 'anthropic', name: 'claude-opus-4-7' },
      [USER, { role: 'assistant', content: 'So:', toolCalls: [] }],
      ['user: Go.', 'assistant: So:', 'user: Continue.'],
    ],
  ])('The request has %s', (_, identity, messages, expected) => {
    const { request } = prepareRequest(talk(messages), identity)
    expect(request.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual(expected)
  })
})

describe('rulesFor', () => {
  test.each([
    ['openai', 'gpt-5', 'openai'],
    ['my-server', 'some-model', 'compatible'],
    ['__proto__', 'constructor', 'compatible'],
  ])('rulesFor returns the rules of %s:%s', (provider, name, row) => {
    expect(rulesFor({ provider, name })).toBe(PROVIDER_RULES[row])
  })

  test('rulesFor adds the rules of a family of models to those of a gateway', () => {
    const { toolCallId, propertyName, arrayItems } = rulesFor({
      provider: 'openai',
      name: 'anthropic/claude-sonnet-4.5',
    })
    expect(toolCallId?.pattern.test('functions.log:0')).toBe(false)
    expect(toolCallId?.pattern.test('x'.repeat(41))).toBe(false)
    expect(toolCallId?.pattern.test('x'.repeat(40))).toBe(true)
    expect(propertyName?.pattern.test('$top')).toBe(false)
    expect(arrayItems).toBeDefined()
  })

  test.each(['devstral-small', 'mistralai/Mixtral-8x22B', 'codestral-latest', 'ministral-8b'])(
    'rulesFor knows that %s is of the family of Mistral',
    (name) => {
      const { toolCallId } = rulesFor({ provider: 'ollama', name })
      expect(toolCallId?.pattern.test('call_1')).toBe(false)
      expect(toolCallId?.pattern.test('abcdefghi')).toBe(true)
    },
  )
})
