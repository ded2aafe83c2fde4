/** Streams of tasks: order, usage and heartbeats. */
import { ensemble, priceList, task } from '@tutti/ensemble'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import {
  a2aAgent,
  all,
  CLIENT,
  userMessage,
  createWaitingTool,
  type A2aAgent,
  type Untyped,
} from './a2a-agent.ts'
import { reviewedTask } from './reviewed-ensembles.ts'

const USAGE = 'https://tutti.dev/a2a/usage/v1'

const readStream = (api: A2aAgent, text: string, headers = {}) =>
  all(api.stream('SendStreamingMessage', { message: userMessage(text) }, headers))

/** Assembles the artifacts from updates, as a client does. */
function assembled(items: readonly Untyped[]): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const { artifactUpdate: update } of items) {
    if (update === undefined) continue
    const { artifactId, parts } = update.artifact
    const text = parts.map((part: Untyped) => part.text ?? '').join('')
    texts[artifactId] = update.append ? (texts[artifactId] ?? '') + text : text
  }
  return texts
}

const states = (items: readonly Untyped[]): string[] =>
  items.flatMap(({ task: first, statusUpdate }) => (first ?? statusUpdate)?.status.state ?? [])

describe('a stream', () => {
  it('An A2A stream sends the task, its working state, its text and its end, and closes', async () => {
    await using api = await a2aAgent()
    const items = await readStream(api, 'Ode')
    expect(states(items)).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ])
    expect(assembled(items)).toEqual({ sing: 'La la la, here comes Ode, la la la' })
    const { id, contextId } = items[0].task
    for (const { statusUpdate, artifactUpdate } of items.slice(1)) {
      expect(statusUpdate ?? artifactUpdate).toMatchObject({ taskId: id, contextId })
    }
    const { result } = await api.call('GetTask', { id })
    expect(result.artifacts[0].parts[0].text).toBe(assembled(items)['sing'])
  })

  it('[GW-U5] An A2A stream ends with a question; the answering caller and subscribers get the rest', async () => {
    await using api = await a2aAgent({ ensembles: [reviewedTask()] })
    const items = await readStream(api, 'Amen')
    expect(states(items).at(-1)).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(items.at(-1).statusUpdate.status.message.parts[0].text).toContain('Is it in tune?')
    const { id } = items[0].task
    const message = userMessage('Lu lu', { taskId: id })
    const rest = await all(api.stream('SendStreamingMessage', { message }))
    expect(rest[0].task.status.state).toBe('TASK_STATE_WORKING')
    expect(assembled(rest)).toEqual({ sing: 'Lu lu' })
    expect(states(rest).at(-1)).toBe('TASK_STATE_COMPLETED')
  })

  it('An A2A stream ends again at the next question of the task, but a subscription does not', async () => {
    await using api = await a2aAgent({ ensembles: [reviewedTask()] })
    const { id } = await api.send('Amen')
    const subscribed = api.stream('SubscribeToTask', { id })
    await subscribed.next()
    const message = userMessage('reject: too loud', { taskId: id })
    const again = await all(api.stream('SendStreamingMessage', { message }))
    expect(states(again).at(-1)).toBe('TASK_STATE_INPUT_REQUIRED')
    await api.call('SendMessage', { message: userMessage('approve', { taskId: id }) })
    const rest = await all(subscribed)
    expect(states(rest)).toEqual([
      'TASK_STATE_WORKING',
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ])
    expect(assembled(rest)).toEqual({ sing: 'La la' })
  })

  it('An A2A stream replaces the text before a tool call by the text of a later turn', async () => {
    const wait = createWaitingTool()
    wait.release()
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? 'The answer'
        : { text: 'One moment', toolCalls: [{ name: 'wait', arguments: {} }] },
    )
    const tasks = [task({ name: 'a', description: 'A {b}', tools: [wait.tool] })]
    await using api = await a2aAgent({ ensembles: [ensemble({ name: 'slow', tasks, model })] })
    const items = await readStream(api, 'x')
    const updates = items.flatMap(({ artifactUpdate }) => artifactUpdate ?? [])
    expect(updates[0].artifact.parts[0].text).toContain('One')
    expect(assembled(items)).toEqual({ a: 'The answer' })
    expect(updates.filter(({ lastChunk }: Untyped) => lastChunk)).toHaveLength(1)
  })

  it('An A2A stream sends the outputs of earlier tasks, and the text of the last one as it is generated', async () => {
    const first = task({ name: 'first', description: 'Hum {song}' })
    const second = task({ name: 'second', description: 'Sing it', context: [first] })
    const model = scriptedModel(({ messages }) =>
      JSON.stringify(messages).includes('Sing it') ? 'La la la la la' : 'Mm mm mm',
    )
    const band = ensemble({ name: 'band', tasks: [first, second], model })
    await using api = await a2aAgent({ ensembles: [band] })
    const items = await readStream(api, 'Ode')
    const updates = items.flatMap(({ artifactUpdate }) => artifactUpdate ?? [])
    const said = items.flatMap(({ statusUpdate }) => statusUpdate?.status.message ?? [])
    expect(said).toMatchObject([{ role: 'ROLE_AGENT', parts: [{ text: 'Mm mm mm' }] }])
    expect(updates.at(-1)).toMatchObject({ append: true, lastChunk: true })
    expect(assembled(items)).toEqual({ second: 'La la la la la' })
  })

  it('An A2A stream sends the output as data, once, to a client that accepts only JSON', async () => {
    await using api = await a2aAgent()
    const configuration = { acceptedOutputModes: ['application/json'] }
    const params = { message: userMessage('Ode'), configuration }
    const items = await all(api.stream('SendStreamingMessage', params))
    const updates = items.flatMap(({ artifactUpdate }) => artifactUpdate ?? [])
    expect(updates.map(({ artifact }: Untyped) => artifact.parts)).toEqual([
      [{ data: 'La la la, here comes Ode, la la la', mediaType: 'application/json' }],
    ])
  })

  it('An A2A stream reports a task that is cancelled while it works', async () => {
    const wait = createWaitingTool()
    const model = scriptedModel(() => ({ toolCalls: [{ name: 'wait', arguments: {} }] }))
    const tasks = [task({ name: 'a', description: 'A {b}', tools: [wait.tool] })]
    await using api = await a2aAgent({ ensembles: [ensemble({ name: 'slow', tasks, model })] })
    const stream = api.stream('SendStreamingMessage', { message: userMessage('x') })
    const first = (await stream.next()).value
    await wait.begun
    await api.call('CancelTask', { id: first.task.id })
    expect(states(await all(stream)).at(-1)).toBe('TASK_STATE_CANCELED')
  })

  it('An A2A stream sends a comment when it is idle', async () => {
    const clock = fakeClock()
    await using api = await a2aAgent({ ensembles: [reviewedTask()], clock, heartbeatMs: 15_000 })
    const { id } = await api.send('Amen')
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SubscribeToTask',
      params: { id },
    })
    const response = await fetch(api.rpc, { method: 'POST', headers: CLIENT, body })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toMatch(/^data: /)
    const silence = reader?.read()
    await clock.advance(15_000)
    expect((await silence)?.value).toBe(': still here\n\n')
    await reader?.cancel()
  })
})

