/** Tests with the client of AG-UI, which verifies the order of all events. */
import { apiKey } from '@tutti/control-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { aguiServer, type AguiServer } from './agui-server.ts'
import { THOUGHT } from './chat-ensembles.ts'

let api: AguiServer

beforeAll(async () => {
  api = await aguiServer()
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type)

describe('a client of AG-UI', () => {
  it('[GW-Y6] [GW-Y10] A client of AG-UI reads a run with its text, its result and its usage', async () => {
    const agent = api.agent('singer')
    const events = await agent.say('Ode')
    expect(agent.texts).toEqual(['La la la, here comes Ode, la la la'])
    expect(types(events).slice(0, 2)).toEqual(['RUN_STARTED', 'STATE_SNAPSHOT'])
    expect(types(events)).toContain('TEXT_MESSAGE_CONTENT')
    expect(events[0]).toMatchObject({ threadId: agent.threadId, protocolVersion: '1.0' })
    expect(events.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: { type: 'success' },
      result: 'La la la, here comes Ode, la la la',
      metadata: { finishReason: 'stop' },
      usage: [{ model: expect.any(String), totalTokens: expect.any(Number) }],
    })
  })

  it('[GW-Y21] A client of AG-UI reads the reasoning of a model as a message before its text', async () => {
    const agent = api.agent('thinker')
    const events = await agent.say('Ode')
    expect(agent.messages.slice(1)).toMatchObject([
      { role: 'reasoning', content: THOUGHT.reasoning },
      { role: 'assistant', content: THOUGHT.text },
    ])
    expect(types(events)).toContain('REASONING_END')
    expect(events.at(-1)).toMatchObject({ usage: [{ reasoningTokens: 7 }] })
    await agent.say('Again')
    expect(agent.texts).toEqual([THOUGHT.text, THOUGHT.text])
  })

  it('[GW-Y8] [GW-Y9] A client of AG-UI reads the steps of a team, its tool calls and their results', async () => {
    const agent = api.agent('team')
    const events = await agent.say('Ode')
    const steps = events.filter(({ type }) => type.startsWith('STEP'))
    expect(steps.map(({ type, stepName }) => `${type} ${stepName}`)).toEqual([
      'STEP_STARTED prepare',
      'STEP_FINISHED prepare',
      'STEP_STARTED play',
      'STEP_FINISHED play',
    ])
    expect(agent.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: 'One moment',
        toolCalls: [{ function: { name: 'tune', arguments: '{"hertz":440}' } }],
      },
      { role: 'tool', content: 'Tuned to 440' },
      { role: 'assistant', content: 'It was played' },
    ])
  })

  it('[GW-Y1] [GW-Y2] A client of AG-UI follows the state by patches, and retains its own', async () => {
    const agent = api.agent('team')
    agent.setState({ theme: 'dark' })
    await agent.say('Ode')
    expect(agent.state).toEqual({
      theme: 'dark',
      tutti: {
        runId: expect.any(String),
        ensemble: 'team',
        status: 'COMPLETED',
        tasks: [
          { name: 'prepare', agentRole: expect.any(String), status: 'COMPLETED', attempt: 1 },
          { name: 'play', agentRole: expect.any(String), status: 'COMPLETED', attempt: 1 },
        ],
        groups: [],
        usage: { tokens: expect.any(Number), costUsd: 0 },
        reviews: [],
      },
    })
  })

  it('[GW-Y12] [GW-Y13] A client of AG-UI sends the conversation as the history of the next run', async () => {
    const agent = api.agent('echo')
    agent.addMessage({ id: 's', role: 'system', content: 'Be brief' })
    await agent.say('First')
    await agent.say('Second', { context: [{ description: 'Page', value: 'Scores' }] })
    const [first = '', second = ''] = agent.texts
    expect(first).toContain('Be brief')
    expect(first).toContain('user: First')
    expect(second).toContain('Be brief\n\nPage: Scores')
    expect(second).toContain(`user: First\nassistant: ${first}\nuser: Second`)
  })

  it('A client of AG-UI runs a model of the catalog', async () => {
    const agent = api.agent('small')
    const events = await agent.say('First')
    expect(agent.texts).toEqual(['All instruments are in tune now'])
    expect(events.at(-1)).toMatchObject({ usage: [{ model: 'small' }] })
  })
})

describe('the end of a run', () => {
  it.each([
    ['refuser', 'MODEL_REFUSED'],
    ['stumbler', 'MODEL_FAILED'],
    ['spender', 'BUDGET_EXCEEDED'],
  ])('[GW-Y10] An AG-UI run of %s ends with an error of the code %s', async (name, code) => {
    const events = await api.agent(name).say('it')
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code, message: expect.any(String) })
  })

  it('[GW-Y10] The end of an AG-UI run is a success with its finish reason when the answer was cut', async () => {
    const agent = api.agent('cut')
    const events = await agent.say('it')
    expect(agent.texts).toEqual(['Half of'])
    expect(events.at(-1)).toMatchObject({
      outcome: { type: 'success' },
      metadata: { finishReason: 'length' },
    })
  })

  it('[GW-Y6] The end of an AG-UI run has one message of an answer that the model continued', async () => {
    const agent = api.agent('rambler')
    await agent.say('it')
    expect(agent.texts).toEqual(['Half of the truth'])
  })

  it('[GW-Y10] The end of an AG-UI run is the outcome "cancelled" after a cancel by its id', async () => {
    await using own = await aguiServer()
    const reading = own.agent('waiter').say('it', { runId: 'cancelled-run' })
    await own.hasCalled
    expect((await own.post('/api/runs/cancelled-run/cancel', {})).status).toBe(200)
    expect((await reading).at(-1)).toMatchObject({ outcome: { type: 'cancelled' } })
  })
})

