/** Runs as A2A tasks: messages that start, decide and guide them, and access to them. */
import { apiKey } from '@tutti/control-api'
import { defineTextTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import {
  a2aAgent,
  userMessage,
  singer,
  createWaitingTool,
  type A2aAgent,
  type Untyped,
} from './a2a-agent.ts'
import { reviewedTask, approvedTool } from './reviewed-ensembles.ts'

import type { Scope } from '@tutti/protocol'

/** Ensemble whose only task waits in its tool, and then returns the guidance it got meanwhile. */
function waitingEnsemble() {
  const wait = createWaitingTool()
  const model = scriptedModel(({ messages }) => {
    if (messages.at(-1)?.role === 'assistant' || messages.length <= 2) {
      return { toolCalls: [{ name: 'wait', arguments: {} }] }
    }
    return messages.map(({ content }) => content).join('\n')
  })
  const tasks = [task({ name: 'wait', description: 'Wait for {whom}', tools: [wait.tool] })]
  return { ...wait, ensemble: ensemble({ name: 'waiter', tasks, model }) }
}

/** Ensemble whose tool asks a person. */
function askingEnsemble() {
  const ask = defineTextTool({
    name: 'ask',
    description: 'Asks a person',
    async execute(question, { requestAnswer }) {
      const given = await requestAnswer(question)
      return given.answered ? given.value : 'no answer'
    },
  })
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return `The answer is ${last.content}`
    return { toolCalls: [{ name: 'ask', arguments: JSON.stringify('Which key?') }] }
  })
  return ensemble({
    name: 'asker',
    tasks: [task({ name: 'a', description: 'Play {song}', tools: [ask] })],
    model,
  })
}

async function answer(api: A2aAgent, taskId: string, message: object | string): Promise<Untyped> {
  const more = typeof message === 'string' ? {} : message
  const text = typeof message === 'string' ? message : ''
  return api.call('SendMessage', { message: userMessage(text, { taskId, ...more }) })
}

