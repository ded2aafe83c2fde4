import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'

import { decode, ROUTES } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { eventsOf, frames, openServer, type TestServer } from './open-server.ts'
import { parseResponses, head, open } from './raw-exchange.ts'

import type { ErrorBody, RunList } from '@tutti/protocol'

const INPUTS = { composer: 'Bach', hall: 'A' }

describe('submitting a run', () => {
  it('A submission returns 202 with the id, the tasks and the location of the run', async () => {
    await using api = await openServer()
    const response = await api.post('/api/runs', { inputs: INPUTS })
    const body: unknown = await response.json()
    expect(decode(ROUTES.submitRun.response, body)).toMatchObject({
      ok: true,
      value: { status: 'ACCEPTED', tasks: 2, workflow: 'PARALLEL' },
    })
    expect(response.status).toBe(202)
    const detail = await api.get(response.headers.get('location') ?? '')
    expect(await detail.json()).toMatchObject({ inputs: INPUTS })
  })

  it('A submission returns one run for the same key and body, and 409 for another body', async () => {
    await using api = await openServer()
    const submit = (inputs: object, key = 'order-7') =>
      api.post('/api/runs', { inputs }, { 'idempotency-key': key })
    const first = await submit(INPUTS)
    const { runId } = (await first.clone().json()) as { runId: string }
    const again = await submit({ hall: 'A', composer: 'Bach' })
    expect([again.status, await again.json()]).toEqual([202, await first.json()])
    expect(again.headers.get('location')).toBe(`/api/runs/${runId}`)
    const other = await submit({ ...INPUTS, hall: 'B' })
    expect([other.status, await other.json()]).toMatchObject([
      409,
      { error: 'IDEMPOTENCY_CONFLICT', message: expect.stringContaining('order-7') },
    ])
    expect((await submit(INPUTS, 'order-8')).status).toBe(202)
    expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(2)
  })

  it.each([' ', 'a b', 'x'.repeat(256), 'caf\u00e9'])(
    'A submission refuses the key %j',
    async (key) => {
      await using api = await openServer()
      const refused = await api.post('/api/runs', { inputs: INPUTS }, { 'idempotency-key': key })
      expect([refused.status, await refused.json()]).toMatchObject([
        400,
        { error: 'BAD_REQUEST', message: expect.stringContaining('Idempotency-Key') },
      ])
      expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(0)
    },
  )

  it('A submission accepts an id of the client, once', async () => {
    await using api = await openServer()
    const submit = () => api.post('/api/runs', { runId: 'mine', inputs: INPUTS })
    expect((await submit()).status).toBe(202)
    const second = await submit()
    expect([second.status, await second.json()]).toMatchObject([409, { error: 'RUN_EXISTS' }])
  })

  it('A submission returns 429 with Retry-After when too many runs are queued', async () => {
    await using api = await openServer({ limits: { maxConcurrentRuns: 1, maxQueuedRuns: 0 } })
    await api.submit()
    const response = await api.post('/api/runs', { inputs: INPUTS })
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await response.json()).toMatchObject({ error: 'CONCURRENCY_LIMIT', retryAfterMs: 5000 })
  })
})

