import { ensemble, task } from '@tutti/ensemble'
import { decode, ROUTES } from '@tutti/protocol'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { reviewedTask } from './reviewed-ensembles.ts'
import {
  eventsOf,
  frames,
  openServer,
  type TestServer,
  type TestServerOptions,
  type Socket,
} from './open-server.ts'

import type { LoggedRunEvent, ServerMessage } from '@tutti/protocol'

describe('switching the model of a run', () => {
  it('A switch of the model of a run returns APPLIED with the previous model, over REST and WebSocket alike', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    const response = await api.post(`/api/runs/${runId}/model`, { model: 'small' })
    const body: unknown = await response.json()
    expect(decode(ROUTES.switchModel.response, body)).toMatchObject({ ok: true })
    const applied = { runId, model: 'small', previousModel: 'small', status: 'APPLIED' }
    expect([response.status, body]).toEqual([200, applied])
    await using socket = api.connect()
    await socket.next('hello')
    const message = { type: 'run_control', runId, action: 'switch_model', model: 'small' }
    socket.send({ ...message, taskName: 'play' })
    expect(await socket.next('run_control_ack')).toEqual({
      type: 'run_control_ack',
      runId,
      action: 'switch_model',
      status: 'APPLIED',
      model: 'small',
      previousModel: 'small',
    })
    api.play()
    const events = await eventsOf(await api.get(`/api/runs/${runId}/events`))
    expect(events.filter(({ type }) => type === 'model_switched')).toMatchObject([
      { model: 'small' },
      { model: 'small', taskName: 'play' },
    ])
  })

  it.each([
    [
      { model: 'huge' },
      400,
      { error: 'INVALID_MODEL', message: expect.stringContaining('[small]') },
    ],
    [{ model: 'small', taskName: 'dance' }, 400, { error: 'BAD_REQUEST' }],
    [{}, 400, { problems: [{ path: '/model' }] }],
    [{ model: 'small', now: true }, 400, { problems: [{ path: '/now' }] }],
  ])('A switch of the model of a run refuses %j with %i', async (body, status, error) => {
    await using api = await openServer()
    const runId = await api.submit()
    const response = await api.post(`/api/runs/${runId}/model`, body)
    expect([response.status, await response.json()]).toMatchObject([status, error])
  })

  it('A model switch of a finished or unknown run is refused', async () => {
    await using api = await openServer()
    const runId = await submitToEnd(api)
    const switchOf = (id: string) => api.post(`/api/runs/${id}/model`, { model: 'small' })
    const over = await switchOf(runId)
    expect([over.status, await over.json()]).toMatchObject([409, { error: 'RUN_COMPLETED' }])
    const unknown = await switchOf('run-none')
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: 'RUN_NOT_FOUND' }])
  })

  it('A refused model switch is acknowledged over WebSocket with its status', async () => {
    await using api = await openServer()
    const runId = await submitToEnd(api)
    await using socket = api.connect()
    await socket.next('hello')
    const statuses: unknown[] = []
    socket.socket.on('message', (data: Buffer) => {
      const { type, status } = JSON.parse(data.toString())
      if (type === 'run_control_ack') statuses.push(status)
    })
    const active = await api.submit()
    for (const [id, action, model] of [
      ['run-none', 'switch_model', 'small'],
      ['run-none', 'cancel', undefined],
      [runId, 'cancel', undefined],
      [active, 'switch_model', 'huge'],
    ]) {
      const before = statuses.length
      socket.send({ type: 'run_control', runId: id, action, model })
      await expect.poll(() => statuses.length).toBe(before + 1)
    }
    expect(statuses).toEqual(['NOT_FOUND', 'NOT_FOUND', 'NOT_RUNNING', 'INVALID_MODEL'])
  })
})