describe('a message', () => {
  it('An A2A message selects an ensemble by metadata of the request or message, or else the first one', async () => {
    await using api = await a2aAgent({ ensembles: [singer('one'), singer('two')] })
    const ensembleOf = async (params: object) => {
      const { result } = await api.call('SendMessage', { message: userMessage('a'), ...params })
      return (await api.runs.record(result.task.id))?.ensemble
    }
    expect(await ensembleOf({})).toBe('one')
    expect(await ensembleOf({ metadata: { ensemble: 'two' } })).toBe('two')
    const metadata = { ensemble: 'two' }
    expect(await ensembleOf({ message: userMessage('a', { metadata }) })).toBe('two')
    const wrong = { message: userMessage('a'), metadata: { ensemble: 'tow' } }
    expect((await api.call('SendMessage', wrong)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('Did you mean "two"'),
    })
    const odd = { message: userMessage('a'), metadata: { ensemble: 7 } }
    expect((await api.call('SendMessage', odd)).error?.code).toBe(-32602)
  })

  it('An A2A message passes inputs as data, text or both; missing ones are named in the error', async () => {
    const model = scriptedModel(() => 'Done')
    const tasks = [task({ name: 'a', description: 'Play {song} in {hall}' })]
    await using api = await a2aAgent({ ensembles: [ensemble({ name: 'duo', tasks, model })] })
    const inputsOf = async (parts: readonly object[]) => {
      const { result, error } = await api.call('SendMessage', {
        message: userMessage('', { parts }),
      })
      return error ?? (await api.runs.record(result.task.id))?.inputs
    }
    expect(await inputsOf([{ data: { song: 'Ode', hall: 'A' } }])).toEqual({
      song: 'Ode',
      hall: 'A',
    })
    expect(await inputsOf([{ data: { hall: 'A' } }, { text: 'Ode' }])).toEqual({
      song: 'Ode',
      hall: 'A',
    })
    expect(await inputsOf([{ text: '{"song":"Ode","hall":"A"}' }])).toMatchObject({ hall: 'A' })
    expect(await inputsOf([{ text: 'Ode' }])).toMatchObject({
      code: -32602,
      message: expect.stringContaining('song, hall'),
    })
    expect(await inputsOf([{ data: { hall: 'A' } }])).toMatchObject({
      code: -32602,
      message: expect.stringContaining('/song'),
    })
  })

  it('An A2A message starts an ensemble without inputs with any text', async () => {
    const tasks = [task({ name: 'a', description: 'Sing' })]
    const model = scriptedModel(() => 'La')
    await using api = await a2aAgent({ ensembles: [ensemble({ name: 'solo', tasks, model })] })
    expect((await api.send('go')).status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('An A2A message returns the failed task with the reason when the run fails', async () => {
    const tasks = [task({ name: 'a', description: 'Sing {song}' })]
    const model = scriptedModel(() => new Error('out of voice'))
    await using api = await a2aAgent({ ensembles: [ensemble({ name: 'solo', tasks, model })] })
    const { status, artifacts } = await api.send('go')
    expect(status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { role: 'ROLE_AGENT', parts: [{ text: expect.stringContaining('out of voice') }] },
    })
    expect(artifacts).toBeUndefined()
  })

  it('An A2A message returns the same task for the same idempotency key, and an error with another text', async () => {
    await using api = await a2aAgent()
    const headers = { 'idempotency-key': 'once' }
    const message = userMessage('a')
    const send = async (params: object) => api.call('SendMessage', params, headers)
    const [first, second] = [await send({ message }), await send({ message })]
    expect(second.result).toEqual(first.result)
    expect((await send({ message: userMessage('b') })).error).toMatchObject({ code: -32602 })
    const soon = await send({ message, configuration: { returnImmediately: true } })
    expect(soon.result.task.status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('An A2A message returns the output of the run in accepted media types', async () => {
    await using api = await a2aAgent({ ensembles: [duet()] })
    const { artifacts } = await api.send('Ode')
    expect(artifacts).toEqual([
      {
        artifactId: 'second',
        name: 'second',
        parts: [
          { text: '{"title":"Ode"}' },
          { data: { title: 'Ode' }, mediaType: 'application/json' },
        ],
      },
    ])
    const json = await api.send('Ode', {}, { acceptedOutputModes: ['application/json'] })
    expect(json.artifacts.map(({ parts }: Untyped) => parts)).toEqual([
      [{ data: { title: 'Ode' }, mediaType: 'application/json' }],
    ])
    const text = await api.send('Ode', {}, { acceptedOutputModes: ['text/*'] })
    expect(text.artifacts[0].parts).toEqual([{ text: '{"title":"Ode"}' }])
    const configuration = { acceptedOutputModes: ['image/png'] }
    const { error } = await api.call('SendMessage', { message: userMessage('Ode'), configuration })
    expect(error?.code).toBe(-32005)
  })
})

/** Two tasks; the second one returns an object. */
function duet() {
  const first = task({ name: 'first', description: 'Hum {song}' })
  const second = task({
    name: 'second',
    description: 'Name it',
    context: [first],
    output: Type.Object({ title: Type.String() }),
  })
  const model = scriptedModel(({ messages }) =>
    JSON.stringify(messages).includes('Name it') ? '{"title":"Ode"}' : 'La',
  )
  return ensemble({ name: 'duet', tasks: [first, second], model })
}

describe('a task with a question', () => {
  it.each<[string | object, string, string | undefined]>([
    ['approve', 'TASK_STATE_COMPLETED', 'La la'],
    ['Yes!', 'TASK_STATE_COMPLETED', 'La la'],
    ['Lu lu', 'TASK_STATE_COMPLETED', 'Lu lu'],
    ['exit', 'TASK_STATE_COMPLETED', 'La la'],
    ['reject: too loud', 'TASK_STATE_INPUT_REQUIRED', undefined],
    ['no', 'TASK_STATE_INPUT_REQUIRED', undefined],
    [{ parts: [{ data: { decision: 'CONTINUE' } }] }, 'TASK_STATE_COMPLETED', 'La la'],
    [
      { parts: [{ data: { decision: 'EDIT', revisedOutput: 'yes' } }] },
      'TASK_STATE_COMPLETED',
      'yes',
    ],
  ])('A task with a question answered with %j becomes %s', async (message, state, text) => {
    await using api = await a2aAgent({ ensembles: [reviewedTask()] })
    const { id, status } = await api.send('Amen')
    expect(status.message.parts).toEqual([
      { text: 'Is it in tune?\n\nLa la' },
      {
        data: {
          reviewId: expect.any(String),
          taskName: 'sing',
          kind: 'TASK_OUTPUT',
          timing: 'AFTER_EXECUTION',
        },
      },
    ])
    const { result } = await answer(api, id, message)
    expect(result.task.status.state).toBe(state)
    expect(result.task.artifacts?.[0].parts[0].text).toBe(text)
    // Another question is another review.
    if (text === undefined) {
      expect(result.task.status.message.messageId).not.toBe(status.message.messageId)
    }
  })

  it.each([
    ['', 'must not be blank'],
    [{ parts: [{ data: { decision: 'PERHAPS' } }] }, 'decision'],
    [{ parts: [{ data: { decision: 'EDIT' } }] }, 'revisedOutput'],
    [{ parts: [{ data: { reviewId: 'none', decision: 'CONTINUE' } }] }, 'must be an open review'],
  ])(
    'A task with a question answered with %j still waits, and lists the possible answers',
    async (message, why) => {
      await using api = await a2aAgent({ ensembles: [reviewedTask()] })
      const { id } = await api.send('Amen')
      const { error } = await answer(api, id, message)
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(why) })
      const { result } = await api.call('GetTask', { id })
      expect(result.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    },
  )

  it('A task with a question accepts the input of a tool only as JSON, so that a comment is not taken as input', async () => {
    await using api = await a2aAgent({ ensembles: [approvedTool()] })
    const { id, status } = await api.send('Ode')
    expect(status.message.parts[1].data).toMatchObject({
      toolName: 'tune',
      toolInput: { hertz: 440 },
    })
    expect((await answer(api, id, 'a bit lower')).error).toMatchObject({ code: -32602 })
    const { result } = await answer(api, id, '{"hertz": 432}')
    expect(result.task.artifacts[0].parts[0].text).toMatch(
      /^A reviewer changed the input of this call to {"hertz":432}.*\n\nTuned to 432$/,
    )
  })

  it.each(['in D minor', 'no', 'yes'])(
    'A task with a question passes the answer "%s" to the tool unchanged',
    async (text) => {
      await using api = await a2aAgent({ ensembles: [askingEnsemble()] })
      const { id, status } = await api.send('Ode')
      expect(status.message.parts[0].text).toBe('Which key?')
      const { result } = await answer(api, id, text)
      expect(result.task.artifacts[0].parts[0].text).toBe(`The answer is ${text}`)
    },
  )

  it('A task with a question is decided once; the second answer gets an error that it no longer waits', async () => {
    await using api = await a2aAgent({ ensembles: [reviewedTask()] })
    const { id } = await api.send('Amen')
    const both = await Promise.all([answer(api, id, 'approve'), answer(api, id, 'Lu lu')])
    const refused = both.filter(({ error }) => error !== undefined)
    expect(refused.length).toBeLessThanOrEqual(1)
    for (const { error } of refused) expect(error.code).toBe(-32004)
  })

  it('A task with a question requested over REST is the same task, also when REST decides it', async () => {
    await using api = await a2aAgent({ ensembles: [reviewedTask()] })
    const { id } = await api.send('Amen')
    const { reviews }: Untyped = await (await api.get('/api/reviews')).json()
    await api.post(`/api/reviews/${reviews[0].reviewId}`, { decision: 'CONTINUE' })
    await expect
      .poll(async () => (await api.call('GetTask', { id })).result.status.state)
      .toBe('TASK_STATE_COMPLETED')
  })
})

describe('a working task', () => {
  it('A working task takes a message as guidance and adds it to its history', async () => {
    const wait = waitingEnsemble()
    await using api = await a2aAgent({ ensembles: [wait.ensemble] })
    const { id } = await api.send('Godot', {}, { returnImmediately: true })
    await wait.begun
    const configuration = { returnImmediately: true }
    const message = userMessage('Hurry up', { taskId: id })
    const told = await api.call('SendMessage', { message, configuration })
    expect(told.result.task.status.state).toBe('TASK_STATE_WORKING')
    const decision = { parts: [{ data: { decision: 'CONTINUE' } }] }
    expect((await answer(api, id, decision)).error).toMatchObject({ code: -32004 })
    wait.release()
    await expect
      .poll(async () => (await api.call('GetTask', { id })).result.status.state)
      .toBe('TASK_STATE_COMPLETED')
    const { result } = await api.call('GetTask', { id })
    expect(result.artifacts[0].parts[0].text).toContain('Hurry up')
    expect(result.history.map(({ parts }: Untyped) => parts[0].text)).toEqual(['Godot', 'Hurry up'])
  })

  it('A working task is cancelled when its work has stopped', async () => {
    const wait = waitingEnsemble()
    await using api = await a2aAgent({ ensembles: [wait.ensemble] })
    const answering = api.send('Godot')
    await wait.begun
    const { result } = await api.call('ListTasks', { status: 'TASK_STATE_WORKING' })
    const [{ id }] = result.tasks
    const canceled = await api.call('CancelTask', { id })
    expect(canceled.result.status.state).toBe('TASK_STATE_CANCELED')
    expect((await answering).status.state).toBe('TASK_STATE_CANCELED')
    expect((await api.call('CancelTask', { id })).error?.code).toBe(-32002)
  })

  it('A working task is cancelled even when its work takes a while to stop', async () => {
    const begun = Promise.withResolvers<void>()
    const tidy = defineTextTool({
      name: 'tidy',
      description: 'Tidies up before it stops',
      async execute(_input, { signal }) {
        begun.resolve()
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve())
        })
        for (let step = 0; step < 200; step += 1) await new Promise((go) => setImmediate(go))
        return 'tidy'
      },
    })
    const model = scriptedModel(() => ({ toolCalls: [{ name: 'tidy', arguments: '""' }] }))
    const tasks = [task({ name: 'a', description: 'A {b}', tools: [tidy] })]
    await using api = await a2aAgent({ ensembles: [ensemble({ name: 'tidy', tasks, model })] })
    const { id } = await api.send('x', {}, { returnImmediately: true })
    await begun.promise
    const { result } = await api.call('CancelTask', { id })
    expect(result.status.state).toBe('TASK_STATE_CANCELED')
  })

  it('A working task continues when the waiting caller leaves', async () => {
    const wait = waitingEnsemble()
    await using api = await a2aAgent({ ensembles: [wait.ensemble] })
    const leaving = new AbortController()
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: userMessage('Godot', { contextId: 'left' }) },
    })
    const headers = { 'content-type': 'application/json' }
    const left = fetch(api.rpc, { method: 'POST', body, headers, signal: leaving.signal })
    await wait.begun
    leaving.abort()
    await expect(left).rejects.toThrow(/abort/i)
    wait.release()
    await expect
      .poll(async () => {
        const { result } = await api.call('ListTasks', { contextId: 'left' })
        return result.tasks[0].status.state
      })
      .toBe('TASK_STATE_COMPLETED')
  })
})