describe('a lost connection', () => {
  it('[GW-Y11] [GW-Y15] [GW-Y16] A lost AG-UI connection does not end a run, which the same request joins without repeated text', async () => {
    await using own = await aguiServer()
    const agent = own.agent('waiter')
    const reading = agent.say('it', { runId: 'joined-run' })
    await expect.poll(() => agent.texts).toEqual(['One moment'])
    agent.abortRun()
    await reading
    own.release()
    const events = await agent.read({ runId: 'joined-run' })
    expect(types(events)).toContain('MESSAGES_SNAPSHOT')
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
    expect(agent.texts).toEqual(['One moment', 'It came'])
    expect((await own.runs.list({ limit: 9, offset: 0 })).total).toBe(1)
  })

  it('[GW-Y16] A lost AG-UI connection cancels the run if the address requests it', async () => {
    await using own = await aguiServer()
    const agent = own.agent('waiter', { query: '?onDisconnect=cancel' })
    const reading = agent.say('it', { runId: 'aborted-run' })
    await own.hasCalled
    agent.abortRun()
    await reading
    await expect.poll(async () => (await own.runs.record('aborted-run'))?.status).toBe('CANCELLED')
  })
})

describe('an interrupt', () => {
  it('[GW-Y3] [GW-Y5] An AG-UI interrupt asks for the approval of a tool, and the next run has its result', async () => {
    const agent = api.agent('soloist')
    const asked = await agent.say('Ode')
    const call = asked.find(({ type }) => type === 'TOOL_CALL_START')
    const { interrupts } = asked.at(-1).outcome
    expect(interrupts).toMatchObject([{ reason: 'tool_call', toolCallId: call.toolCallId }])
    const resume = [answer(interrupts[0].id, { approved: true, editedArgs: { hertz: 441 } })]
    const events = await agent.read({ resume })
    expect(events.filter(({ type }) => type.startsWith('TOOL_CALL'))).toMatchObject([
      {
        type: 'TOOL_CALL_RESULT',
        toolCallId: call.toolCallId,
        content: expect.stringMatching(/^A reviewer changed the input.*\n\nTuned to 441$/),
      },
    ])
    const result: unknown = expect.stringMatching(
      /^A reviewer changed the input.*\n\nTuned to 441$/,
    )
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' }, result })
  })

  it('[GW-Y4] [GW-Y6] An AG-UI interrupt replaces the text of a task by that of its reviewer', async () => {
    const agent = api.agent('choir')
    const asked = await agent.say('Amen')
    expect(agent.texts).toEqual(['La la'])
    const { interrupts } = asked.at(-1).outcome
    expect(interrupts).toMatchObject([
      { reason: 'confirmation', message: 'Is it in tune?', expiresAt: expect.any(String) },
    ])
    const edited = { approved: true, editedOutput: 'Lu lu' }
    const events = await agent.read({ resume: [answer(interrupts[0].id, edited)] })
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' }, result: 'Lu lu' })
    expect(agent.texts).toEqual(['Lu lu'])
  })

  it('[GW-Y7] An AG-UI interrupt takes back the text that a reviewer rejects', async () => {
    const agent = api.agent('choir')
    const asked = await agent.say('Amen')
    const { interrupts } = asked.at(-1).outcome
    const rejected = { approved: false, feedback: 'Too low' }
    const again = await agent.read({ resume: [answer(interrupts[0].id, rejected)] })
    expect(agent.texts).toEqual(['La la'])
    expect(again.at(-1)).toMatchObject({ outcome: { type: 'interrupt' } })
    const cancelled = again.at(-1).outcome.interrupts[0].id
    const ended = await agent.read({ resume: [{ interruptId: cancelled, status: 'cancelled' }] })
    expect(ended.at(-1)).toMatchObject({ outcome: { type: 'success' } })
  })

  it('[GW-Y17] An AG-UI interrupt is answered once: the same answer joins, and another one is refused', async () => {
    const agent = api.agent('choir')
    const asked = await agent.say('Amen')
    const [{ id }] = asked.at(-1).outcome.interrupts
    const joining = api.agent('choir')
    joining.setMessages(agent.messages)
    const first = await agent.read({ resume: [answer(id, true)] })
    const second = await joining.read({ resume: [answer(id, true)] })
    expect(types(second)).toEqual(types(first))
    const third = api.agent('choir')
    await expect(third.read({ resume: [answer(id, false)] })).rejects.toMatchObject({
      status: 409,
      payload: { error: 'REVIEW_RESOLVED' },
    })
    await expect(third.read({ resume: [answer('nothing', true)] })).rejects.toMatchObject({
      status: 404,
      payload: { error: 'REVIEW_NOT_FOUND' },
    })
  })
})