describe('switching the tier of a run', () => {
  it('A switch of the tier of a run works over REST and WebSocket, or by a directive, and each switch is recorded', async () => {
    await using api = await openServer(TIERS)
    const runId = await playing(api)
    const response = await api.post(`/api/runs/${runId}/model`, { tier: 'FAST' })
    const applied = {
      runId,
      model: 'small',
      previousModel: 'small',
      tier: 'fast',
      status: 'APPLIED',
    }
    expect([response.status, await response.json()]).toEqual([200, applied])
    await using socket = api.connect(`/runs/${runId}/ws`)
    await socket.next('hello')
    socket.send({ type: 'run_control', runId, action: 'switch_model', tier: 'primary' })
    expect(await socket.next('run_control_ack')).toMatchObject({
      status: 'APPLIED',
      tier: 'PRIMARY',
    })
    socket.send({ type: 'directive', action: 'SET_MODEL_TIER', value: 'fast', from: 'ops' })
    const { directiveId } = await socket.next('directive_ack')
    const injected = { action: 'APPLY_PROFILE', value: 'night', target: 'play' }
    expect((await api.post(`/api/runs/${runId}/inject`, injected)).status).toBe(200)
    expect(await steps(api, runId)).toMatchObject([
      { type: 'model_switched', model: 'small', tier: 'fast' },
      { type: 'model_switched', model: 'small', tier: 'PRIMARY' },
      {
        type: 'directive_active',
        directiveId,
        action: 'SET_MODEL_TIER',
        value: 'fast',
        from: 'ops',
      },
      { type: 'model_switched', model: 'small', tier: 'fast' },
      { type: 'directive_active', action: 'APPLY_PROFILE', value: 'night', to: 'play' },
      { type: 'model_switched', model: 'small', tier: 'fast', taskName: 'play' },
    ])
  })

  it('A tier switch of a queued run takes effect when it starts', async () => {
    await using api = await openServer({
      ...TIERS,
      limits: { ...TIERS.limits, maxConcurrentRuns: 1 },
    })
    const [, waiting] = [await playing(api), await api.submit()]
    expect((await api.post(`/api/runs/${waiting}/model`, { tier: 'fast' })).status).toBe(200)
    const directive = { action: 'SET_MODEL_TIER', value: 'PRIMARY' }
    expect((await api.post(`/api/runs/${waiting}/inject`, directive)).status).toBe(200)
    expect(await steps(api, waiting)).toMatchObject([
      { type: 'model_switched', tier: 'fast' },
      { type: 'directive_active', action: 'SET_MODEL_TIER' },
      { type: 'model_switched', tier: 'PRIMARY' },
    ])
  })

  it.each([
    ['model', { tier: 'fats' }, 'INVALID_MODEL', "Did you mean 'fast'?"],
    ['model', { tier: 'fallback' }, 'INVALID_MODEL', 'no task has fallback models'],
    [
      'model',
      { tier: 'fast', model: 'small' },
      'BAD_REQUEST',
      '/tier cannot be combined with model',
    ],
    ['inject', { content: '' }, 'BAD_REQUEST', '/content must be text that is not blank, got ""'],
    ['inject', { action: 'SET_MODEL_TIER' }, 'BAD_REQUEST', '/value is required'],
    ['inject', { action: 'SET_MODEL_TIER', value: 'fats' }, 'INVALID_MODEL', 'fats'],
    ['inject', { action: 'SET_TIER', value: 'fast' }, 'BAD_REQUEST', '/action'],
    ['inject', { action: 'APPLY_PROFILE', value: 'nihgt' }, 'BAD_REQUEST', 'Did you mean "night"?'],
    ['inject', { action: 'APPLY_PROFILE', value: 'night', content: 'x' }, 'BAD_REQUEST', 'content'],
  ])(
    'A switch of the tier of a run is refused at /%s for %j with %s',
    async (route, body, error, message) => {
      await using api = await openServer(TIERS)
      const runId = await playing(api)
      const response = await api.post(`/api/runs/${runId}/${route}`, body)
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error, message: expect.stringContaining(message) },
      ])
      expect(await steps(api, runId)).toEqual([])
    },
  )
})