describe('tasks', () => {
  it('[GW-L3] A2A tasks include the runs of all protocols: one over REST is a task in its own context', async () => {
    await using api = await a2aAgent()
    const response = await api.post('/api/runs?wait=60', { inputs: { song: 'Ode' } })
    const { runId } = (await response.json()) as { runId: string }
    const { result } = await api.call('GetTask', { id: runId })
    expect(result).toMatchObject({
      id: runId,
      contextId: runId,
      status: { state: 'TASK_STATE_COMPLETED' },
      history: [{ role: 'ROLE_USER', parts: [{ data: { song: 'Ode' } }] }],
    })
    const listed = await api.call('ListTasks', { contextId: runId })
    expect(listed.result.tasks.map(({ id }: Untyped) => id)).toEqual([runId])
    const { id: follower } = await api.send('Amen', { contextId: runId })
    const both = await api.call('ListTasks', { contextId: runId })
    expect(both.result.tasks.map(({ id }: Untyped) => id)).toEqual([follower, runId])
  })

  it('[GW-L2] A2A tasks are listed page by page, each once, including those that wait for an answer', async () => {
    await using api = await a2aAgent({ ensembles: [singer(), reviewedTask()] })
    const asking = (await api.send('Amen', { metadata: { ensemble: 'choir' } })).id
    const ids = [asking]
    for (const song of ['a', 'b', 'c', 'd']) ids.push((await api.send(song)).id)
    const seen: string[] = []
    let pageToken = ''
    do {
      const { result } = await api.call('ListTasks', { pageSize: 2, pageToken })
      expect(result.totalSize).toBe(5)
      expect(result.pageSize).toBe(result.tasks.length)
      seen.push(...result.tasks.map(({ id }: Untyped) => id))
      pageToken = result.nextPageToken
      if (seen.length === 2) ids.push((await api.send('while reading', { contextId: 'x' })).id)
      if (seen.length === 2) break
    } while (pageToken !== '')
    const rest = await api.call('ListTasks', { pageSize: 100, pageToken })
    seen.push(...rest.result.tasks.map(({ id }: Untyped) => id))
    expect(seen).toEqual(ids.slice(0, 5).toReversed())
    const waits = await api.call('ListTasks', { status: 'TASK_STATE_INPUT_REQUIRED' })
    expect(waits.result.tasks.map(({ id }: Untyped) => id)).toEqual([asking])
    const { timestamp } = waits.result.tasks[0].status
    const since = await api.call('ListTasks', { statusTimestampAfter: timestamp })
    expect(since.result.totalSize).toBe(6)
    const later = new Date(Date.parse(timestamp) + 1).toISOString()
    const after = await api.call('ListTasks', { statusTimestampAfter: later })
    expect(after.result.tasks.map(({ id }: Untyped) => id)).not.toContain(asking)
  })

  it('[GW-L1] A2A tasks are listed by their last change of status; a page that holds all of them is the last', async () => {
    await using api = await a2aAgent({ ensembles: [singer(), reviewedTask()] })
    const asking = await api.send('Amen', { metadata: { ensemble: 'choir' } })
    const done = await api.send('Ode')
    const listed = async () => (await api.call('ListTasks', { pageSize: 2 })).result
    const idsIn = ({ tasks }: Untyped): string[] => tasks.map(({ id }: Untyped) => id)
    expect(idsIn(await listed())).toEqual([done.id, asking.id])
    await answer(api, asking.id, 'approve')
    const page = await listed()
    expect(idsIn(page)).toEqual([asking.id, done.id])
    expect(page.nextPageToken).toBe('')
  })

  it('An agent of one ensemble does not have the tasks of other ensembles', async () => {
    await using api = await a2aAgent({
      ensembles: [singer('one'), singer('two')],
      path: '/agents/two',
    })
    const mine = await api.send('a')
    expect((await api.runs.record(mine.id))?.ensemble).toBe('two')
    const { runId } = await api.runs.submit({ ensemble: 'one', inputs: { song: 'b' } })
    expect((await api.call('GetTask', { id: runId })).error?.code).toBe(-32001)
    expect((await api.call('CancelTask', { id: runId })).error?.code).toBe(-32001)
    expect((await api.call('SubscribeToTask', { id: runId })).error?.code).toBe(-32001)
    const message = userMessage('c', { taskId: runId })
    expect((await api.call('SendMessage', { message })).error?.code).toBe(-32001)
    const { result } = await api.call('ListTasks', {})
    expect(result.tasks.map(({ id }: Untyped) => id)).toEqual([mine.id])
    const other = { message: userMessage('a'), metadata: { ensemble: 'one' } }
    expect((await api.call('SendMessage', other)).error?.code).toBe(-32602)
  })
})

