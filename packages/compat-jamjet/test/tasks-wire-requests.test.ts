/** Requests of the `/tasks` wire: valid and invalid bodies, access, paths and limits. */
import { apiKey } from '@tutti/control-api'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf } from '../../control-api/test/open-server.ts'
import { exchange, head } from '../../control-api/test/raw-exchange.ts'
import { CALL_USD, linesOf, sendBody, openTasksServer, type TasksServer } from './tasks-server.ts'

import type { Scope } from '@tutti/protocol'

type Json = Record<string, unknown>

const USAGE = 'https://tutti.dev/a2a/usage/v1'

async function postBody(api: TasksServer, path: string, body: unknown, headers = {}) {
  const response = await api.send(path, body, headers)
  return { http: response.status, ...((await response.json()) as Json) } as Json
}

function key(name: string, scopes: readonly Scope[]) {
  return apiKey(`key-of-${name}-and-more`, { name, scopes })
}

const as = (name: string) => ({ authorization: `Bearer key-of-${name}-and-more` })

describe('a request body', () => {
  it('[JAM-D2] A request body on the /tasks wire is refused with every problem at once', async () => {
    await using api = await openTasksServer()
    const body = {
      jsonrpc: '1.0',
      method: 'tasks/get',
      params: {
        id: 'no id',
        sessionId: '',
        message: { parts: [{ text: 1 }] },
        metadata: { [USAGE]: { deadline_ms: 0, max_tokens: 1.5, max_cost_usd: -1 } },
      },
    }
    const { http, error, problems } = await postBody(api, '/tasks/send', body)
    expect([http, error]).toEqual([400, 'BAD_REQUEST'])
    const paths = (problems as { path: string }[]).map(({ path }) => path)
    const usage = `/params/metadata/${USAGE.replaceAll('/', '~1')}`
    expect(paths.toSorted()).toEqual(
      [
        '/jsonrpc',
        '/method',
        '/params/id',
        '/params/message/parts/0/text',
        `${usage}/deadline_ms`,
        `${usage}/max_cost_usd`,
        `${usage}/max_tokens`,
        '/params/sessionId',
      ].toSorted(),
    )
  })

  it.each([
    ['nothing', {}, '/params'],
    ['no message', { params: {} }, '/params/message'],
    ['no parts', { params: { message: { parts: [] } } }, '/params/message/parts'],
    [
      'a file',
      { params: { message: { parts: [{ type: 'file' }] } } },
      '/params/message/parts/0/type',
    ],
    ['an empty part', { params: { message: { parts: [{}] } } }, '/params/message/parts/0'],
    [
      'a part of two types',
      { params: { message: { parts: [{ text: 'x', data: 1 }] } } },
      '/params/message/parts/0',
    ],
    [
      'a part whose type does not match',
      { params: { message: { parts: [{ kind: 'data', text: 'x' }] } } },
      '/params/message/parts/0/kind',
    ],
    [
      'a request for push notifications',
      sendBody('x', { pushNotification: { url: 'http://127.0.0.1/' } }),
      '/params/pushNotification',
    ],
    [
      'two tasks',
      { params: { id: 'a', message: { taskId: 'b', parts: [{ text: 'x' }] } } },
      '/params/message/taskId',
    ],
  ])(
    'A request body on the /tasks wire with %s is refused with the path of the problem',
    async (_, body, path) => {
      await using api = await openTasksServer()
      expect(await postBody(api, '/tasks/send', body)).toMatchObject({
        http: 400,
        error: 'BAD_REQUEST',
        problems: [{ path }],
      })
      expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(0)
    },
  )

  it.each(['[]', '[{"params":{}}]', 'null', '"x"', '7', '{', '{"params":{"message":', '\uFEFF{}'])(
    'A request body on the /tasks wire that is %s is a bad request on every path, and no internal error',
    async (body) => {
      await using api = await openTasksServer()
      for (const path of ['/tasks/send', '/tasks/sendSubscribe', '/tasks/cancel']) {
        expect([path, (await api.send(path, body)).status]).toEqual([path, 400])
      }
      expect(api.errors).toEqual([])
    },
  )

  it('A request body on the /tasks wire may have any JSON content type or none, but not that of a form', async () => {
    await using api = await openTasksServer()
    const body = JSON.stringify(sendBody('x'))
    const statusOf = async (...headers: string[]) => {
      const length = `Content-Length: ${body.length}`
      const request = head('POST /tasks/send HTTP/1.1', length, ...headers) + body
      return (await exchange(api.url, request))[0]?.status
    }
    expect(await statusOf()).toBe(200)
    expect(await statusOf('Content-Type: application/json; charset=utf-8')).toBe(200)
    expect(await statusOf('Content-Type: application/a2a+json')).toBe(200)
    expect(await statusOf('Content-Type: text/plain')).toBe(415)
  })

  it('A request body on the /tasks wire accepts data, the part kinds of later versions, and several parts', async () => {
    await using api = await openTasksServer()
    const outputOf = async (parts: readonly object[]) =>
      (await postBody(api, '/tasks/send', { params: { message: { role: 'user', parts } } }))[
        'output'
      ]
    expect(await outputOf([{ type: 'data', data: { text: 'x' } }])).toBe('Heard x')
    expect(await outputOf([{ kind: 'text', text: 'y' }])).toBe('Heard y')
    expect(await outputOf([{ text: 'a' }, { text: 'b' }])).toBe('Heard a\nb')
  })
})