describe('a stream of 0.3', () => {
  it('An A2A stream of 0.3 has kinds, states in lower case, and a flag on the last update', async () => {
    await using api = await a2aAgent({ ensembles: [reviewedTask()] })
    const message = { kind: 'message', messageId: 'm', role: 'user' }
    const parts = [{ kind: 'text', text: 'Amen' }]
    const items = await all(api.stream('message/stream', { message: { ...message, parts } }))
    expect(items[0]).toMatchObject({
      kind: 'task',
      status: { state: 'submitted' },
      history: [{ kind: 'message', role: 'user', parts }],
    })
    expect(items.at(-1)).toMatchObject({
      kind: 'status-update',
      final: true,
      status: {
        state: 'input-required',
        message: { role: 'agent', parts: [{ kind: 'text' }, { kind: 'data' }] },
      },
    })
    for (const item of items.slice(1, -1)) expect(item.final ?? false).toBe(false)
    const { id } = items[0]
    const subscribed = api.stream('tasks/resubscribe', { id })
    expect((await subscribed.next()).value).toMatchObject({
      kind: 'task',
      status: { state: 'input-required' },
    })
    await api.call('tasks/cancel', { id })
    const rest = await all(subscribed)
    expect(rest.at(-1)).toMatchObject({ final: true, status: { state: 'canceled' } })
  })

  it('[GW-J3] Every method of 0.3 replies with the objects of its version', async () => {
    await using api = await a2aAgent()
    const message = { kind: 'message', messageId: 'm', role: 'user' }
    const data = [{ kind: 'data', data: { song: 'Ode' } }]
    const sent = await api.call('message/send', { message: { ...message, parts: data } })
    expect(sent.result).toMatchObject({
      kind: 'task',
      status: { state: 'completed' },
      artifacts: [{ parts: [{ kind: 'text', text: 'La la la, here comes Ode, la la la' }] }],
      history: [{ kind: 'message', parts: data }],
    })
    const { id, contextId } = sent.result
    expect((await api.call('tasks/get', { id })).result).toEqual(sent.result)
    expect((await api.call('tasks/list', { contextId, status: 'completed' })).result).toMatchObject(
      {
        tasks: [{ kind: 'task', id }],
        totalSize: 1,
      },
    )
    const file = { name: 'song.txt', mimeType: 'text/plain', bytes: 'T2Rl' }
    const parts = [{ kind: 'file', file }]
    const soon = await api.call('message/send', {
      message: { ...message, parts },
      configuration: { blocking: false },
    })
    expect(soon.result).toMatchObject({ status: { state: 'submitted' }, history: [{ parts }] })
    const uri = [{ kind: 'file', file: { uri: 'https://example.com/a.txt' } }]
    const refused = await api.call('message/send', { message: { ...message, parts: uri } })
    expect(refused.error?.code).toBe(-32005)
  })
})

