/** Tests with the chat and the transport of the AI SDK, as `useChat` uses them. */
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type ChatInit,
  type UIMessage,
} from 'ai'
import { AssistantChatTransport } from '@assistant-ui/react-ai-sdk'
import { apiKey } from '@tutti/control-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { chatEnsembles, openChatServer, THOUGHT } from './chat-ensembles.ts'
import { openServer, type TestServer } from './open-server.ts'
import { PlainChat } from './plain-chat.ts'

let api: TestServer

beforeAll(async () => {
  api = await openChatServer()
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

interface ChatSettings extends Omit<ChatInit<UIMessage>, 'transport'> {
  readonly model: string
  readonly body?: object
  readonly url?: string
  readonly headers?: Record<string, string>
}

let chats = 0

function openChat({ model, body = {}, url = api.url, headers = {}, ...init }: ChatSettings) {
  chats += 1
  const transport = new DefaultChatTransport<UIMessage>({
    api: `${url}/api/chat`,
    body: { model, ...body },
    headers,
  })
  return new PlainChat({ id: `chat-${chats}`, ...init, transport })
}

const textsOf = (message: UIMessage | undefined): readonly string[] =>
  message?.parts.flatMap((part) => (part.type === 'text' ? part.text : [])) ?? []

const toolsOf = (message: UIMessage | undefined) =>
  message?.parts.flatMap((part) => ('toolCallId' in part ? [part] : [])) ?? []

/** Answers approvals and questions as soon as they are answered. */
const sendAutomaticallyWhen: ChatInit<UIMessage>['sendAutomaticallyWhen'] = (options) =>
  lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
  lastAssistantMessageIsCompleteWithToolCalls(options)

describe('a chat of the AI SDK', () => {
  it('[GW-C1] A chat of the AI SDK streams the answer of an ensemble with the usage', async () => {
    const chat = openChat({ model: 'singer' })
    await chat.sendMessage({ text: 'Ode to Joy' })
    expect([chat.status, chat.error]).toEqual(['ready', undefined])
    expect(textsOf(chat.lastMessage)).toEqual(['La la la, here comes Ode to Joy, la la la'])
    expect(chat.lastMessage?.metadata).toMatchObject({
      runId: chat.lastMessage?.id,
      status: 'COMPLETED',
      usage: { inputTokens: expect.any(Number), totalTokens: expect.any(Number) },
    })
  })

  it('[GW-C14] A chat of the AI SDK shows the reasoning of the model before its answer', async () => {
    const chat = openChat({ model: 'thinker', body: {} })
    await chat.sendMessage({ text: 'Ode' })
    const parts = chat.lastMessage?.parts.filter(({ type }) => !type.startsWith('data-'))
    expect(parts).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: THOUGHT.reasoning, state: 'done' },
      { type: 'text', text: THOUGHT.text, state: 'done' },
    ])
    expect(chat.lastMessage?.metadata).toMatchObject({ usage: { reasoningTokens: 7 } })
  })

  it('[GW-C2][GW-C3][GW-C4] A chat of the AI SDK shows steps, tool calls, tasks and progress', async () => {
    const chat = openChat({ model: 'duo' })
    await chat.sendMessage({ text: 'Ode' })
    expect(textsOf(chat.lastMessage)).toEqual(['One moment', 'It was played'])
    expect(toolsOf(chat.lastMessage)).toMatchObject([
      {
        type: 'tool-tune',
        state: 'output-available',
        input: { hertz: 440 },
        output: '440 hertz',
        providerExecuted: true,
      },
    ])
    const parts = chat.lastMessage?.parts ?? []
    expect(parts.filter(({ type }) => type === 'data-task')).toMatchObject([
      { id: 'plan', data: { status: 'COMPLETED' } },
      { id: 'play', data: { status: 'COMPLETED' } },
    ])
    expect(parts.filter(({ type }) => type === 'data-progress')).toMatchObject([
      { data: { toolName: 'tune', message: 'Tuning', fraction: 0.5 } },
    ])
  })

  it('[GW-C9] A chat of the AI SDK sends the conversation and its instructions to a model', async () => {
    const chat = openChat({ model: 'echo', body: { instructions: 'Be brief' } })
    await chat.sendMessage({ text: 'One {x}' })
    expect(textsOf(chat.lastMessage)).toEqual(['2: One {x}'])
    await chat.sendMessage({ text: 'Two' })
    expect(textsOf(chat.lastMessage)).toEqual(['4: Two'])
    await chat.regenerate()
    expect(textsOf(chat.lastMessage)).toEqual(['4: Two'])
    expect(chat.messages).toHaveLength(4)
  })

  it.each([
    [true, 'output-available', 'Tuned to 440'],
    [false, 'output-denied', 'The reviewer rejected'],
  ] as const)(
    '[GW-C5][GW-C6][GW-C10] A chat of the AI SDK asks for approval of a tool call; approved: %s',
    async (approved, state, text) => {
      const chat = openChat({ model: 'soloist', sendAutomaticallyWhen })
      await chat.sendMessage({ text: 'Ode' })
      const [asked] = toolsOf(chat.lastMessage)
      expect(asked).toMatchObject({ type: 'tool-tune', state: 'approval-requested' })
      expect(chat.status).toBe('ready')
      const id = asked?.approval?.id ?? ''
      const reason = approved ? {} : { reason: 'Too loud' }
      await chat.addToolApprovalResponse({ id, approved, ...reason })
      await expect.poll(() => textsOf(chat.lastMessage).join()).toContain(text)
      expect(toolsOf(chat.lastMessage)).toMatchObject([{ state }])
      expect(chat.messages).toHaveLength(2)
    },
  )

  it('[GW-C5] A chat of the AI SDK asks for approval of an output, and rejects it with a reason', async () => {
    const chat = openChat({ model: 'choir', sendAutomaticallyWhen })
    await chat.sendMessage({ text: 'Ode' })
    const [asked] = toolsOf(chat.lastMessage)
    expect(asked).toMatchObject({
      type: 'tool-review',
      state: 'approval-requested',
      input: { timing: 'AFTER_EXECUTION', taskOutput: 'La la', prompt: 'Is it in tune?' },
    })
    await chat.addToolApprovalResponse({ id: asked?.approval?.id ?? '', approved: false })
    await expect.poll(() => toolsOf(chat.lastMessage).length).toBe(2)
    await expect.poll(() => chat.status).toBe('ready')
    const again = toolsOf(chat.lastMessage)[1]
    await chat.addToolApprovalResponse({ id: again?.approval?.id ?? '', approved: true })
    await expect
      .poll(() => toolsOf(chat.lastMessage).map(({ state }) => state))
      .toEqual(['output-denied', 'output-available'])
    await expect.poll(() => chat.lastMessage?.metadata).toMatchObject({ status: 'COMPLETED' })
  })

  it('[GW-C5] A chat of the AI SDK answers a question of a tool with addToolOutput', async () => {
    const chat = openChat({ model: 'asker', sendAutomaticallyWhen })
    await chat.sendMessage({ text: 'Ode' })
    const [asked] = toolsOf(chat.lastMessage)
    expect(asked).toMatchObject({
      type: 'tool-ask_user',
      state: 'input-available',
      input: { question: 'Which key?' },
      providerExecuted: false,
    })
    const toolCallId = asked?.toolCallId ?? ''
    await chat.addToolOutput({ tool: 'ask_user', toolCallId, output: 'D major' })
    await expect.poll(() => textsOf(chat.lastMessage)).toEqual(['You said D major'])
  })

  it('[GW-C5][GW-C10] A chat of the AI SDK executes tools of the client, and sends results and errors', async () => {
    const inputSchema = { type: 'object', properties: { city: { type: 'string' } } }
    const tools = ['weather', 'time'].map((name) => ({ name, inputSchema }))
    const chat = openChat({
      model: 'caller',
      body: { tools },
      sendAutomaticallyWhen,
      onToolCall({ toolCall: { toolName: tool, toolCallId } }) {
        if (tool === 'weather') void chat.addToolOutput({ tool, toolCallId, output: 'rain' })
        else {
          const errorText = 'no clock'
          void chat.addToolOutput({ tool, toolCallId, state: 'output-error', errorText })
        }
      },
    })
    await chat.sendMessage({ text: 'Bonn?' })
    await expect.poll(() => textsOf(chat.lastMessage).join()).toMatch(/rain and .*no clock/)
    expect(toolsOf(chat.lastMessage)).toMatchObject([
      { type: 'tool-weather', state: 'output-available', input: { city: 'Bonn' }, output: 'rain' },
      { type: 'tool-time', state: 'output-error', errorText: expect.stringContaining('no clock') },
    ])
  })

  it.each([
    ['refuser', 'content-filter', ['I do not sing this']],
    ['filtered', 'content-filter', []],
    ['cut', 'length', ['La la', 'La la', 'La la', 'La la']],
  ])(
    '[GW-C8] A chat of the AI SDK ends with the reason of a model: %s',
    async (model, reason, texts) => {
      const ends: unknown[] = []
      const chat = openChat({ model, onFinish: ({ finishReason }) => void ends.push(finishReason) })
      await chat.sendMessage({ text: 'Ode' })
      expect([ends, textsOf(chat.lastMessage)]).toEqual([[reason], texts])
    },
  )

  it('[GW-C8] A chat of the AI SDK fails with the exceeded limit of a budget', async () => {
    const chat = openChat({ model: 'spender' })
    await chat.sendMessage({ text: 'Ode' })
    expect([chat.status, chat.error?.message]).toEqual([
      'error',
      expect.stringContaining('maxTokens'),
    ])
    expect(chat.lastMessage?.metadata).toMatchObject({ usage: { totalTokens: 180 } })
  })

  it('[GW-C8] A chat of the AI SDK fails with the message and the usage of a failed run', async () => {
    const chat = openChat({ model: 'broken' })
    await chat.sendMessage({ text: 'Ode' })
    expect([chat.status, chat.error?.message]).toEqual([
      'error',
      expect.stringContaining('The piano is out of tune'),
    ])
    expect(chat.lastMessage?.metadata).toMatchObject({ status: 'FAILED', usage: {} })
  })

  it('[GW-C12] A chat of the AI SDK continues after a lost connection, and stops on request', async () => {
    const chat = openChat({ model: 'choir' })
    await chat.sendMessage({ text: 'Ode' })
    const runId = chat.lastMessage?.id ?? ''
    expect((await api.detail(runId)).status).toBe('WAITING_REVIEW')
    const stopped = await fetch(`${api.url}/api/chat/${chat.id}/stop`, { method: 'POST' })
    expect(stopped.status).toBe(204)
    await expect.poll(async () => (await api.detail(runId)).status).toBe('CANCELLED')
  })

  it('[GW-C11][GW-C13] A chat of the AI SDK joins the newest run of a chat from its start', async () => {
    const first = openChat({ model: 'soloist' })
    await first.sendMessage({ text: 'Ode' })
    const { id } = first
    const late = openChat({ model: 'soloist', id, sendAutomaticallyWhen })
    await late.resumeStream()
    expect(late.lastMessage?.id).toBe(first.lastMessage?.id)
    expect(toolsOf(late.lastMessage)).toMatchObject([{ state: 'approval-requested' }])
    const approval = toolsOf(late.lastMessage)[0]?.approval?.id ?? ''
    await late.addToolApprovalResponse({ id: approval, approved: true })
    await expect.poll(() => textsOf(late.lastMessage)).toEqual(['Tuned to 440'])
    const none = await fetch(`${api.url}/api/chat/none/stream`)
    expect(none.status).toBe(204)
  })

  it('[GW-C11] A chat of the AI SDK cancels an unfinished run when a new message arrives', async () => {
    const chat = openChat({ model: 'choir' })
    await chat.sendMessage({ text: 'Ode' })
    const runId = chat.lastMessage?.id ?? ''
    await chat.sendMessage({ text: 'Hymn' })
    expect(chat.lastMessage?.id).not.toBe(runId)
    await expect.poll(async () => (await api.detail(runId)).status).toBe('CANCELLED')
    const tag = { key: 'chat', value: chat.id }
    const { runs } = await api.runs.list({ tag, limit: 9, offset: 0 })
    expect(runs.map((run) => run.runId)).toEqual([chat.lastMessage?.id, runId])
  })

  it('[GW-C10] A chat of the AI SDK begins a new run when answers arrive after the end of theirs', async () => {
    const chat = openChat({ model: 'asker', sendAutomaticallyWhen })
    await chat.sendMessage({ text: 'Ode' })
    const [asked] = toolsOf(chat.lastMessage)
    const runId = chat.lastMessage?.id
    await fetch(`${api.url}/api/chat/${chat.id}/stop`, { method: 'POST' })
    await expect.poll(async () => (await api.detail(runId ?? '')).status).toBe('CANCELLED')
    const toolCallId = asked?.toolCallId ?? ''
    await chat.addToolOutput({ tool: 'ask_user', toolCallId, output: 'D major' })
    await expect.poll(() => chat.lastMessage?.id).not.toBe(runId)
  })

  it('[GW-G5] A chat of the AI SDK begins a run when a result arrives with other instructions', async () => {
    const tools = [{ name: 'weather', inputSchema: { type: 'object', properties: {} } }]
    const body = { tools, instructions: 'One' }
    const chat = openChat({ model: 'caller', body, sendAutomaticallyWhen })
    await chat.sendMessage({ text: 'Bonn?' })
    const runId = chat.lastMessage?.id ?? ''
    const [call] = toolsOf(chat.lastMessage)
    const other = openChat({
      id: chat.id,
      model: 'caller',
      body: { ...body, instructions: 'Two' },
      messages: chat.messages,
      sendAutomaticallyWhen,
    })
    const toolCallId = call?.toolCallId ?? ''
    await other.addToolOutput({ tool: 'weather', toolCallId, output: 'Sunny' })
    await expect.poll(() => textsOf(other.lastMessage)).toEqual(['Sunny'])
    expect(other.lastMessage?.id).not.toBe(runId)
    await expect.poll(async () => (await api.detail(runId)).status).toBe('CANCELLED')
  })

  it('A chat of the AI SDK refuses an unknown model and an unsupported part, naming each', async () => {
    const unknown = openChat({ model: 'singr' })
    await unknown.sendMessage({ text: 'Ode' })
    expect(unknown.error?.message).toMatch(/Did you mean.*singer/)
    const chat = openChat({ model: 'singer' })
    const file = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA' } as const
    await chat.sendMessage({ parts: [file] })
    expect(chat.error?.message).toContain('/messages/0/parts/0/type must be \\"text\\"')
    chat.clearError()
  })

  it('[GW-C9] A chat of the AI SDK continues a chat whose earlier message has an attachment', async () => {
    const chat = openChat({ model: 'echo' })
    const file = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA' } as const
    await chat.sendMessage({ parts: [{ type: 'text', text: 'Look' }, file] })
    expect(chat.status).toBe('error')
    await chat.sendMessage({ text: 'Ode' })
    expect(textsOf(chat.lastMessage)).toEqual(['2: Ode'])
    const { request } = (await api.runs.record(chat.lastMessage?.id ?? '')) ?? {}
    const content = 'Look\n[file left out: only text is supported]'
    expect(request?.history).toEqual([{ role: 'user', content }])
  })

  it('A chat of the AI SDK answers the transport of assistant-ui, with its tools and its system message', async () => {
    const transport = new AssistantChatTransport<UIMessage>({
      api: `${api.url}/api/chat`,
      body: {
        model: 'caller',
        system: 'Be brief',
        callSettings: { temperature: 0.5 },
        config: { modelName: 'other' },
        tools: {
          weather: {
            description: 'Returns the weather',
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
          },
        },
      },
    })
    const chat = new PlainChat({ id: 'assistant-ui', transport, sendAutomaticallyWhen })
    await chat.sendMessage({ text: 'Bonn?' })
    const [call] = toolsOf(chat.lastMessage)
    expect(call).toMatchObject({ type: 'tool-weather', state: 'input-available' })
    const { request } = (await api.runs.record(chat.lastMessage?.id ?? '')) ?? {}
    expect(request).toMatchObject({
      tasks: [{ instructions: 'Be brief' }],
      clientTools: [{ name: 'weather', description: 'Returns the weather' }],
    })
    await chat.addToolOutput({
      tool: 'weather',
      toolCallId: call?.toolCallId ?? '',
      output: 'Sunny',
    })
    await expect.poll(() => textsOf(chat.lastMessage)).toEqual(['Sunny'])
  })

  it('A chat of the AI SDK answers the transport of assistant-ui with its default fields', async () => {
    const transport = new AssistantChatTransport<UIMessage>({
      api: `${api.url}/api/chat`,
      body: { model: 'singer' },
    })
    const chat = new PlainChat({ id: 'assistant-ui-default', transport })
    await chat.sendMessage({ text: 'Ode' })
    expect(textsOf(chat.lastMessage)).toEqual(['La la la, here comes Ode, la la la'])
  })

  it('[GW-C11] A chat of the AI SDK needs the scopes of its routes, and does not show the chat of another key', async () => {
    const keys = ['ann', 'bob'].map((name) => ({ name, secret: `the-secret-of-${name}-is-long` }))
    const apiKeys = keys.map(({ name, secret }) =>
      apiKey(secret, { name, scopes: ['runs:read', 'runs:write'] }),
    )
    await using locked = await openServer({ ensembles: chatEnsembles(), apiKeys })
    const [ann, bob] = keys.map(({ secret }) => ({ authorization: `Bearer ${secret}` }))
    const chat = openChat({ model: 'choir', url: locked.url, headers: { ...ann } })
    await chat.sendMessage({ text: 'Ode' })
    const stream = `${locked.url}/api/chat/${chat.id}/stream`
    expect((await fetch(stream, { headers: { ...bob } })).status).toBe(204)
    expect((await fetch(stream)).status).toBe(401)
    const stop = await fetch(stream.replace(/stream$/, 'stop'), {
      method: 'POST',
      headers: { ...ann },
    })
    expect(stop.status).toBe(403)
    const approval = toolsOf(chat.lastMessage)[0]?.approval?.id ?? ''
    await chat.addToolApprovalResponse({ id: approval, approved: true })
    await chat.sendMessage()
    expect(chat.error?.message).toContain('reviews:decide')
    await locked.runs.send(chat.lastMessage?.id ?? '', { kind: 'cancel' })
  })
})