const TIERS: TestServerOptions & Required<Pick<TestServerOptions, 'limits'>> = {
  tiers: { fast: 'small' },
  limits: { profiles: { night: { modelTier: 'fast' } } },
}

/** Returns the actions on a run, in order. */
async function steps(api: TestServer, runId: string): Promise<readonly LoggedRunEvent[]> {
  const events = await api.runs.readEvents({ runId, from: 0, limit: 1_000 })
  return events.filter(({ type }) => type === 'directive_active' || type === 'model_switched')
}

describe('acknowledgements for subscribers', () => {
  it('[API-N5] Acknowledgements for subscribers reach each subscribed connection once, for commands over any protocol', async () => {
    await using api = await openServer()
    const runId = await playing(api)
    await using own = api.connect()
    await using other = api.connect()
    await using ofAnotherRun = api.connect()
    await using unsubscribed = api.connect()
    for (const socket of [own, other, ofAnotherRun, unsubscribed]) await socket.next('hello')
    const events = ['run_control_ack', 'run_result'] as const
    own.send({ type: 'subscribe', events })
    other.send({ type: 'subscribe', events, runId })
    ofAnotherRun.send({ type: 'subscribe', events: ['run_control_ack'], runId: await api.submit() })
    for (const socket of [own, other, ofAnotherRun]) await socket.next('subscribe_ack')
    own.send({ type: 'run_control', runId, action: 'switch_model', model: 'small' })
    await own.next('run_control_ack')
    await api.post(`/api/runs/${runId}/cancel`, {})
    const switched = { action: 'switch_model', status: 'APPLIED', model: 'small' }
    const cancelling = { action: 'cancel', status: 'CANCELLING' }
    for (const socket of [own, other]) {
      await socket.next('run_result')
      expect(acknowledgements(socket)).toMatchObject([
        { runId, ...switched },
        { runId, ...cancelling },
      ])
    }
    await unsubscribed.next('run_result')
    expect(acknowledgements(unsubscribed)).toEqual([])
    expect(acknowledgements(ofAnotherRun)).toEqual([])
  })
})

describe('capacity and profiles for subscribers', () => {
  it('[API-N5] Capacity and profiles for subscribers are sent to connections that subscribe by name: the load at once and on changes', async () => {
    await using api = await openServer({
      ...TIERS,
      limits: { ...TIERS.limits, maxConcurrentRuns: 2 },
    })
    await using socket = api.connect()
    await using unsubscribed = api.connect()
    for (const one of [socket, unsubscribed]) await one.next('hello')
    socket.send({ type: 'subscribe', events: ['capacity_update', 'profile_applied'] })
    const loads = () =>
      socket.received.flatMap((message) =>
        message.type === 'capacity_update' ? [[message.status, message.currentLoad]] : [],
      )
    expect(await socket.next('capacity_update')).toEqual({
      type: 'capacity_update',
      ensemble: 'band',
      realm: 'default',
      status: 'AVAILABLE',
      currentLoad: 0,
      maxConcurrent: 2,
      shareable: true,
    })
    const runId = await playing(api)
    await expect.poll(() => loads().at(-1)).toEqual(['AVAILABLE', 0.5])
    await playing(api)
    await expect.poll(() => loads().at(-1)).toEqual(['BUSY', 1])
    await api.post(`/api/runs/${runId}/inject`, { action: 'APPLY_PROFILE', value: 'night' })
    expect(await socket.next('profile_applied')).toEqual({
      type: 'profile_applied',
      profileName: 'night',
      capacities: {},
      appliedAt: expect.any(String),
      runId,
    })
    api.play()
    await expect.poll(() => loads().at(-1)).toEqual(['AVAILABLE', 0])
    const types = unsubscribed.received.map(({ type }) => type)
    expect(types).not.toContain('capacity_update')
    expect(types).not.toContain('profile_applied')
  })
})