describe('usage', () => {
  /** Costs 1 dollar per input token and 2 dollars per output token. */
  const prices = priceList({
    'scripted:model': { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 },
  })

  function thrifty() {
    const wait = createWaitingTool()
    const model = scriptedModel(
      ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? { text: 'Done', usage: { inputTokens: 5, outputTokens: 1 } }
          : {
              toolCalls: [{ name: 'wait', arguments: {} }],
              usage: { inputTokens: 2, outputTokens: 1 },
            },
      // Has no price.
      { provider: 'scripted' },
    )
    const tasks = [task({ name: 'a', description: 'A {b}', tools: [wait.tool] })]
    return { ...wait, ensembles: [ensemble({ name: 'thrifty', tasks, model })] }
  }

  it('Usage is reported to clients that request it: the total, and the increase since the last update', async () => {
    const { ensembles, release } = thrifty()
    release()
    await using api = await a2aAgent({ ensembles, limits: { prices } })
    const items = await readStream(api, 'x', { 'a2a-extensions': `urn:other, ${USAGE}` })
    const told = items.map((item) => (Object.values(item)[0] as Untyped).metadata?.[USAGE])
    expect(told.at(-1)).toMatchObject({ total_cost_usd: 11, total_tokens: 9 })
    const deltas = told.map((usage) => usage.cost_usd ?? 0)
    expect(deltas.reduce((sum, cost) => sum + cost, 0)).toBe(11)
    expect(told.some((usage) => usage.total_cost_usd === 4)).toBe(true)
    const { id } = items[0].task
    const got = await api.call('GetTask', { id }, { 'x-a2a-extensions': USAGE })
    expect(got.result.metadata).toEqual({ [USAGE]: { total_cost_usd: 11, total_tokens: 9 } })
    const listed = await api.call('ListTasks', {}, { 'a2a-extensions': USAGE })
    expect(listed.result.tasks[0].metadata).toEqual(got.result.metadata)
  })

  it('Usage is not reported to other clients, and has only tokens without a price', async () => {
    const { ensembles, release } = thrifty()
    release()
    await using api = await a2aAgent({ ensembles })
    for (const item of await readStream(api, 'x')) {
      expect(Object.values(item)[0]).not.toHaveProperty('metadata')
    }
    const metadata = { [USAGE]: {} }
    const { result } = await api.call('SendMessage', { message: userMessage('x'), metadata })
    expect(result.task.metadata).toEqual({ [USAGE]: { total_tokens: 9 } })
  })

  it('Usage is announced in a response header', async () => {
    await using api = await a2aAgent()
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: userMessage('x') },
    })
    const headers = { ...CLIENT, 'a2a-extensions': USAGE }
    const response = await fetch(api.rpc, { method: 'POST', headers, body })
    expect(response.headers.get('a2a-extensions')).toBe(USAGE)
    await response.text()
  })

  it('Usage can be limited: a task beyond its limit fails', async () => {
    const wait = thrifty()
    await using api = await a2aAgent({ ensembles: wait.ensembles, limits: { prices } })
    const ends = async (limits: object) => {
      const metadata = { [USAGE]: limits }
      const { result } = await api.call('SendMessage', { message: userMessage('x'), metadata })
      return result.task.status.state
    }
    expect(await ends({ max_cost_usd: 3 })).toBe('TASK_STATE_FAILED')
    expect(await ends({ max_tokens: 2 })).toBe('TASK_STATE_FAILED')
    wait.release()
    expect(await ends({ max_cost_usd: 100, max_tokens: 100 })).toBe('TASK_STATE_COMPLETED')
  })

  it('[GW-G8] A usage limit has a deadline that does not run while a person decides', async () => {
    const clock = fakeClock()
    await using api = await a2aAgent({
      ensembles: [reviewedTask({ timeoutMs: 3_600_000 })],
      clock,
      limits: { clock },
    })
    const metadata = { [USAGE]: { deadline_ms: 10_000 } }
    const { result } = await api.call('SendMessage', { message: userMessage('Amen'), metadata })
    const { id } = result.task
    const stateOf = async () => (await api.call('GetTask', { id })).result.status.state
    for (let minute = 0; minute < 10; minute += 1) await clock.advance(60_000)
    expect(await stateOf()).toBe('TASK_STATE_INPUT_REQUIRED')
    await api.call('SendMessage', { message: { ...userMessage('approve'), taskId: id } })
    await expect.poll(stateOf).toBe('TASK_STATE_COMPLETED')
  })

  it.each([{ deadline_ms: 0 }, { max_tokens: 'all' }, { max_cost_usd: -1 }, 7])(
    'A message with invalid usage limits is refused: %j',
    async (limits) => {
      await using api = await a2aAgent()
      const metadata = { [USAGE]: limits }
      const { error } = await api.call('SendMessage', { message: userMessage('x'), metadata })
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('usage') })
    },
  )
})