describe('a JSON-RPC id', () => {
  it.each(['request-1', 7, null])(
    '[JAM-D1] A JSON-RPC id of %j is in the response, with the result',
    async (id) => {
      await using api = await openTasksServer()
      const envelope = { jsonrpc: '2.0', id, method: 'tasks/send' }
      expect(await postBody(api, '/tasks/send', sendBody('x', {}, envelope))).toEqual({
        http: 200,
        jsonrpc: '2.0',
        id,
        result: expect.objectContaining({ status: 'completed', output: 'Heard x' }),
      })
    },
  )

  it('[JAM-R1] A JSON-RPC id comes with the result of a failed task', async () => {
    await using api = await openTasksServer()
    expect(
      await postBody(api, '/agents/flop/tasks/send', sendBody('', {}, { id: 1 })),
    ).toMatchObject({
      http: 200,
      id: 1,
      result: { status: 'failed', error: 'MODEL_FAILED' },
    })
  })

  it('A JSON-RPC id is on every line of a stream', async () => {
    await using api = await openTasksServer()
    const lines = await linesOf(
      await api.send('/tasks/sendSubscribe', sendBody('x', {}, { id: 1 })),
    )
    expect(lines.length).toBeGreaterThan(4)
    for (const line of lines) {
      expect(line).toEqual({ jsonrpc: '2.0', id: 1, result: expect.any(Object) })
    }
    expect(lines.at(-1)).toMatchObject({ result: { status: 'completed' } })
  })

  it.each([
    ['/tasks/send', { params: {} }, 400, -32_602, 'BAD_REQUEST'],
    ['/tasks/send', { jsonrpc: '1.0', params: {} }, 400, -32_600, 'BAD_REQUEST'],
    ['/tasks/send', { method: 'tasks/send' }, 400, -32_600, 'BAD_REQUEST'],
    ['/tasks/send', { params: { id: 'nothing' } }, 404, -32_001, 'RUN_NOT_FOUND'],
    ['/tasks/cancel', { params: { id: 'nothing' } }, 404, -32_001, 'RUN_NOT_FOUND'],
    ['/tasks/cancel', { params: { id: 'over' } }, 409, -32_002, 'RUN_COMPLETED'],
    [
      '/tasks/send',
      sendBody('x', { metadata: { ensemble: 'ech' } }),
      400,
      -32_000,
      'INVALID_ENSEMBLE',
    ],
  ])(
    '[JAM-R5] A JSON-RPC id at %s with %j comes with an error',
    async (path, body, http, code, error) => {
      await using api = await openTasksServer()
      await postBody(api, '/tasks/send', sendBody('x', { id: 'over' }))
      expect(await postBody(api, path, { id: 'r', ...body })).toEqual({
        http,
        jsonrpc: '2.0',
        id: 'r',
        error: { code, message: expect.any(String), data: expect.objectContaining({ error }) },
      })
    },
  )
})