function acknowledgements({ received }: Socket): readonly ServerMessage[] {
  return received.filter(({ type }) => type === 'run_control_ack')
}

describe('injecting a directive', () => {
  it('An injected directive reaches the next model call, with its target, its priority and its expiry', async () => {
    await using api = await openServer()
    const runId = await playing(api)
    const response = await api.post(`/api/runs/${runId}/inject`, {
      content: 'Play louder',
      target: 'play',
      priority: 'HIGH',
      ttl: 'PT1H',
    })
    const body: unknown = await response.json()
    expect(decode(ROUTES.injectDirective.response, body)).toMatchObject({ ok: true })
    expect([response.status, body]).toEqual([
      200,
      { directiveId: expect.any(String), status: 'ACTIVE' },
    ])
    api.play()
    const events = await eventsOf(await api.get(`/api/runs/${runId}/events`))
    const { directiveId } = body as { directiveId: string }
    const active = events.find((event) => event.type === 'directive_active')
    expect(active).toMatchObject({
      directiveId,
      content: 'Play louder',
      to: 'play',
      priority: 'HIGH',
    })
    const activeAt = Date.parse(active?.activeAt ?? '')
    expect(Date.parse(active?.expiresAt ?? '')).toBe(activeAt + 3_600_000)
    expect(events.find(({ type }) => type === 'directive_delivered')).toMatchObject({
      directiveId,
      taskName: 'play',
    })
  })

  it.each([
    [{ content: ' ' }, '/content'],
    [{}, '/content'],
    [{ content: 'x', ttl: 'soon' }, '/ttl'],
    [{ content: 'x', ttl: 'PT0S' }, '/ttl'],
    [{ content: 'x', ttl: 'P1M' }, '/ttl'],
    [{ content: 'x', priority: 'URGENT' }, '/priority'],
  ])('An injected directive is refused with 400 and the path for %j', async (body, path) => {
    await using api = await openServer()
    const response = await api.post(`/api/runs/${await api.submit()}/inject`, body)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: 'BAD_REQUEST', problems: [{ path }] },
    ])
  })

  it('An injected directive is refused for an unknown target, a finished run and an unknown run', async () => {
    await using api = await openServer()
    const inject = async (runId: string, body: object) => {
      const response = await api.post(`/api/runs/${runId}/inject`, { content: 'x', ...body })
      return [response.status, ((await response.json()) as { error: string }).error]
    }
    expect(await inject(await api.submit(), { target: 'bass' })).toEqual([400, 'BAD_REQUEST'])
    expect(await inject('run-none', {})).toEqual([404, 'RUN_NOT_FOUND'])
    expect(await inject(await submitToEnd(api), {})).toEqual([409, 'RUN_COMPLETED'])
  })
})

