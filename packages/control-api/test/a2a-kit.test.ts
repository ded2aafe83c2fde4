/**
 * The checks of the A2A test kit (a2aproject/a2a-tck) over JSON-RPC, against an agent of one ensemble with one variable
 * that ends at once. Titles begin with the ids of the kit.
 */
import { task, ensemble } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

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

let api: A2aAgent

beforeAll(async () => {
  api = await a2aAgent()
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

const raw = (body: unknown, headers: Record<string, string> = CLIENT, url = api.rpc) =>
  fetch(url, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const ERROR_INFO = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  domain: 'a2a-protocol.org',
}

describe('messages', () => {
  it('CORE-SEND-001 DM-*: replies to a message with a task of the published shape', async () => {
    const task_ = await api.send('Hello from TCK')
    expect(task_).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [
        {
          artifactId: 'sing',
          parts: [{ text: 'La la la, here comes Hello from TCK, la la la' }],
        },
      ],
      history: [{ role: 'ROLE_USER', parts: [{ text: 'Hello from TCK' }] }],
    })
  })

  it('DM-SERIAL-001: The A2A server uses no snake case in fields of responses', async () => {
    const text = JSON.stringify(await api.call('SendMessage', { message: userMessage('a') }))
    expect(text).not.toMatch(/"[a-z]+(_[a-z]+)+":/)
  })

  it('DM-SERIAL-005: The A2A server ignores unknown fields', async () => {
    const message = userMessage('a', {
      tckUnknownField: 'should-be-ignored',
      parts: [{ text: 'a', x: 1 }],
    })
    const { result } = await api.call('SendMessage', { message, tckExtraParam: 42 })
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(JSON.stringify(result)).not.toContain('tckUnknownField')
  })

  it('CORE-SEND-002 CORE-MULTI-006: The A2A server returns an error for a message to a finished task or with another context', async () => {
    const { id: taskId } = await api.send('a')
    const toOver = await api.call('SendMessage', { message: userMessage('b', { taskId }) })
    expect(toOver.error).toMatchObject({
      code: -32004,
      message: expect.stringContaining('without taskId'),
      data: [{ ...ERROR_INFO, reason: 'UNSUPPORTED_OPERATION' }],
    })
    const message = userMessage('b', { taskId, contextId: 'wrong' })
    expect((await api.call('SendMessage', { message })).error).toMatchObject({ code: -32602 })
  })

  it('CORE-SEND-003: The A2A server returns -32005 for a file of an unknown type', async () => {
    const parts = [{ raw: 'dGNr', mediaType: 'application/x-unsupported-tck-type' }]
    const { error } = await api.call('SendMessage', { message: userMessage('', { parts }) })
    expect(error).toMatchObject({
      code: -32005,
      message: expect.stringMatching(/incompatible content type: .* is not supported/i),
      data: [{ ...ERROR_INFO, reason: 'CONTENT_TYPE_NOT_SUPPORTED' }],
    })
  })

  it('CORE-SEND-003: The A2A server returns -32005 when only an unknown output type is accepted', async () => {
    const configuration = { acceptedOutputModes: ['image/png', 'audio/*'] }
    const { error } = await api.call('SendMessage', { message: userMessage('a'), configuration })
    expect(error).toMatchObject({
      code: -32005,
      message: expect.stringMatching(
        /incompatible content type: image\/png, audio\/\* is not supported/i,
      ),
    })
  })

  it.each([
    ['data', [{ data: { key: 'value', number: 123, nested: { array: [1, 2, 3] } } }]],
    ['a list as data', [{ data: [{ name: 'Alice' }, { name: 'Bob' }] }]],
    ['text and data', [{ text: 'a' }, { data: { deep: { deeper: [[[['x']]]] } } }]],
    ['a file of text', [{ raw: 'TGEgbGE=', mediaType: 'text/plain', filename: 'song.txt' }]],
    ['unusual characters', [{ text: '你好, здравствуйте, مرحبا, こんにちは\n\t\b\f\r\n' }]],
    ['a long text', [{ text: 'A'.repeat(100_000) }]],
  ])('The A2A server starts a task for a message of %s', async (_title, parts) => {
    const { result } = await api.call('SendMessage', { message: userMessage('', { parts }) })
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED')
    const got = await api.call('GetTask', { id: result.task.id })
    expect(got.result.history[0].parts).toEqual(parts)
  })

  it('CORE-EXECUTION-MODE: A message waits for the end of the task, unless the client wants to return immediately', async () => {
    const wait = createWaitingTool()
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Done' : { toolCalls: [{ name: 'wait', arguments: {} }] },
    )
    const tasks = [task({ name: 'a', description: 'A {b}', tools: [wait.tool] })]
    await using slow = await a2aAgent({ ensembles: [ensemble({ name: 'slow', tasks, model })] })
    const soon = await slow.send('x', {}, { returnImmediately: true })
    expect(soon.status.state).toBe('TASK_STATE_SUBMITTED')
    await wait.begun
    const { result } = await slow.call('GetTask', { id: soon.id })
    expect(result.status.state).toBe('TASK_STATE_WORKING')
    const answering = slow.send('x', {}, { returnImmediately: false })
    wait.release()
    expect((await answering).status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('CORE-MULTI-001 CORE-MULTI-002 CORE-MULTI-003: The A2A server creates or reuses contexts, and assigns task ids', async () => {
    const [one, other] = [await api.send('a'), await api.send('a')]
    expect(one.contextId).not.toBe('')
    expect(one.contextId).not.toBe(other.contextId)
    expect(one.id).not.toBe(other.id)
    const kept = await api.send('a', { contextId: 'tck-client-context-001' })
    expect(kept.contextId).toBe('tck-client-context-001')
  })

  it('CORE-MULTI-004: The A2A server returns -32001 for a message to an unknown task', async () => {
    const { error } = await api.call('SendMessage', {
      message: userMessage('a', { taskId: 'none' }),
    })
    expect(error).toMatchObject({ code: -32001 })
  })

  it.each([
    ['no message', {}],
    ['a message without fields', { message: { kind: 'message' } }],
    ['no messageId', { message: { role: 'user', parts: [{ text: 'a' }] } }],
    ['no role', { message: { messageId: 'a', parts: [{ text: 'a' }] } }],
    ['no parts', { message: { messageId: 'a', role: 'user' } }],
    ['parts that are not a list', { message: { parts: 'invalid' } }],
    ['no part', { message: userMessage('', { parts: [] }) }],
    [
      'a part of an unknown type',
      { message: userMessage('', { parts: [{ type: 'x', text: 'a' }] }) },
    ],
    ['a part without content', { message: userMessage('', { parts: [{}] }) }],
    [
      'a part with two contents',
      { message: userMessage('', { parts: [{ text: 'a', url: 'b' }] }) },
    ],
    ['an empty name', { '': 'not_a_dict' }],
    ['parameters that are a text', 'not_a_dict'],
    ['parameters that are a list', []],
    [
      'a history of negative length',
      { message: userMessage('a'), configuration: { historyLength: -1 } },
    ],
  ])('CORE-ERR-002: The A2A server returns -32602 for %s', async (_title, params) => {
    expect((await api.call('SendMessage', params)).error).toMatchObject({ code: -32602 })
  })

  it('QUALITY: The A2A server treats null fields as absent', async () => {
    const task_ = await api.send('a', { taskId: null, contextId: null, metadata: null })
    expect(task_.status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('QUALITY: The A2A server refuses a text beyond the request limit, and keeps the connection open', async () => {
    const params = { message: userMessage('A'.repeat(1024 * 1024)) }
    const response = await raw({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params })
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { id: null, error: { code: -32602, message: expect.stringContaining('1000000 bytes') } },
    ])
    await api.send('a')
  })

  it('QUALITY: The A2A server starts one task for each of many simultaneous messages', async () => {
    const tasks = await Promise.all(Array.from({ length: 10 }, (_, at) => api.send(`Song ${at}`)))
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(10)
    for (const [at, { artifacts }] of tasks.entries()) {
      expect(artifacts[0].parts[0].text).toContain(`Song ${at}`)
    }
  })

  it('JSONRPC-SVC-002: The A2A server ignores unknown extensions', async () => {
    const headers = { 'a2a-extensions': 'https://example.com/ext/v1,https://example.com/ext/v2' }
    const { result } = await api.call('SendMessage', { message: userMessage('a') }, headers)
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED')
  })
})

describe('tasks', () => {
  it('CORE-GET-001 CORE-GET-002: The A2A server finds a task by its id, and returns -32001 for an unknown one', async () => {
    const task_ = await api.send('a')
    expect((await api.call('GetTask', { id: task_.id })).result).toEqual(task_)
    const { error } = await api.call('GetTask', { id: 'nonexistent-task-id' })
    expect(error).toEqual({
      code: -32001,
      message: expect.stringContaining('nonexistent-task-id'),
      data: [{ ...ERROR_INFO, reason: 'TASK_NOT_FOUND' }],
    })
  })

  it.each([
    [{ history_length: 0 }, 0],
    [{ historyLength: 0 }, 0],
    [{ history_length: 1 }, 1],
    [{ historyLength: 2_147_483_647 }, 1],
    [{}, 1],
  ])(
    'CORE-HIST-001 CORE-HIST-002: GetTask with %j returns a history of %i messages',
    async (params, length) => {
      const { id } = await api.send('a')
      const { result } = await api.call('GetTask', { id, ...params })
      expect(result.history?.length ?? 0).toBe(length)
    },
  )

  it('CORE-HIST-003: The A2A server returns no history when the sender does not want it', async () => {
    expect((await api.send('a', {}, { historyLength: 0 })).history).toBeUndefined()
  })

  it('QUALITY: The A2A server returns -32602 for a negative history length', async () => {
    const { id } = await api.send('a')
    const { error } = await api.call('GetTask', { id, historyLength: -1 })
    expect(error).toMatchObject({ code: -32602 })
  })

  it('The A2A server accepts task names of drafts of 1.0', async () => {
    const { id } = await api.send('a')
    expect((await api.call('GetTask', { name: `tasks/${id}` })).result.id).toBe(id)
  })

  it('CORE-CANCEL-002 CORE-CANCEL-003: The A2A server returns -32002 for a finished task and -32001 for an unknown one', async () => {
    const { id } = await api.send('a')
    expect((await api.call('CancelTask', { id })).error).toMatchObject({
      code: -32002,
      data: [{ ...ERROR_INFO, reason: 'TASK_NOT_CANCELABLE' }],
    })
    expect((await api.call('CancelTask', { id: 'none' })).error).toMatchObject({ code: -32001 })
  })

  it.each([
    [{ context_id: 'none' }],
    [{ context_id: 'none', page_size: 2 }],
    [{ context_id: 'none', include_artifacts: false }],
    [{ contextId: 'none' }],
  ])(
    'CORE-LIST-002 CORE-LIST-004: The A2A server returns an empty page with a total of 0 for %j',
    async (params) => {
      expect((await api.call('ListTasks', params)).result).toEqual({
        tasks: [],
        nextPageToken: '',
        pageSize: 0,
        totalSize: 0,
      })
    },
  )

  it('CORE-LIST-003 CORE-LIST-005: The A2A server lists the last changed tasks first, without artifacts unless requested', async () => {
    const contextId = 'list-003'
    for (const song of ['a', 'b', 'c']) await api.send(song, { contextId })
    const { result } = await api.call('ListTasks', { contextId })
    const times = result.tasks.map((one: Untyped) => one.status.timestamp)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(result.tasks.map((one: Untyped) => one.history[0].parts[0].text)).toEqual([
      'c',
      'b',
      'a',
    ])
    for (const one of result.tasks) expect(one).not.toHaveProperty('artifacts')
    const full = await api.call('ListTasks', { contextId, includeArtifacts: true })
    for (const one of full.result.tasks) expect(one.artifacts).toHaveLength(1)
  })

  it('The A2A server accepts the time filter in milliseconds of drafts of 1.0', async () => {
    const contextId = 'changed-after'
    const { status } = await api.send('a', { contextId })
    const at = Date.parse(status.timestamp)
    const listed = async (lastUpdatedAfter: number) =>
      (await api.call('ListTasks', { contextId, lastUpdatedAfter })).result.totalSize
    expect([await listed(at), await listed(at + 1)]).toEqual([1, 0])
  })

  it.each([
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: -1 },
    { status: 'invalid' },
    { pageToken: 'invalid' },
    { historyLength: -1 },
    { statusTimestampAfter: 'yesterday' },
    { lastUpdatedAfter: 'yesterday' },
    { lastUpdatedAfter: -1 },
  ])('The A2A server returns -32602 for ListTasks with %j', async (params) => {
    expect((await api.call('ListTasks', params)).error).toMatchObject({ code: -32602 })
  })

  it.each([
    ['CreateTaskPushNotificationConfig', { task_id: 't', url: 'https://example.com' }],
    ['GetTaskPushNotificationConfig', { task_id: 't', id: 'c' }],
    ['ListTaskPushNotificationConfigs', { task_id: 't' }],
    ['DeleteTaskPushNotificationConfig', { task_id: 't', id: 'c' }],
    ['SetTaskPushNotificationConfig', { parent: 'tasks/t', configId: 'c', config: {} }],
    ['ListTaskPushNotificationConfig', { parent: 'tasks/t' }],
    ['tasks/pushNotificationConfig/set', { taskId: 't', pushNotificationConfig: {} }],
    ['tasks/pushNotificationConfig/get', { id: 't' }],
    ['tasks/pushNotificationConfig/list', { id: 't' }],
    ['tasks/pushNotificationConfig/delete', { id: 't', pushNotificationConfigId: 'c' }],
    [
      'SendMessage',
      {
        message: userMessage('a'),
        configuration: { taskPushNotificationConfig: { url: 'https://a.b' } },
      },
    ],
  ])('CORE-CAP-001: The A2A server returns -32003 for %s', async (method, params) => {
    expect((await api.call(method, params)).error).toMatchObject({
      code: -32003,
      message: expect.stringMatching(/push notifications are not supported/i),
      data: [{ ...ERROR_INFO, reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' }],
    })
  })

  it('CORE-CAP-003: The A2A server has no extended card; 0.3 has a different error for that', async () => {
    const modern = await api.call('GetExtendedAgentCard', {})
    expect(modern.error).toMatchObject({ code: -32004 })
    const legacy = await api.call('agent/getAuthenticatedExtendedCard', {})
    expect(legacy.error).toMatchObject({ code: -32007 })
  })
})

describe('tasks with questions', () => {
  it('CORE-EXECUTION-MODE-001 CORE-MULTI-005 CORE-HIST-004: Waiting tasks accept the answer in the same task', async () => {
    await using asking = await a2aAgent({ ensembles: [reviewedTask()] })
    const first = await asking.send('Amen')
    expect(first.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    const { id: taskId, contextId } = first
    const message = userMessage('approve', { taskId })
    const { result } = await asking.call('SendMessage', { message })
    expect(result.task).toMatchObject({ id: taskId, contextId })
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED')
    const got = await asking.call('GetTask', { id: taskId, history_length: 10 })
    expect(got.result.history.map(({ role }: Untyped) => role)).toEqual([
      'ROLE_USER',
      'ROLE_AGENT',
      'ROLE_USER',
    ])
    const limited = await asking.call('GetTask', { id: taskId, historyLength: 1 })
    expect(limited.result.history).toEqual(got.result.history.slice(-1))
  })

  it('CORE-CANCEL-001: Waiting tasks can be cancelled', async () => {
    await using asking = await a2aAgent({ ensembles: [reviewedTask()] })
    const { id } = await asking.send('Amen')
    const { result } = await asking.call('CancelTask', { id })
    expect(result).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } })
  })

  it('STREAM-SUB-001 STREAM-SUB-002 STREAM-ORDER: Streams send the same events to every subscriber, from the task to its end', async () => {
    await using asking = await a2aAgent({ ensembles: [reviewedTask()] })
    const { id, contextId } = await asking.send('Amen')
    const streams = [1, 2, 3].map(() => asking.stream('SubscribeToTask', { id }))
    const firsts = await Promise.all(streams.map(async (stream) => (await stream.next()).value))
    for (const first of firsts) expect(first.task).toMatchObject({ id, contextId })
    await streams[2]?.return(undefined)
    await asking.call('SendMessage', { message: userMessage('Complete', { taskId: id }) })
    const [one = [], other] = await Promise.all(streams.slice(0, 2).map(all))
    expect(one.length).toBeGreaterThan(1)
    expect(one).toEqual(other)
    expect(one.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
  })
})

describe('streams', () => {
  it('CORE-STREAM-001 CORE-STREAM-003 JSONRPC-SSE-001: Streams send the task first, then updates, and close at the end', async () => {
    const items = await all(api.stream('SendStreamingMessage', { message: userMessage('Stream') }))
    expect(Object.keys(items[0])).toEqual(['task'])
    expect(items[0].task.status.state).toBe('TASK_STATE_SUBMITTED')
    expect(items.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('STREAM-SUB-003 STREAM-SUB-004: Subscriptions return -32004 for a finished task and -32001 for an unknown one, as JSON', async () => {
    const { id } = await api.send('a')
    expect((await api.call('SubscribeToTask', { id })).error).toMatchObject({ code: -32004 })
    expect((await api.call('SubscribeToTask', { id: 'none' })).error?.code).toBe(-32001)
  })

  it('A2A streams return invalid parameters as a JSON error', async () => {
    const { error } = await api.call('SendStreamingMessage', { invalid: 'params' })
    expect(error).toMatchObject({ code: -32602 })
  })
})

describe('JSON-RPC', () => {
  it.each([
    ['{"jsonrpc": "2.0", "method": "message/send", "params": {"foo": "bar"}'],
    ['{"jsonrpc": "2.0", "method": "SendMessage", "params": {"unclosed_object": true'],
    [''],
    ['{"jsonrpc": "2.0", "method": "x", "a": "\ud800"'],
  ])(
    '[GW-J1] The JSON-RPC binding returns -32700 for a body that is not JSON: %j',
    async (body) => {
      const response = await raw(body)
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { jsonrpc: '2.0', id: null, error: { code: -32700 } },
      ])
    },
  )

  it.each([
    [{ jsonrpc: 'aaa', method: 'SendMessage', params: {} }, -32600, null],
    [{ jsonrpc: '2.0', params: {} }, -32600, null],
    [{ jsonrpc: '1.0', id: 'a', method: 'SendMessage', params: {} }, -32600, 'a'],
    [{ id: 7, method: 'SendMessage', params: {} }, -32600, 7],
    [{ jsonrpc: '2.0', id: 'b', params: {} }, -32600, 'b'],
    [{ jsonrpc: '2.0', id: 'b', method: 5 }, -32600, 'b'],
    [{ jsonrpc: '2.0', method: 'SendMessage', params: {}, id: { bad: 'type' } }, -32600, null],
    [{ jsonrpc: '2.0', method: 'SendMessage', params: {}, id: [1] }, -32600, null],
    [{ jsonrpc: '2.0', method: 'SendMessage', params: {}, id: true }, -32600, null],
    [{ jsonrpc: '2.0', method: 'SendMessage', params: {} }, -32600, null],
    [{ jsonrpc: '2.0', method: 'message/send', params: 'not_a_dict' }, -32602, null],
    [{ jsonrpc: '2.0', method: 'SendMessageXXX', params: {} }, -32601, null],
    [[], -32600, null],
    [[{ jsonrpc: '2.0', method: 'GetTask', id: 1 }], -32600, null],
    ['"text"', -32600, null],
    [7, -32600, null],
    ['null', -32600, null],
    [{ jsonrpc: '2.0', method: 'SendMessageXXX', id: '3', params: {} }, -32601, '3'],
    [{ jsonrpc: '2.0', method: 'nonexistent/method', id: 0 }, -32601, 0],
    [{ jsonrpc: '2.0', method: 'constructor', id: 1 }, -32601, 1],
    [{ jsonrpc: '2.0', method: 'SendMessage', id: '4', params: { '': 'x' } }, -32602, '4'],
    [{ jsonrpc: '2.0', method: 'GetTask', id: null }, -32602, null],
  ])('[GW-J2] The JSON-RPC binding replies to %j with %i and the id %j', async (body, code, id) => {
    const response = await raw(body, { 'content-type': 'application/json' })
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        jsonrpc: '2.0',
        id,
        error: { code, message: expect.stringMatching(/\S/), data: expect.any(Array) },
      },
    ])
  })

  it('The JSON-RPC binding returns an error that names batches as unsupported', async () => {
    const response = await raw([{ jsonrpc: '2.0', method: 'GetTask', id: 1 }])
    expect((await response.json()).error.message).toContain('batches are not supported')
  })

  it('The JSON-RPC binding names every problem of the parameters with its path', async () => {
    const message = { messageId: '', role: 'boss', parts: [] }
    const { error } = await api.call('SendMessage', { message })
    const [info, badRequest] = error?.data ?? []
    expect(info).toEqual({ ...ERROR_INFO, reason: 'INVALID_PARAMS' })
    expect(badRequest['@type']).toBe('type.googleapis.com/google.rpc.BadRequest')
    expect(badRequest.fieldViolations.map(({ field }: Untyped) => field)).toEqual([
      'message.messageId',
      'message.role',
      'message.parts',
    ])
  })

  it('JSONRPC-SSE-002: The A2A server returns -32005 for another media type, also for those of forms', async () => {
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: userMessage('a') },
    }
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded']) {
      const response = await raw(body, { 'content-type': type, 'a2a-version': '1.0' })
      expect((await response.json()).error).toMatchObject({ code: -32005 })
    }
  })

  it.each(['99.0', '2.0', '0.2', 'x'])(
    'VER-SERVER-002: The A2A server returns -32009 for version %s',
    async (version) => {
      const headers = { ...CLIENT, 'a2a-version': version }
      const { error } = await api.call('SendMessage', { message: userMessage('a') }, headers)
      expect(error).toMatchObject({
        code: -32009,
        data: [{ ...ERROR_INFO, reason: 'VERSION_NOT_SUPPORTED' }],
      })
    },
  )

  it.each(['', '0.3', '1.0', '1.0.1', '1'])(
    'VER-SERVER-003: The A2A server accepts version "%s"',
    async (version) => {
      const headers = { ...CLIENT, 'a2a-version': version }
      const { result } = await api.call('SendMessage', { message: userMessage('a') }, headers)
      expect(result.task.status.state).toBe('TASK_STATE_COMPLETED')
    },
  )

  it('The JSON-RPC binding ignores a trailing slash of the path', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'none' } }
    const response = await raw(body, CLIENT, `${api.rpc}/`)
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32001 } })
  })

  it('The JSON-RPC binding accepts requests at the address of the agent itself', async () => {
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: userMessage('a') },
    }
    const base = api.rpc.replace(/\/a2a$/, '')
    const card = await (await fetch(`${base}/.well-known/agent-card.json`)).json()
    const ensemblePath = `${base}/agents/${card.skills[0].id}`
    for (const url of [base, `${base}/`, ensemblePath, `${ensemblePath}/`]) {
      const response = await raw(body, CLIENT, url)
      expect(await response.json()).toMatchObject({ id: 1, result: { task: {} } })
    }
  })

  it('[GW-J4] The JSON-RPC binding does not perform a request without an id', async () => {
    const before = (await api.call('ListTasks', {})).result.totalSize
    const body = { jsonrpc: '2.0', method: 'SendMessage', params: { message: userMessage('a') } }
    const { error } = await (await raw(body)).json()
    expect(error).toMatchObject({ code: -32600, message: expect.stringContaining('id must be') })
    expect((await api.call('ListTasks', {})).result.totalSize).toBe(before)
  })

  it.each([
    ['SendMessage', {}, -32600],
    ['message/send', { '': 'not_a_dict' }, -32602],
    ['message/send', 'not_a_dict', -32602],
    ['message/ssend', {}, -32601],
    ['tasks/get', { id: 'none' }, -32600],
  ])(
    '[GW-J4] The JSON-RPC binding replies to a request without an id to %s with %j with the code of its first other problem: %i',
    async (method, params, code) => {
      const { error } = await (await raw({ jsonrpc: '2.0', method, params })).json()
      expect(error.code).toBe(code)
    },
  )

  it.each([
    ['message/stream', { message: { messageId: 'm', role: 'user' } }, -32602],
    ['message/stream', { message: { ...userMessage('a'), taskId: 'none' } }, -32001],
    ['tasks/resubscribe', { id: 'none' }, -32001],
  ])(
    '[GW-J5] The JSON-RPC binding streams the error of %s of 0.3 with %j, with code %i',
    async (method, params, code) => {
      const response = await raw({ jsonrpc: '2.0', id: 7, method, params })
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      const [data = '', ...rest] = (await response.text()).split('\n\n')
      expect(JSON.parse(data.replace(/^data: /, ''))).toMatchObject({ id: 7, error: { code } })
      expect(rest).toEqual([''])
    },
  )

  it('[GW-J5] The JSON-RPC binding returns the error of a streaming method of 1.0 as JSON', async () => {
    const response = await raw({ jsonrpc: '2.0', id: 7, method: 'SubscribeToTask', params: {} })
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await response.json()).toMatchObject({ id: 7, error: { code: -32602 } })
  })

  it('The JSON-RPC binding treats two requests with the same id as separate', async () => {
    const body = { jsonrpc: '2.0', id: 'same', method: 'SendMessage' }
    for (const text of ['a', 'b']) {
      const message = { messageId: 'one', role: 'user', parts: [{ text }] }
      const response = await raw({ ...body, params: { message } })
      expect(await response.json()).toMatchObject({ id: 'same', result: { task: {} } })
    }
  })

  it('The JSON-RPC binding refuses other HTTP methods', async () => {
    expect((await fetch(api.rpc)).status).toBe(405)
  })
})
