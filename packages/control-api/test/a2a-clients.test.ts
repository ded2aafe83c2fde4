/** Tests with the client of `@a2a-js/sdk`: 1.0 over JSON-RPC and REST, and 0.3. */
import {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '@a2a-js/sdk'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
} from '@a2a-js/sdk/client'
import { describe, expect, it } from 'vitest'

import { a2aAgent, all, userMessage, singer, type Untyped } from './a2a-agent.ts'
import { reviewedTask } from './reviewed-ensembles.ts'

/** Clients of each binding and version for the agent at an address. */
const CLIENTS: Readonly<Record<string, (url: string) => Promise<Client>>> = {
  '1.0 over JSON-RPC': (url) =>
    new ClientFactory({ transports: [new JsonRpcTransportFactory()] }).createFromUrl(url),
  '1.0 over REST': (url) =>
    new ClientFactory({ transports: [new RestTransportFactory()] }).createFromUrl(url),
  async '0.3 over JSON-RPC'(url) {
    // A 0.3 client sends no version when it reads the card, and sees only its 0.3 fields.
    const response = await fetch(new URL('/.well-known/agent-card.json', url))
    const { supportedInterfaces: _, ...card } = await response.json()
    const legacyCompat = { enabled: true }
    const cardResolver = new DefaultAgentCardResolver({ legacyCompat })
    const transports = [new JsonRpcTransportFactory({ legacyCompat })]
    return new ClientFactory({ transports, cardResolver }).createFromAgentCard(card)
  },
}

const send = (text: string, more: object = {}, configuration: object = {}) =>
  SendMessageRequest.fromJSON({ message: userMessage(text, more), configuration })

/** Converts a result of the client to the JSON form of A2A. */
const taskJson = (result: unknown): Untyped => {
  const payload = (result as { payload?: { $case: string; value: Task } }).payload
  return Task.toJSON(payload === undefined ? (result as Task) : payload.value)
}

const itemJson = (item: StreamResponse): Untyped => StreamResponse.toJSON(item)

describe.each(Object.entries(CLIENTS))('a client of %s', (name, connect) => {
  it('An A2A client sends a message and gets the finished task', async () => {
    await using api = await a2aAgent()
    const client = await connect(api.url)
    const task = taskJson(await client.sendMessage(send('Ode to Joy')))
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'La la la, here comes Ode to Joy, la la la' }] }],
    })
    const got = taskJson(await client.getTask(GetTaskRequest.fromJSON({ id: task.id })))
    expect(got).toEqual(task)
  })

  it('An A2A client reads a stream: the task, its text as it is generated, and its end', async () => {
    await using api = await a2aAgent()
    const client = await connect(api.url)
    const items = (await all(client.sendMessageStream(send('Ode')))).map(itemJson)
    expect(items[0].task.status.state).toBe('TASK_STATE_SUBMITTED')
    expect(items.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
    const chunks = items.flatMap(({ artifactUpdate }) => artifactUpdate ?? [])
    const text = chunks.map(({ artifact }) => artifact.parts[0].text).join('')
    expect(text).toBe('La la la, here comes Ode, la la la')
    expect(chunks.at(-1).lastChunk).toBe(true)
  })

  it('An A2A client gets a question, answers it in the same task, and gets the result', async () => {
    await using api = await a2aAgent({ ensembles: [reviewedTask()] })
    const client = await connect(api.url)
    const asked = taskJson(await client.sendMessage(send('Amen')))
    expect(asked.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { role: 'ROLE_AGENT', parts: [{ text: 'Is it in tune?\n\nLa la' }, {}] },
    })
    const { id: taskId, contextId } = asked
    const done = taskJson(await client.sendMessage(send('Lu lu', { taskId, contextId })))
    expect(done).toMatchObject({
      id: taskId,
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'Lu lu' }] }],
    })
  })

  it('An A2A client subscribes to a waiting task, cancels it, and receives its end', async () => {
    await using api = await a2aAgent({ ensembles: [reviewedTask()] })
    const client = await connect(api.url)
    const { id } = taskJson(await client.sendMessage(send('Amen')))
    const stream = client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }))
    const first = itemJson((await stream.next()).value as StreamResponse)
    expect(first.task.id).toBe(id)
    const canceled = taskJson(await client.cancelTask(CancelTaskRequest.fromJSON({ id })))
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED')
    const rest = (await all(stream)).map(itemJson)
    expect(rest.at(-1).statusUpdate.status.state).toBe('TASK_STATE_CANCELED')
  })

  it.skipIf(name.startsWith('0.3'))('An A2A client lists tasks', async () => {
    await using api = await a2aAgent()
    const client = await connect(api.url)
    const { contextId } = taskJson(await client.sendMessage(send('Ode')))
    await client.sendMessage(send('Amen'))
    const page = await client.listTasks(ListTasksRequest.fromJSON({ contextId, pageSize: 1 }))
    expect([page.tasks.length, page.totalSize, page.nextPageToken]).toEqual([1, 1, ''])
  })

  it('An A2A client gets the typed errors of its SDK', async () => {
    await using api = await a2aAgent()
    const client = await connect(api.url)
    const none = GetTaskRequest.fromJSON({ id: 'none' })
    await expect(client.getTask(none)).rejects.toThrow(/Task not found: "none"/)
    const { id } = taskJson(await client.sendMessage(send('Ode')))
    const cancel = client.cancelTask(CancelTaskRequest.fromJSON({ id }))
    await expect(cancel).rejects.toMatchObject({ name: expect.stringMatching(/NotCancelable/) })
  })

  it('An A2A client leaves a stream, and the task continues', async () => {
    await using api = await a2aAgent()
    const client = await connect(api.url)
    const stream = client.sendMessageStream(send('Ode'))
    const first = itemJson((await stream.next()).value as StreamResponse)
    await stream.return(undefined)
    const request = GetTaskRequest.fromJSON({ id: first.task.id })
    await expect
      .poll(async () => taskJson(await client.getTask(request)).status.state)
      .toBe('TASK_STATE_COMPLETED')
  })
})

describe('one ensemble as an agent', () => {
  it.each(['1.0 over JSON-RPC', '1.0 over REST'])(
    'One ensemble as an agent can be called by a client of %s',
    async (name) => {
      await using api = await a2aAgent({ ensembles: [reviewedTask(), singer()] })
      const binding = name.endsWith('REST')
        ? new RestTransportFactory()
        : new JsonRpcTransportFactory()
      const factory = new ClientFactory({ transports: [binding] })
      const address = '/agents/singer/.well-known/agent-card.json'
      const client = await factory.createFromUrl(api.url, address)
      const task = taskJson(await client.sendMessage(send('Ode')))
      expect(task.artifacts[0].parts[0].text).toContain('Ode')
    },
  )
})