describe('a tool of the client', () => {
  const tools = [
    {
      name: 'locate',
      description: 'Finds the user',
      parameters: { type: 'object', properties: {} },
    },
    { name: 'measure', description: '' },
  ]

  it('[GW-Y20] A client tool over AG-UI is called by the run, which continues with its result', async () => {
    const agent = api.agent('guide')
    const asked = await agent.say('it', { tools })
    const { type, pendingToolCallIds } = asked.at(-1).outcome
    const calls = asked.filter((event) => event.type === 'TOOL_CALL_START')
    expect([type, pendingToolCallIds]).toEqual([
      'success',
      calls.map(({ toolCallId }) => toolCallId),
    ])
    expect(calls.map(({ toolCallName }) => toolCallName)).toEqual(['locate', 'measure'])
    agent.addResult(pendingToolCallIds[0], { content: 'Leipzig' })
    agent.addResult(pendingToolCallIds[1], { content: '', error: 'No ruler' })
    const joining = api.agent('guide')
    joining.setMessages(agent.messages)
    const events = await agent.read({ tools })
    expect(types(events)).not.toContain('TOOL_CALL_RESULT')
    expect(agent.texts.at(-1)).toMatch(/^Leipzig and .*No ruler/)
    expect(types(await joining.read({ tools }))).toEqual(types(events))
    joining.setMessages(agent.messages)
    await joining.say('again')
    expect(joining.texts).toHaveLength(2)
  })

  it('[GW-Y18] A client tool over AG-UI is answered by a key that may not decide reviews', async () => {
    const headers = { authorization: 'Bearer key-of-a-client' }
    const scopes = ['runs:read', 'runs:write'] as const
    await using own = await aguiServer({
      apiKeys: [apiKey('key-of-a-client', { name: 'client', scopes })],
    })
    const agent = own.agent('guide', { headers })
    const asked = await agent.say('it', { tools: tools.slice(0, 1) })
    agent.addResult(asked.at(-1).outcome.pendingToolCallIds[0], { content: 'Leipzig' })
    await agent.read({ tools })
    expect(agent.texts.at(-1)).toBe('Leipzig')
  })
})

describe('a refused request', () => {
  it.each([
    ['/agui/nobody', {}, 404, 'NOT_FOUND'],
    ['/agui/singer', { runId: 'not an id' }, 400, '/runId'],
    [
      '/agui/singer',
      { messages: [{ id: 'a', role: 'assistant', content: 'Hi' }] },
      400,
      '/messages/0',
    ],
    [
      '/agui/singer',
      { messages: [{ id: 'a', role: 'user', content: [{ type: 'image' }] }] },
      400,
      '/messages/0/content/0',
    ],
    ['/agui/echo', { tools: [{ name: 'locate', parameters: 'none' }] }, 400, '/tools/0/parameters'],
    ['/agui/singer?onDisconnect=maybe', {}, 400, '/onDisconnect'],
  ])(
    '[GW-Y19] A refused AG-UI request to %s with %j has status %i and names %s',
    async (path, more, status, named) => {
      const body = { threadId: 't', runId: 'r', messages: [], ...more }
      const response = await api.post(path, body)
      expect([response.status, await response.text()]).toEqual([
        status,
        expect.stringContaining(named),
      ])
    },
  )

  it('[GW-Y18] A refused AG-UI request lacks the scope to read, to begin, or to decide', async () => {
    const [reader, writer] = ['key-of-a-reader', 'key-of-a-writer']
    await using own = await aguiServer({
      apiKeys: [
        apiKey(reader, { name: 'reader', scopes: ['runs:read'] }),
        apiKey(writer, { name: 'writer', scopes: ['runs:read', 'runs:write'] }),
        apiKey('key-of-a-blind', { name: 'blind', scopes: ['runs:write'] }),
      ],
    })
    const as = (key: string) => own.agent('choir', { headers: { authorization: `Bearer ${key}` } })
    const refused = (scope: string) => ({
      status: 403,
      payload: { error: 'FORBIDDEN', message: expect.stringContaining(scope) },
    })
    await expect(as('nothing').say('it')).rejects.toMatchObject({ status: 401 })
    await expect(as('key-of-a-blind').say('it')).rejects.toMatchObject(refused('runs:read'))
    await expect(as(reader).say('it')).rejects.toMatchObject(refused('runs:write'))
    const agent = as(writer)
    const asked = await agent.say('it', { runId: 'of-writer' })
    const [{ id }] = asked.at(-1).outcome.interrupts
    const resume = [answer(id, true)]
    await expect(agent.read({ resume })).rejects.toMatchObject(refused('reviews:decide'))
    const joined = await as(reader).say('it', { runId: 'of-writer' })
    expect(types(joined)).toEqual(types(asked))
  })
})

function answer(interruptId: string, payload: unknown) {
  return { interruptId, status: 'resolved', payload } as const
}