describe('bad requests', () => {
  const cases: readonly [rule: string, body: unknown, expected: Partial<ErrorBody>][] = [
    [
      'name every missing input',
      {},
      {
        error: 'BAD_REQUEST',
        message: 'Cannot run "band": missing inputs: composer, hall',
        problems: [
          expect.objectContaining({ path: '/inputs/composer' }),
          expect.objectContaining({ path: '/inputs/hall' }),
        ],
      },
    ],
    [
      'name an unknown input together with the missing ones',
      { inputs: { compser: 'Bach', hall: 'A' } },
      {
        error: 'BAD_REQUEST',
        message:
          'Cannot run "band": /inputs/compser is not a known input (known: composer, hall). ' +
          'Did you mean "composer"?; missing inputs: composer',
        problems: [
          expect.objectContaining({ path: '/inputs/compser' }),
          expect.objectContaining({ path: '/inputs/composer' }),
        ],
      },
    ],
    [
      'name an unknown field, and suggest the nearest',
      { input: INPUTS, colour: 'red' },
      {
        error: 'BAD_REQUEST',
        problems: [
          expect.objectContaining({ path: '/input', message: expect.stringContaining('"inputs"') }),
          expect.objectContaining({ path: '/colour' }),
        ],
      },
    ],
    [
      'name every invalid value with its path',
      { inputs: { composer: 1, hall: null }, tags: [], runId: 'no spaces' },
      {
        problems: ['/inputs/composer', '/inputs/hall', '/tags', '/runId'].map((path) =>
          expect.objectContaining({ path }),
        ),
      },
    ],
    ['refuse a body that is not an object', [], { error: 'BAD_REQUEST' }],
    ['refuse text that is not JSON', '{"inputs": ', { error: 'BAD_REQUEST' }],
    [
      'list the known ensembles for an unknown one',
      { ensemble: 'duo', inputs: INPUTS },
      {
        error: 'INVALID_ENSEMBLE',
        message: "Unknown ensemble 'duo'. Available: [band]",
      },
    ],
    [
      'refuse deep nesting',
      `${'{"inputs":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
      {
        error: 'BAD_REQUEST',
      },
    ],
    [
      'treat __proto__ like any other key',
      '{"__proto__":{"x":1}}',
      {
        problems: [expect.objectContaining({ path: '/__proto__' })],
      },
    ],
  ]
  it.each(cases)('Bad requests %s', async (_rule, body, expected) => {
    await using api = await openServer()
    const response = await api.post('/api/runs', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject(expected)
    expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(0)
    expect(api.errors).toEqual([])
  })

  it('Bad requests return 415 for a body of another type', async () => {
    await using api = await openServer()
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const response = await api.post('/api/runs', { inputs: INPUTS }, { 'content-type': type })
      expect([response.status, await response.json()]).toMatchObject([
        415,
        { error: 'UNSUPPORTED_MEDIA_TYPE', message: expect.stringContaining(type) },
      ])
    }
  })

  it('Bad requests return 415 for a compressed body', async () => {
    await using api = await openServer()
    const response = await api.post('/api/runs', { inputs: INPUTS }, { 'content-encoding': 'gzip' })
    expect([response.status, await response.json()]).toMatchObject([
      415,
      {
        error: 'UNSUPPORTED_MEDIA_TYPE',
        message: 'The body must not be compressed: Content-Encoding must be absent, got "gzip"',
      },
    ])
  })

  it('Bad requests return 400 for invalid UTF-8', async () => {
    await using api = await openServer()
    const body = Buffer.from('{"inputs":{"composer":"\xff"}}', 'latin1')
    const headers = { 'content-type': 'application/json' }
    const response = await api.get('/api/runs', { method: 'POST', body, headers })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { message: expect.stringContaining('UTF-8') },
    ])
  })

  it('Bad requests return 413 for a body that is too large, by its length or while it arrives', async () => {
    await using api = await openServer({ maxBodyBytes: 1000 })
    const body = JSON.stringify({ inputs: { composer: 'x'.repeat(2000) } })
    const declared = await api.post('/api/runs', body)
    expect([declared.status, await declared.json()]).toMatchObject([
      413,
      { error: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('1000 bytes') },
    ])
    expect(await postChunked(api, body)).toBe(413)
    expect((await api.post('/api/runs', { inputs: INPUTS })).status).toBe(202)
  })

  it('Bad requests return 413 before the body has arrived, discard the rest, and keep the connection open', async () => {
    await using api = await openServer({ maxBodyBytes: 1000 })
    await using connection = open(api.url)
    const size = 3_000_000
    const headers = ['Host: localhost', 'Content-Type: application/json', `Content-Length: ${size}`]
    connection.send(['POST /api/runs HTTP/1.1', ...headers, '', ''].join('\r\n'))
    await once(connection.socket, 'data')
    connection.send(Buffer.alloc(size, ' '))
    connection.send(head('GET /api/health/live HTTP/1.1'))
    expect(parseResponses(await connection.closed()).map(({ status }) => status)).toEqual([
      413, 200,
    ])
  })

  it('Bad requests return 404 for an unknown path, and 405 with the allowed methods for a known one', async () => {
    await using api = await openServer()
    const unknown = await api.get('/api/nothing')
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: 'NOT_FOUND' }])
    const wrong = await api.get('/api/runs', { method: 'PUT' })
    expect([wrong.status, await wrong.json()]).toMatchObject([405, { error: 'METHOD_NOT_ALLOWED' }])
    expect(wrong.headers.get('allow')).toBe('POST, GET, HEAD')
    expect((await api.get('/api/runs/x/cancel')).headers.get('allow')).toBe('POST')
  })

  it('Bad requests return 400 with every problem for an invalid query', async () => {
    await using api = await openServer()
    const response = await api.get('/api/runs?limit=0&offset=x&status=odd&colour=red')
    expect(response.status).toBe(400)
    const { problems = [] } = (await response.json()) as ErrorBody
    expect(problems.map(({ path }) => path).toSorted()).toEqual([
      '/colour',
      '/limit',
      '/offset',
      '/status',
    ])
    expect((await api.get('/api/runs?limit=1&limit=2')).status).toBe(400)
  })

  it('Bad requests return 404 for an unknown run', async () => {
    await using api = await openServer()
    for (const path of ['/api/runs/run-0', '/api/runs/run-0/events', '/api/runs/%2e%2e%2f']) {
      const response = await api.get(path)
      expect([response.status, await response.json()]).toMatchObject([
        404,
        { error: 'RUN_NOT_FOUND', message: expect.stringContaining('No run with ID') },
      ])
    }
  })

  it('Bad requests do not end the process when the bytes are not HTTP', async () => {
    await using api = await openServer()
    const { port } = new URL(api.url)
    const answered = await new Promise((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.end('\u0000\u0001 NOT HTTP\r\n\r\n'),
      )
      socket.on('error', () => undefined)
      socket.on('close', () => resolve('closed'))
      socket.resume()
    })
    expect(answered).toBe('closed')
    expect((await api.get('/api/health/live')).status).toBe(200)
  })
})

describe('reading runs', () => {
  it('The API returns a running run with its tasks, and outputs and metrics after its end', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    const socket = api.connect(`/runs/${runId}/ws`)
    await socket.next('hello')
    api.play()
    await eventsOf(await api.get(`/api/runs/${runId}/events`))
    const detail: unknown = await (await api.get(`/api/runs/${runId}`)).json()
    expect(decode(ROUTES.getRun.response, detail)).toMatchObject({ ok: true })
    expect(detail).toMatchObject({
      status: 'COMPLETED',
      workflow: 'PARALLEL',
      tasks: [
        { name: 'tune', status: 'COMPLETED', output: 'All instruments are in tune now', index: 1 },
        { name: 'play', status: 'COMPLETED', toolCallCount: 1, output: 'It was played in full' },
      ],
      metrics: { totalTokens: expect.any(Number), totalToolCalls: 1 },
    })
    await socket[Symbol.asyncDispose]()
  })

  it('The API lists runs with their current task, by status in any case, by tag, in pages', async () => {
    await using api = await openServer()
    const submit = (tags: object) => api.post('/api/runs', { inputs: INPUTS, tags })
    await submit({ by: 'ci', env: 'a:b' })
    await submit({ by: 'hand' })
    for await (const batch of api.runs.follow({ runId: await newest(api), from: 0 })) {
      if (batch.some((event) => event.type === 'task_started' && event.taskName === 'play')) break
    }
    const list = async (query: string): Promise<RunList> => {
      const body: unknown = await (await api.get(`/api/runs${query}`)).json()
      const decoded = decode(ROUTES.listRuns.response, body)
      if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems))
      return decoded.value
    }
    expect((await list('')).runs.map(({ tags }) => tags['by'])).toEqual(['hand', 'ci'])
    expect((await list('')).runs[0]).toMatchObject({
      status: 'RUNNING',
      durationMs: null,
      completedTasks: 1,
      currentTask: { name: 'play', index: 1 },
    })
    expect(await list('?status=running&limit=1&offset=1')).toMatchObject({
      total: 2,
      runs: [{ tags: { by: 'ci' } }],
    })
    expect((await list('?tag=by:ci')).total).toBe(1)
    expect((await list('?tag=env:a:b')).total).toBe(1)
    expect((await list('?tag=env')).total).toBe(1)
    expect((await list('?status=FAILED')).total).toBe(0)
  })

  it('The API returns the capabilities and the status of the server', async () => {
    await using api = await openServer()
    for (const route of [
      ROUTES.getCapabilities,
      ROUTES.getStatus,
      ROUTES.getLiveness,
      ROUTES.getReadiness,
    ]) {
      const response = await api.get(route.path)
      expect(response.status).toBe(200)
      expect(decode(route.response, await response.json())).toMatchObject({ ok: true })
    }
    const capabilities = await (await api.get('/api/capabilities')).json()
    expect(capabilities).toMatchObject({
      tools: [{ name: 'wait', inputSchema: { type: 'object' } }],
      models: [{ alias: 'small', provider: 'scripted' }],
      preconfiguredTasks: [{ name: 'tune', variables: ['composer'] }, { tools: ['wait'] }],
      ensembles: [{ name: 'band', workflow: 'PARALLEL' }],
    })
    expect(await (await api.get('/')).text()).toContain('curl -X POST')
  })

  it('The API reports that the server is not ready while it drains', async () => {
    await using api = await openServer()
    await api.submit()
    await expect.poll(() => api.runs.status.activeTasks).toBe(1)
    const closed = api.runs.close({ drainTimeoutMs: 5_000 })
    const ready = await api.get('/api/health/ready')
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'NOT_READY', lifecycleState: 'DRAINING' },
    ])
    const refused = await api.post('/api/runs', { inputs: INPUTS })
    expect([refused.status, await refused.json()]).toMatchObject([503, { error: 'DRAINING' }])
    api.play()
    await closed
  })
})

describe('cancelling over REST', () => {
  it('A cancel over REST returns CANCELLING, and the run ends CANCELLED; a second request returns that it has ended', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    const cancelled = await api.get(`/api/runs/${runId}/cancel`, { method: 'POST' })
    expect([cancelled.status, await cancelled.json()]).toMatchObject([200, { runId }])
    await eventsOf(await api.get(`/api/runs/${runId}/events`))
    expect((await api.detail(runId)).status).toBe('CANCELLED')
    const again = await api.get(`/api/runs/${runId}/cancel`, { method: 'POST' })
    expect([again.status, await again.json()]).toMatchObject([409, { error: 'RUN_COMPLETED' }])
  })

  it.each([
    [{ mode: 'boundary' }, 'COMPLETED'],
    [{ mode: 'abort' }, 'CANCELLED'],
    [{ mode: undefined }, 'CANCELLED'],
  ])(
    'A cancel over REST with the body %j lets the running task, and then the run, end as %s',
    async (body, end) => {
      await using api = await openServer()
      const runId = await api.submit()
      await untilPlaying(api, runId)
      const answer = await api.post(`/api/runs/${runId}/cancel`, body)
      expect([answer.status, await answer.json()]).toEqual([200, { runId, status: 'CANCELLING' }])
      if (end === 'COMPLETED') api.play()
      const events = await eventsOf(await api.get(`/api/runs/${runId}/events`))
      const { mode = 'abort' } = body
      expect(events.find(({ type }) => type === 'run_cancelling')).toMatchObject({ mode })
      const { status, tasks } = await api.detail(runId)
      // After its last task, a run has no boundary at which it could stop.
      expect([status, ...tasks.map((task) => task.status)]).toEqual([end, 'COMPLETED', end])
    },
  )

  it('A cancel over REST refuses an unknown mode', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    const answer = await api.post(`/api/runs/${runId}/cancel`, { mode: 'gently' })
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'BAD_REQUEST' }])
  })
})

/** Resolves when the second task waits in its tool, or is about to. */
async function untilPlaying(api: TestServer, runId: string): Promise<void> {
  for await (const { data } of frames(await api.get(`/api/runs/${runId}/events`))) {
    if (data?.type === 'llm_iteration_completed' && data.taskName === 'play') return
  }
}

async function newest(api: TestServer): Promise<string> {
  const { runs } = await api.runs.list({ limit: 1, offset: 0 })
  return runs[0]?.runId ?? ''
}

/** Posts `body` without a Content-Length. */
function postChunked(api: TestServer, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const sent = request(`${api.url}/api/runs`, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