describe('a directive over a WebSocket', () => {
  it('A directive over a WebSocket goes to the run that it names, and is accepted with its id', async () => {
    await using api = await openServer()
    const [meant, other] = [await playing(api), await playing(api)]
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'directive', runId: meant, from: 'conductor', content: 'Softer' })
    const ack = await socket.next('directive_ack')
    expect(ack).toEqual({
      type: 'directive_ack',
      directiveId: expect.any(String),
      status: 'accepted',
    })
    const [active] = await directives(api, meant)
    expect(active).toMatchObject({ directiveId: ack.directiveId, from: 'conductor' })
    expect(await directives(api, other)).toEqual([])
  })

  it('A directive over a WebSocket without a run goes to all active runs, or to those of the ensemble that it names', async () => {
    const duo = ensemble({
      name: 'duo',
      tasks: [task({ name: 'hum', description: 'Hum {song}', review: { timeoutMs: Infinity } })],
      model: scriptedModel(() => 'Hm'),
    })
    await using api = await openServer({
      ensembles: [reviewedTask(), duo],
      limits: { parkAfterMs: 50 },
    })
    const submit = async (name: string): Promise<string> => {
      const body = { ensemble: name, inputs: { song: 'Amen' } }
      const { runId } = (await (await api.post('/api/runs', body)).json()) as { runId: string }
      await until(api, runId, 'review_requested')
      return runId
    }
    const [first, second, third] = [
      await submit('choir'),
      await submit('choir'),
      await submit('duo'),
    ]
    await using socket = api.connect()
    await socket.next('hello')
    const acks: unknown[] = []
    socket.socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString())
      if (message.type === 'directive_ack') acks.push(message)
    })
    const sent = [
      { content: 'All' },
      { to: 'choir', content: 'Choir' },
      { to: 'hum', content: 'Hum' },
    ]
    for (const [index, message] of sent.entries()) {
      socket.send({ type: 'directive', ...message })
      await expect.poll(() => acks.length).toBe(index + 1)
    }
    const contents = async (runId: string) =>
      (await directives(api, runId)).map(({ content }) => content)
    expect(await contents(first)).toEqual(['All', 'Choir'])
    expect(await contents(second)).toEqual(['All', 'Choir'])
    expect(await contents(third)).toEqual(['All', 'Hum'])
    const ids = (await Promise.all([first, second, third].map((id) => directives(api, id)))).map(
      ([all]) => all?.directiveId,
    )
    expect(new Set(ids).size).toBe(1)
    expect(acks).toMatchObject(sent.map(() => ({ status: 'accepted' })))
    expect(acks[0]).toMatchObject({ directiveId: ids[0] })
  })

  it.each([
    ['no run is active', { content: 'x' }, 'No run'],
    ['it has no content', {}, '/content'],
    ['its ttl is not a duration', { content: 'x', ttl: 'P1Y' }, '/ttl'],
    ['its action is unknown', { action: 'SET_TIER', value: 'FALLBACK' }, '/action must be'],
    ['its run is unknown', { runId: 'run-none', content: 'x' }, 'run-none'],
  ])(
    'A directive over a WebSocket is REJECTED with the reason when %s',
    async (_, message, reason) => {
      await using api = await openServer()
      await using socket = api.connect()
      await socket.next('hello')
      socket.send({ type: 'directive', ...message })
      expect(await socket.next('directive_ack')).toEqual({
        type: 'directive_ack',
        directiveId: null,
        status: 'REJECTED',
        message: expect.stringContaining(reason),
      })
    },
  )

  it('A directive over a WebSocket on the connection of a run goes to that run', async () => {
    await using api = await openServer()
    const [home, other] = [await playing(api), await playing(api)]
    await using socket = api.connect(`/runs/${home}/ws`)
    await socket.next('hello')
    socket.send({ type: 'directive', content: 'Softer' })
    await socket.next('directive_ack')
    expect(await directives(api, home)).toHaveLength(1)
    expect(await directives(api, other)).toEqual([])
  })
})

type DirectiveActive = Extract<LoggedRunEvent, { type: 'directive_active' }>

async function directives(api: TestServer, runId: string): Promise<readonly DirectiveActive[]> {
  const events = await api.runs.readEvents({ runId, from: 0, limit: 1_000 })
  return events.filter((event) => event.type === 'directive_active')
}

/** Starts a run whose second task waits in its tool, or is about to. */
async function playing(api: TestServer): Promise<string> {
  const runId = await api.submit()
  for await (const { data } of frames(await api.get(`/api/runs/${runId}/events`))) {
    if (data?.type === 'llm_iteration_completed' && data.taskName === 'play') return runId
  }
  throw new Error('The run has ended')
}

async function until(api: TestServer, runId: string, type: LoggedRunEvent['type']): Promise<void> {
  for await (const batch of api.runs.follow({ runId, from: 0 })) {
    if (batch.some((event) => event.type === type)) return
  }
}

async function submitToEnd(api: TestServer): Promise<string> {
  const runId = await api.submit()
  await api.post(`/api/runs/${runId}/cancel`, {})
  await eventsOf(await api.get(`/api/runs/${runId}/events`))
  return runId
}
