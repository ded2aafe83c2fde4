/** A2A over the HTTP+JSON binding. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { a2aAgent, all, messagesOf, userMessage, type A2aAgent, type Untyped } from './a2a-agent.ts'
import { findMisfits, PageShape, SentShape, StreamShape, TaskShape } from './a2a-shapes.ts'
import { reviewedTask } from './reviewed-ensembles.ts'

let api: A2aAgent

beforeAll(async () => {
  api = await a2aAgent()
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

const JSON_TYPE = { 'content-type': 'application/a2a+json', 'a2a-version': '1.0' }

const post = (path: string, body?: unknown, headers: object = JSON_TYPE, agent = api) =>
  fetch(`${agent.rpc}/v1${path}`, {
    method: 'POST',
    headers: { ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

const get = (path: string, headers = {}) => fetch(`${api.rpc}/v1${path}`, { headers })

async function sendMessage(text: string, more: object = {}): Promise<Untyped> {
  return (await (await post('/message:send', { message: userMessage(text, more) })).json()).task
}

describe('REST', () => {
  it('The REST binding replies to a message with its task, as application/a2a+json', async () => {
    const response = await post('/message:send', { message: userMessage('Ode') })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/a2a+json',
    ])
    const body = await response.json()
    expect(findMisfits(SentShape, body)).toEqual([])
    expect(body.task.status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('[GW-H3] The REST binding accepts plain JSON, and requests without a version', async () => {
    const headers = { 'content-type': 'application/json' }
    expect((await post('/message:send', { message: userMessage('Ode') }, headers)).status).toBe(200)
  })

  it('The REST binding streams objects without an envelope', async () => {
    const response = await post('/message:stream', { message: userMessage('Ode') })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const items = await all(messagesOf(response))
    for (const item of items) expect(findMisfits(StreamShape, item)).toEqual([])
    expect(Object.keys(items[0])).toEqual(['task'])
    expect(items.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('[GW-H1] The REST binding returns a task, with parameters in the query', async () => {
    const { id } = await sendMessage('Ode')
    const task = await (await get(`/tasks/${id}`)).json()
    expect(findMisfits(TaskShape, task)).toEqual([])
    expect(task.history).toHaveLength(1)
    expect(await (await get(`/tasks/${id}?historyLength=0`)).json()).not.toHaveProperty('history')
    expect(await (await get(`/tasks/${id}?history_length=0`)).json()).not.toHaveProperty('history')
  })

  it('The REST binding lists tasks, with parameters in the query', async () => {
    const contextId = 'rest list'
    await sendMessage('a', { contextId })
    await sendMessage('b', { contextId })
    const query = new URLSearchParams({ contextId, pageSize: '1', includeArtifacts: 'true' })
    const page = await (await get(`/tasks?${query}`)).json()
    expect(findMisfits(PageShape, page)).toEqual([])
    expect([page.tasks.length, page.totalSize]).toEqual([1, 2])
    expect(page.tasks[0].artifacts).toHaveLength(1)
    query.set('pageToken', page.nextPageToken)
    query.set('status', 'TASK_STATE_COMPLETED')
    const last = await (await get(`/tasks?${query}`)).json()
    expect([last.tasks.length, last.nextPageToken]).toEqual([1, ''])
    expect(last.tasks[0].id).not.toBe(page.tasks[0].id)
  })

  it.each(['GET', 'POST'])('The REST binding subscribes with %s and cancels', async (method) => {
    await using asking = await a2aAgent({ ensembles: [reviewedTask()] })
    const { id } = await asking.send('Amen')
    const stream = await fetch(`${asking.rpc}/v1/tasks/${id}:subscribe`, { method })
    const canceled = await post(`/tasks/${id}:cancel`, undefined, {}, asking)
    expect([canceled.status, await canceled.json()]).toMatchObject([
      200,
      { id, status: { state: 'TASK_STATE_CANCELED' } },
    ])
    const items = await all(messagesOf(stream))
    expect(items[0].task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(items.at(-1).statusUpdate.status.state).toBe('TASK_STATE_CANCELED')
    const again = await fetch(`${asking.rpc}/v1/tasks/${id}:subscribe`, { method })
    expect([again.status, await again.json()]).toMatchObject([
      400,
      { error: { details: [{ reason: 'UNSUPPORTED_OPERATION' }] } },
    ])
  })

  it.each<[string, string, number, string, string]>([
    ['GET', '/tasks/none', 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
    ['POST', '/tasks/none:cancel', 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
    ['GET', '/tasks/none:subscribe', 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
    ['GET', '/tasks?pageSize=x', 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    ['GET', '/extendedAgentCard', 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
    [
      'GET',
      '/tasks/t/pushNotificationConfigs',
      400,
      'FAILED_PRECONDITION',
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
    ],
    [
      'POST',
      '/tasks/t/pushNotificationConfigs',
      400,
      'FAILED_PRECONDITION',
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
    ],
    [
      'GET',
      '/tasks/t/pushNotificationConfigs/c',
      400,
      'FAILED_PRECONDITION',
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
    ],
    [
      'DELETE',
      '/tasks/t/pushNotificationConfigs/c',
      400,
      'FAILED_PRECONDITION',
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
    ],
    ['GET', '/none', 404, 'NOT_FOUND', 'METHOD_NOT_FOUND'],
    ['GET', '/message:send', 404, 'NOT_FOUND', 'METHOD_NOT_FOUND'],
    ['POST', '/tasks/a:b:cancel', 404, 'NOT_FOUND', 'METHOD_NOT_FOUND'],
    ['POST', '/tasks/none', 404, 'NOT_FOUND', 'METHOD_NOT_FOUND'],
  ])('[GW-H2] %s %s returns %i %s for %s', async (method, path, code, status, reason) => {
    const response = await fetch(`${api.rpc}/v1${path}`, { method })
    expect(response.headers.get('content-type')).toContain('application/json')
    expect([response.status, await response.json()]).toMatchObject([
      code,
      {
        error: {
          code,
          status,
          message: expect.stringMatching(/\S/),
          details: expect.arrayContaining([
            {
              '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
              reason,
              domain: 'a2a-protocol.org',
            },
          ]),
        },
      },
    ])
  })

  it.each<[unknown, number, string]>([
    [{}, 400, 'INVALID_PARAMS'],
    [undefined, 400, 'INVALID_PARAMS'],
    [[], 400, 'INVALID_PARAMS'],
    ['{"message"', 400, 'PARSE_ERROR'],
  ])('The REST binding refuses the body %j with %i %s', async (body, status, reason) => {
    const response = await post('/message:send', body)
    const error = await response.json()
    expect([response.status, error.error.details[0].reason]).toEqual([status, reason])
  })

  it('The REST binding refuses other media types and versions', async () => {
    const message = { message: userMessage('a') }
    const form = await post('/message:send', message, { 'content-type': 'text/plain' })
    expect([form.status, await form.json()]).toMatchObject([
      400,
      { error: { details: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }] } },
    ])
    for (const version of ['0.3', '99.0']) {
      const response = await post('/message:send', message, {
        ...JSON_TYPE,
        'a2a-version': version,
      })
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { details: [{ reason: 'VERSION_NOT_SUPPORTED' }] } },
      ])
    }
  })
})