describe('tasks/cancel', () => {
  it('tasks/cancel accepts a bare id or an envelope, and refuses anything else', async () => {
    await using api = await openTasksServer()
    expect(await postBody(api, '/tasks/cancel', { id: 7 })).toMatchObject({ http: 400 })
    expect(await postBody(api, '/tasks/cancel', {})).toMatchObject({ problems: [{ path: '/id' }] })
    expect(await postBody(api, '/tasks/cancel', { id: 'nothing' })).toMatchObject({
      http: 404,
      error: 'RUN_NOT_FOUND',
    })
    const id = 'mine'
    const running = postBody(api, '/agents/long/tasks/send', sendBody('', { id }))
    await expect.poll(() => api.runs.status.running).toBe(1)
    const envelope = { jsonrpc: '2.0', method: 'tasks/cancel', params: { id } }
    expect(await postBody(api, '/tasks/cancel', envelope)).toEqual({
      http: 200,
      id,
      status: 'canceled',
    })
    expect(await running).toMatchObject({ http: 422, status: 'canceled' })
    expect(await postBody(api, '/tasks/cancel', { id })).toMatchObject({ http: 409 })
  })

  it('[JAM-R4] tasks/cancel responds in time for every end of the run', async () => {
    const clock = fakeClock()
    await using api = await openTasksServer({ clock })
    const run = await api.runs.submit({ ensemble: 'long' })
    const follow = api.runs.follow
    api.runs.follow = () => {
      const { promise: over, resolve: end } =
        Promise.withResolvers<IteratorReturnResult<undefined>>()
      return {
        next: () => over,
        return() {
          end({ done: true, value: undefined })
          return over
        },
        [Symbol.asyncIterator]() {
          return this
        },
      }
    }
    let isAnswered = false
    const before = clock.pending
    const cancelled = postBody(api, '/tasks/cancel', { id: run.runId }).finally(() => {
      isAnswered = true
    })
    while (clock.pending === before) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(2_999)
    await api.get('/api/status')
    expect(isAnswered).toBe(false)
    await clock.advance(1)
    api.runs.follow = follow
    expect(await cancelled).toMatchObject({
      http: 200,
      status: expect.stringMatching(/work|cancel/),
    })
  })
})

describe('a task', () => {
  it('A task on the /tasks wire is a run with a tag for its caller, the session and the message', async () => {
    await using api = await openTasksServer({ apiKeys: [key('peer', ['runs:write', 'runs:read'])] })
    const body = sendBody('x', { id: 'task-1', sessionId: 'session 1' })
    expect(await postBody(api, '/tasks/send', body, as('peer'))).toMatchObject({ http: 400 })
    const right = sendBody('x', { id: 'task-1', sessionId: 'session-1' })
    expect(await postBody(api, '/tasks/send', right, as('peer'))).toMatchObject({
      id: 'task-1',
      sessionId: 'session-1',
    })
    const run = await api.runs.record('task-1')
    expect(run).toMatchObject({
      actor: 'peer',
      tags: { peer: 'peer', session: 'session-1' },
      request: { memo: { tasksWire: { message: right.params.message, sessionId: 'session-1' } } },
    })
    expect(
      await postBody(api, '/tasks/send', { params: { id: 'task-1' } }, as('peer')),
    ).toMatchObject({
      http: 200,
      sessionId: 'session-1',
      output: 'Heard x',
    })
    const other = { params: { id: 'task-1', sessionId: 's', metadata: { ensemble: 'long' } } }
    expect(await postBody(api, '/tasks/send', other, as('peer'))).toMatchObject({
      problems: [{ path: '/params/metadata/ensemble' }, { path: '/params/sessionId' }],
    })
  })

  it('A task on the /tasks wire named as in later versions can be continued, but not started', async () => {
    await using api = await openTasksServer()
    const body = { params: { message: { taskId: 'nothing', parts: [{ text: 'x' }] } } }
    expect(await postBody(api, '/tasks/send', body)).toMatchObject({ http: 404 })
  })

  it('A task on the /tasks wire is selected by metadata, or by a path that serves only one ensemble', async () => {
    await using api = await openTasksServer()
    api.play()
    const long = { metadata: { ensemble: 'long' } }
    expect(await postBody(api, '/tasks/send', sendBody('', long))).toMatchObject({
      output: 'Played to the end',
    })
    expect(await postBody(api, '/agents/echo/tasks/send', sendBody('', long))).toMatchObject({
      http: 400,
      error: 'INVALID_ENSEMBLE',
    })
    const { id } = await postBody(api, '/tasks/send', sendBody('x'))
    expect(await postBody(api, '/agents/long/tasks/send', { params: { id } })).toMatchObject({
      http: 404,
    })
    expect(await postBody(api, '/agents/long/tasks/cancel', { id })).toMatchObject({ http: 404 })
    expect(await postBody(api, '/agents/ech/tasks/send', sendBody('x'))).toMatchObject({
      http: 404,
      error: 'NOT_FOUND',
      message: expect.stringContaining("Did you mean 'echo'?"),
    })
  })

  it('[JAM-O1] A task on the /tasks wire of an ensemble that is not shared does not exist', async () => {
    await using api = await openTasksServer({ shared: { ensembles: ['flop'] } })
    const { runId } = await api.runs.submit({ ensemble: 'echo', inputs: { text: 'x' } })
    expect(await postBody(api, '/tasks/send', { params: { id: runId } })).toMatchObject({
      http: 404,
    })
    expect(await postBody(api, '/tasks/cancel', { id: runId })).toMatchObject({ http: 404 })
    expect(await postBody(api, '/agents/echo/tasks/send', sendBody('x'))).toMatchObject({
      http: 404,
    })
    expect(await postBody(api, '/tasks/send', sendBody(''))).toMatchObject({
      error: 'MODEL_FAILED',
    })
    await using closed = await openTasksServer({ shared: { ensembles: [] } })
    expect(await postBody(closed, '/tasks/send', sendBody('x'))).toMatchObject({ http: 503 })
  })

  it('[JAM-O2] A task on the /tasks wire under an idempotency key is one run, also with a chosen id; another body is refused', async () => {
    await using api = await openTasksServer()
    for (const params of [{}, { id: 'chosen' }]) {
      const headers = { 'idempotency-key': `key-${JSON.stringify(params).length}` }
      const send = (text: string) => postBody(api, '/tasks/send', sendBody(text, params), headers)
      const [first, second] = await Promise.all([send('x'), send('x')])
      expect([first['http'], second['http'], second['id']]).toEqual([200, 200, first['id']])
      expect(await send('x')).toMatchObject({ http: 200, id: first['id'], output: 'Heard x' })
      expect(await send('y')).toMatchObject({ http: 409, error: 'IDEMPOTENCY_CONFLICT' })
    }
    expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(2)
    const headers = { 'idempotency-key': `key-${JSON.stringify({ id: 'chosen' }).length}` }
    expect(await postBody(api, '/tasks/send', { params: { id: 'chosen' } }, headers)).toMatchObject(
      {
        http: 200,
        output: 'Heard x',
      },
    )
  })
})