describe('access to tasks', () => {
  const KEY = 'a-key-of-forty-characters-for-this-test!'
  const authorization = `Bearer ${KEY}`

  const locked = (scopes: readonly Scope[]) =>
    a2aAgent({ ensembles: [reviewedTask()], apiKeys: [apiKey(KEY, { name: 'peer', scopes })] })

  it.each<[Scope[], string, number]>([
    [['runs:write'], 'GetTask', 403],
    [['runs:read'], 'GetTask', 200],
    [['runs:read'], 'ListTasks', 200],
    [['runs:read'], 'SendMessage', 403],
    [['runs:read'], 'SendStreamingMessage', 403],
    [['runs:read', 'runs:write'], 'SendMessage', 200],
    [['runs:read'], 'CancelTask', 403],
    [['runs:read', 'runs:control'], 'CancelTask', 200],
    [['runs:read', 'runs:control'], 'answer', 403],
    [['runs:read', 'reviews:decide'], 'answer', 200],
  ])('Access to A2A tasks with %j, %s returns %i', async (scopes, method, status) => {
    await using api = await locked(scopes)
    const { runId: id } = await api.runs.submit({ inputs: { song: 'Amen' } })
    await expect.poll(async () => (await api.runs.reviews.open({ runId: id })).length).toBe(1)
    const message =
      method === 'answer' ? userMessage('approve', { taskId: id }) : userMessage('Ode')
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: method === 'answer' ? 'SendMessage' : method,
      params: { id, message },
    })
    const headers = { 'content-type': 'application/json', authorization }
    const response = await fetch(api.rpc, { method: 'POST', headers, body })
    expect(response.status).toBe(status)
    const answered: Untyped = await response.json()
    if (status === 200) expect(answered).toHaveProperty('result')
    else expect(answered).toMatchObject({ error: 'FORBIDDEN' })
  })

  it('Access to A2A tasks is recorded in the audit trail and in the run, with its outcome', async () => {
    await using api = await locked(['admin'])
    const call = (method: string, params: object) => api.call(method, params, { authorization })
    const { result } = await call('SendMessage', { message: userMessage('Amen') })
    const { id, status } = result.task
    await call('SendMessage', { message: userMessage('approve', { taskId: id }) })
    await call('CancelTask', { id })
    await call('SendMessage', { message: userMessage('a', { parts: [{}] }) })
    const response = await fetch(`${api.url}/api/audit`, { headers: { authorization } })
    const { entries }: Untyped = await response.json()
    const told = entries
      .map(({ action, actor, via, runId, target, outcome }: Untyped) => [
        action,
        actor,
        via,
        runId,
        target,
        outcome,
      ])
      .toReversed()
    expect(told).toEqual([
      ['submitRun', 'peer', 'http', id, undefined, 'DONE'],
      ['decideReview', 'peer', 'http', id, status.message.messageId, 'DONE'],
      ['cancelRun', 'peer', 'http', id, undefined, 'REFUSED'],
      ['submitRun', 'peer', 'http', undefined, undefined, 'REFUSED'],
    ])
    expect((await api.runs.record(id))?.actor).toBe('peer')
  })
})

describe('an overloaded server', () => {
  it('An overloaded server returns status, Retry-After and a JSON-RPC error', async () => {
    const wait = waitingEnsemble()
    const limits = { maxConcurrentRuns: 1, maxQueuedRuns: 0 }
    await using api = await a2aAgent({ ensembles: [wait.ensemble], limits })
    await api.send('Godot', {}, { returnImmediately: true })
    await wait.begun
    const params = { message: userMessage('Pozzo') }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(api.rpc, { method: 'POST', headers, body })
    expect([response.status, await response.json()]).toMatchObject([
      429,
      { id: 1, error: { code: -32000, data: [{ reason: 'CONCURRENCY_LIMIT' }] } },
    ])
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    const rest = await fetch(`${api.rpc}/v1/message:send`, {
      method: 'POST',
      headers,
      body: JSON.stringify(params),
    })
    expect([rest.status, await rest.json()]).toMatchObject([
      429,
      { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } },
    ])
    expect(rest.headers.get('retry-after')).toBe(response.headers.get('retry-after'))
    wait.release()
  })
})