describe('a key', () => {
  it('[JAM-O3] A key on the /tasks wire requires runs:write to send, runs:control to cancel and guide, reviews:decide to decide', async () => {
    const apiKeys = [
      key('reader', ['runs:read']),
      key('writer', ['runs:write']),
      key('controller', ['runs:write', 'runs:control']),
      key('reviewer', ['runs:write', 'runs:read', 'reviews:decide']),
    ]
    await using api = await openTasksServer({ apiKeys })
    const result = async (who: string, path: string, body: unknown) =>
      (await postBody(api, path, body, as(who)))['http']
    expect(await result('reader', '/tasks/send', sendBody('x'))).toBe(403)
    expect(await result('writer', '/tasks/send', sendBody('x'))).toBe(200)
    const { id } = await postBody(api, '/agents/choir/tasks/send', sendBody('x'), as('writer'))
    expect(await result('writer', '/tasks/send', { params: { id } })).toBe(200)
    expect(await result('controller', '/tasks/send', { params: { id } })).toBe(403)
    expect(await result('reviewer', '/tasks/send', { params: { id } })).toBe(200)
    expect(await result('writer', '/tasks/send', sendBody('yes', { id }))).toBe(403)
    expect(await result('controller', '/tasks/send', sendBody('yes', { id }))).toBe(403)
    expect(await result('reviewer', '/tasks/cancel', { id })).toBe(403)
    expect(await result('reviewer', '/tasks/send', sendBody('yes', { id }))).toBe(200)
    const limited = { params: { id, metadata: { [USAGE]: { max_tokens: 1 } } } }
    expect(await result('reviewer', '/tasks/send', limited)).toBe(403)
    const running = postBody(
      api,
      '/agents/long/tasks/send',
      sendBody('', { id: 'l' }),
      as('writer'),
    )
    await expect.poll(() => api.runs.status.running).toBe(1)
    expect(await result('writer', '/tasks/send', sendBody('Louder', { id: 'l' }))).toBe(403)
    expect(await result('controller', '/tasks/cancel', { id: 'l' })).toBe(200)
    expect((await running)['status']).toBe('canceled')
  })

  it('[JAM-O2] A key on the /tasks wire of another caller never matches an earlier task, even with its idempotency key', async () => {
    const apiKeys = [key('one', ['runs:write']), key('other', ['runs:write'])]
    await using api = await openTasksServer({ apiKeys })
    const send = (who: string) =>
      postBody(api, '/tasks/send', sendBody('x', { id: 'mine' }), {
        ...as(who),
        'idempotency-key': 'same',
      })
    expect(await send('one')).toMatchObject({ http: 200, id: 'mine' })
    expect(await send('one')).toMatchObject({ http: 200, id: 'mine' })
    expect(await send('other')).toMatchObject({ http: 403, error: 'FORBIDDEN' })
  })

  it('A key on the /tasks wire is named in the audit trail, with the run', async () => {
    const apiKeys = [key('peer', ['runs:write', 'runs:control']), key('boss', ['admin'])]
    await using api = await openTasksServer({ apiKeys })
    const { id } = await postBody(api, '/tasks/send', sendBody('x'), as('peer'))
    await postBody(api, '/tasks/cancel', { id }, as('peer'))
    const entries = async () => {
      const response = await api.get('/api/audit', { headers: as('boss') })
      const { entries: all } = (await response.json()) as { entries: Json[] }
      return all.filter(({ actor }) => actor === 'peer')
    }
    await expect.poll(async () => (await entries()).length).toBe(2)
    expect(await entries()).toMatchObject([
      { action: 'POST /tasks/cancel', runId: id, outcome: 'REFUSED', error: 'RUN_COMPLETED' },
      { action: 'POST /tasks/send', runId: id, target: 'echo', outcome: 'DONE' },
    ])
  })
})

describe('the limits of a caller', () => {
  const within = (limits: object, params = {}) =>
    sendBody('', { ...params, metadata: { [USAGE]: limits } })

  it('The limits of a caller include a deadline, which cancels the run with that reason', async () => {
    const clock = fakeClock()
    await using api = await openTasksServer({ clock })
    const body = within({ deadline_ms: 5_000 }, { id: 'late' })
    const answer = postBody(api, '/agents/long/tasks/send', body)
    await expect.poll(() => api.runs.status.running).toBe(1)
    await clock.advance(4_999)
    await expect.poll(async () => (await api.detail('late')).status).toBe('RUNNING')
    await clock.advance(1)
    expect(await answer).toMatchObject({
      http: 422,
      status: 'canceled',
      message: 'The run was cancelled: its deadline passed',
    })
    const events = await eventsOf(await fetch(`${api.url}/api/runs/late/events`))
    expect(events.find(({ type }) => type === 'run_cancelling')).toMatchObject({
      mode: 'abort',
      cause: 'DEADLINE',
    })
    expect(events.at(-1)).toMatchObject({ status: 'CANCELLED', cancel: { cause: 'DEADLINE' } })
    const audit = await (await fetch(`${api.url}/api/audit?runId=late`)).json()
    expect(audit).toMatchObject({
      entries: [{ action: 'cancelRun', cause: 'DEADLINE', outcome: 'DONE' }, { outcome: 'DONE' }],
    })
  })

  it.each([
    [{ max_cost_usd: 1.5 * CALL_USD }, 'maxCostUsd is 0.375, used 0.5'],
    [{ max_tokens: 499_999 }, 'maxTokens is 499999, used 500000'],
  ])(
    'The limits of a caller set the budget of the run to %j, which fails when it is exhausted',
    async (limits, message) => {
      await using api = await openTasksServer()
      expect(await postBody(api, '/agents/long/tasks/send', within(limits))).toMatchObject({
        http: 422,
        status: 'failed',
        message: expect.stringContaining(message),
      })
    },
  )

  it('The limits of a caller cancel nothing when they are reached but not exceeded', async () => {
    await using api = await openTasksServer()
    api.play()
    const limits = { max_cost_usd: 3 * CALL_USD, max_tokens: 750_000, deadline_ms: 60_000 }
    expect(await postBody(api, '/agents/long/tasks/send', within(limits))).toMatchObject({
      status: 'completed',
    })
  })
})

describe('a store that cannot be read', () => {
  it('[JAM-R2] A store that cannot be read does not keep the caller from getting the id to resume with', async () => {
    await using api = await openTasksServer()
    const { TuttiError } = await import('@tutti/core')
    const follow = api.runs.follow
    // oxlint-disable-next-line require-yield -- the generator fails before its first value
    api.runs.follow = async function* away() {
      throw new TuttiError('STORE_UNAVAILABLE', 'The store is away', { retryable: true })
    }
    const lines = await linesOf(await api.send('/tasks/sendSubscribe', sendBody('x')))
    const { id } = lines[0] ?? {}
    expect(lines.slice(1)).toMatchObject([{ id, status: 'working', error: 'STORE_UNAVAILABLE' }])
    const answer = await postBody(api, '/tasks/send', sendBody('y'))
    expect(answer).toMatchObject({ http: 503, status: 'working', error: 'STORE_UNAVAILABLE' })
    api.runs.follow = follow
    expect(await postBody(api, '/tasks/send', { params: { id } })).toMatchObject({
      output: 'Heard x',
    })
    expect(await postBody(api, '/tasks/send', { params: { id: answer['id'] } })).toMatchObject({
      output: 'Heard y',
    })
  })
})
