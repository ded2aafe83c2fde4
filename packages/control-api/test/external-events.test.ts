/** Tests of external events over REST. */
import { inspect } from 'node:util'

import { ensemble, task } from '@tutti/ensemble'
import { Type } from '@tutti/core'
import { decode, ROUTES } from '@tutti/protocol'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { createEventToken, readEventToken } from '../src/auth/event-links.ts'
import { apiKey } from '../src/auth/keys.ts'
import { redactor } from '../src/secrets/redactor.ts'
import { openServer, type TestServer } from './open-server.ts'

import type { Scope } from '@tutti/protocol'
import type { RunServiceOptions } from '@tutti/runs'
import type { ReviewList } from '@tutti/protocol/internal'

const wait = task({
  name: 'wait',
  description: 'Wait for {order}',
  waitFor: { event: 'paid', key: '{order}', schema: Type.Object({ amount: Type.Integer() }) },
})

const shop = ensemble({ name: 'shop', tasks: [wait], model: scriptedModel([]) })

const send = (api: TestServer, body: object, path = '/api/events/paid') => api.post(path, body)

async function waitingRun(api: TestServer): Promise<string> {
  const { runId } = await (await api.post('/api/runs', { inputs: { order: 'o-1' } })).json()
  await expect
    .poll(async () => {
      const list = await api.get(`/api/reviews?kind=EVENT&runId=${runId}`)
      return ((await list.json()) as ReviewList).total
    })
    .toBe(1)
  return runId
}

describe('external events over REST', () => {
  it('An external event is answered with the run that waits for it, and an early one as stored', async () => {
    await using api = await openServer({ ensembles: [shop] })
    const early = await send(api, { key: 'other', id: 'e-0' })
    expect([early.status, await early.json()]).toEqual([202, { id: 'e-0', status: 'STORED' }])
    const runId = await waitingRun(api)
    const inbox = (await (await api.get('/api/reviews')).json()) as ReviewList
    expect(inbox).toEqual({ reviews: [], total: 0 })
    const [review] = (await (await api.get('/api/reviews?kind=EVENT')).json()).reviews
    expect(review).toMatchObject({ waitsFor: [{ name: 'paid', key: 'o-1' }], kind: 'EVENT' })
    const event = { key: 'o-1', id: 'e-1', data: { amount: 3 } }
    const received = await (await send(api, event)).json()
    expect(received).toEqual({ id: 'e-1', status: 'DELIVERED', runId, reviewId: review.reviewId })
    expect(decode(ROUTES.sendEvent.response, received)).toMatchObject({ ok: true })
    expect(await (await send(api, event)).json()).toEqual(received)
    await expect.poll(async () => (await api.detail(runId)).status).toBe('COMPLETED')
  })

  it('A message of A2A to a run that waits for an event guides it, and the wait stays open', async () => {
    await using api = await openServer({ ensembles: [shop] })
    const runId = await waitingRun(api)
    const message = { messageId: 'm', taskId: runId, role: 'ROLE_USER', parts: [{ text: 'yes' }] }
    const request = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    const configuration = { returnImmediately: true }
    const sent = await api.post(
      '/a2a',
      { ...request, params: { message, configuration } },
      { 'a2a-version': '1.0' },
    )
    const { result } = await sent.json()
    expect(result.task.status.state).toBe('TASK_STATE_WORKING')
    const received = await (await send(api, { key: 'o-1', data: { amount: 1 } })).json()
    expect(received).toMatchObject({ status: 'DELIVERED', runId })
  })

  it('An event for a run that has ended returns 409, and a repeated one its state', async () => {
    await using api = await openServer({ ensembles: [shop] })
    const runId = await waitingRun(api)
    const event = { key: 'o-1', id: 'e-1', data: { amount: 3 }, runId }
    expect((await send(api, event)).status).toBe(202)
    await expect.poll(async () => (await api.detail(runId)).status).toBe('COMPLETED')
    expect(await (await send(api, event)).json()).toMatchObject({ status: 'DELIVERED' })
    const late = await send(api, { ...event, id: 'e-2' })
    expect([late.status, (await late.json()).error]).toEqual([409, 'RUN_COMPLETED'])
  })

  it('EVENT_REFUSED names the problems of the data, and the wait stays open', async () => {
    await using api = await openServer({ ensembles: [shop] })
    await waitingRun(api)
    const refused = await send(api, { key: 'o-1', data: { amount: 'x' } })
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({
      error: 'EVENT_REFUSED',
      message: expect.stringContaining('data/amount'),
    })
    const received = await (await send(api, { key: 'o-1', data: { amount: 1 } })).json()
    expect(received).toMatchObject({ status: 'DELIVERED' })
  })

  it.each([
    ['/api/events/a%20b', {}, 400, '/name'],
    ['/api/events/paid', { key: '' }, 400, '/key'],
    ['/api/events/paid', { payload: 1 }, 400, '/payload'],
    ['/api/events/paid', { runId: 'none' }, 404, 'none'],
    ['/api/events/paid', { data: 'x'.repeat(262_144) }, 413, '262144 bytes'],
  ])('POST %s with %j is refused', async (path, body, status, problem) => {
    await using api = await openServer({ ensembles: [shop] })
    const refused = await send(api, body, path)
    expect(refused.status).toBe(status)
    expect(JSON.stringify(await refused.json())).toContain(problem)
  })

  it('EVENTS_FULL is the answer when too many events wait for waits', async () => {
    await using api = await openServer({ ensembles: [shop], limits: { maxStoredEvents: 1 } })
    const answers = [await send(api, { key: 'a' }), await send(api, { key: 'b' })]
    expect(answers.map(({ status }) => status)).toEqual([202, 429])
    expect(await answers[1]?.json()).toMatchObject({ error: 'EVENTS_FULL' })
    await waitingRun(api)
    expect((await send(api, { key: 'o-1', data: { amount: 1 } })).status).toBe(202)
  })
})

describe('a link of an event', () => {
  const keyed = (name: string, key: string, scopes: readonly Scope[]) =>
    apiKey(key, { name, scopes })
  const KEYS = [keyed('shop', 'shop-key', ['events:send']), keyed('all', 'all-key', ['admin'])]
  const as = (key: string) => ({ authorization: `Bearer ${key}` })

  async function createLink(api: TestServer, body: object = { key: 'o-1' }) {
    return (await api.post('/api/events/paid/links', body, as('shop-key'))).json()
  }

  it('A link for a run that does not exist, or has ended, is refused', async () => {
    await using api = await openServer({ ensembles: [shop], apiKeys: KEYS })
    expect(await createLink(api, { runId: 'none' })).toMatchObject({ error: 'RUN_NOT_FOUND' })
    const submitted = await api.post('/api/runs', { inputs: { order: 'o-1' } }, as('all-key'))
    const { runId } = await submitted.json()
    expect(await createLink(api, { runId })).toEqual({
      id: expect.any(String),
      path: expect.any(String),
    })
    await api.post(`/api/runs/${runId}/cancel`, {}, as('all-key'))
    await expect
      .poll(() => createLink(api, { runId }))
      .toMatchObject({ error: 'RUN_COMPLETED', message: expect.stringContaining('has ended') })
  })

  it('[API-L1] [API-L3] A caller without a key sends the event of a link once', async () => {
    await using api = await openServer({ ensembles: [shop], apiKeys: KEYS })
    const submitted = await api.post('/api/runs', { inputs: { order: 'o-1' } }, as('all-key'))
    const { runId } = await submitted.json()
    const { path, id } = await createLink(api)
    const [sent, again, other] = [
      await api.post(path, { amount: 4 }),
      await api.post(path, { amount: 4 }),
      await api.post(path, { amount: 5 }),
    ]
    expect([sent.status, again.status, other.status]).toEqual([202, 202, 409])
    expect(await sent.json()).toEqual({ id, status: expect.any(String) })
    await expect
      .poll(async () => {
        const detail = await api.get(`/api/runs/${runId}`, { headers: as('all-key') })
        return (await detail.json()).tasks[0].output
      })
      .toContain('"amount":4')
  })

  it('[API-L6] The event of a link is in the audit trail once, with the name of its key, and a refused one is not', async () => {
    await using api = await openServer({ ensembles: [shop], apiKeys: KEYS })
    const submitted = await api.post('/api/runs', { inputs: { order: 'o-1' } }, as('all-key'))
    const { runId } = await submitted.json()
    const list = () => api.get(`/api/reviews?kind=EVENT&runId=${runId}`, { headers: as('all-key') })
    await expect.poll(async () => (await (await list()).json()).total).toBe(1)
    const { path } = await createLink(api)
    expect((await api.post(path, { amount: 'x' })).status).toBe(422)
    for (const _ of [1, 2]) expect((await api.post(path, { amount: 4 })).status).toBe(202)
    const audit = await (await api.get('/api/audit', { headers: as('all-key') })).json()
    const entries = audit.entries.filter(
      ({ action }: { action: string }) => action === 'sendLinkedEvent',
    )
    expect(entries).toMatchObject([
      { actor: 'shop', via: 'http', target: 'paid', runId, outcome: 'DONE' },
    ])
  })

  it('[API-L2] A link that is forged, has expired or has another key is not found', async () => {
    const clock = fakeClock(Date.now())
    await using api = await openServer({ ensembles: [shop], apiKeys: KEYS, clock })
    const { path } = await createLink(api, { key: 'o-1', expiresInMs: 60_000 })
    const [payload = '', signature = ''] = path.split('/').at(-1).split('.')
    const content = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const forged = Buffer.from(JSON.stringify({ ...content, key: 'o-2' })).toString('base64url')
    const to = async (token: string) => (await api.post(`/api/event-links/${token}`, {})).status
    expect(await to(`${forged}.${signature}`)).toBe(404)
    expect(await to('x'.repeat(5_000))).toBe(404)
    expect(await to(`${payload}.`)).toBe(404)
    expect(await to(`${payload}.${signature}.`)).toBe(404)
    await clock.advance(60_000)
    expect(await to(`${payload}.${signature}`)).toBe(404)
    const tooLong = await api.post(
      '/api/events/paid/links',
      { expiresInMs: 604_800_001 },
      as('shop-key'),
    )
    expect(tooLong.status).toBe(400)
  })

  it.each<readonly [string, readonly Scope[] | undefined]>([
    ['was removed', undefined],
    ['lost its scope', ['runs:read']],
  ])('[API-L2] A link whose key %s is not found', async (_, scopes) => {
    const signer = { signingKey: (purpose: string) => Buffer.from(`secret of ${purpose}`) }
    const [issuer] = KEYS
    const content = { issuer: 'shop', id: 'link-1', name: 'paid', expiresAt: 10 }
    const token = createEventToken(content, issuer, signer)
    const keys = scopes === undefined ? KEYS.slice(1) : [keyed('shop', 'shop-key', scopes)]
    expect(readEventToken(token, { keys: KEYS, now: 1 }, signer)).toEqual(content)
    expect(() => readEventToken(token, { keys, now: 1 }, signer)).toThrow('was revoked')
  })
})

describe('a callback URL of a handler', () => {
  const urls: string[] = []
  const order = task({
    name: 'order',
    description: 'Order {order}',
    async handler({ callbackUrl, step, waitFor, inputs }) {
      const shipped = { name: 'shipped', key: inputs['order'] ?? '' }
      await step('order', async () => {
        urls.push(await callbackUrl(shipped))
      })
      const url = await callbackUrl(shipped)
      const outcome = await waitFor(shipped, { schema: Type.Object({ parcel: Type.String() }) })
      return { outcome, isSame: url === urls.at(-1) }
    },
  })
  const orders = ensemble({ name: 'orders', model: scriptedModel([]), tasks: [order] })
  const publicUrl = 'https://runs.example.com/'
  const toPath = (url: string | undefined): string => new URL(url ?? '').pathname

  async function openOrders(clock = fakeClock(Date.now())) {
    const keys = [apiKey('all-key', { name: 'all', scopes: ['admin'] })]
    return openServer({ ensembles: [orders], apiKeys: keys, publicUrl, clock })
  }

  async function submit(api: TestServer): Promise<string> {
    urls.length = 0
    const body = { inputs: { order: 'o-1' } }
    const { runId } = await (await api.post('/api/runs', body, ADMIN)).json()
    await expect.poll(() => urls.length).toBe(1)
    return runId
  }

  const ADMIN = { authorization: 'Bearer all-key' }

  async function readRun(api: TestServer, runId: string) {
    return (await api.get(`/api/runs/${runId}`, { headers: ADMIN })).json()
  }

  it('[API-L1] [API-L4] A service without a key sends the event of a callback URL once, however late', async () => {
    const clock = fakeClock(Date.now())
    await using api = await openOrders(clock)
    const runId = await submit(api)
    expect(urls[0]).toMatch(/^https:\/\/runs\.example\.com\/api\/event-links\//)
    // Longer than events are stored.
    await clock.advance(30 * 86_400_000)
    const path = toPath(urls[0])
    expect((await api.post(path, { parcel: 1 })).status).toBe(422)
    expect((await api.post(path, { parcel: 'p-1' })).status).toBe(202)
    await expect.poll(async () => (await readRun(api, runId)).status).toBe('COMPLETED')
    const [{ output }] = (await readRun(api, runId)).tasks
    expect(JSON.parse(output)).toMatchObject({ outcome: { data: { parcel: 'p-1' } }, isSame: true })
    // The service repeats its request, because it got no answer.
    const again = await api.post(path, { parcel: 'p-1' })
    expect([again.status, (await again.json()).status]).toEqual([202, 'DELIVERED'])
    expect((await api.post(path, { parcel: 'p-2' })).status).toBe(409)
  })

  it('[API-L2] [API-L4] A callback URL is not found once its run has ended, or when it is forged', async () => {
    await using api = await openOrders()
    const runId = await submit(api)
    const path = toPath(urls[0])
    const [payload = '', signature = ''] = (path.split('/').at(-1) ?? '').split('.')
    const content = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const forged = Buffer.from(JSON.stringify({ ...content, key: 'o-2' })).toString('base64url')
    expect((await api.post(`/api/event-links/${forged}.${signature}`, {})).status).toBe(404)
    await api.post(`/api/runs/${runId}/cancel`, {}, ADMIN)
    await expect.poll(async () => (await readRun(api, runId)).status).toBe('CANCELLED')
    const late = await api.post(path, { parcel: 'p-1' })
    expect([late.status, (await late.json()).message]).toEqual([
      404,
      'This link has expired: its run has ended',
    ])
  })

  it('[API-L4] A link that a caller creates for one run has no other expiry', async () => {
    await using api = await openOrders()
    const runId = await submit(api)
    const body = { key: 'o-1', runId }
    const link = await (await api.post('/api/events/shipped/links', body, ADMIN)).json()
    expect(link).toEqual({ id: expect.any(String), path: expect.any(String) })
    expect((await api.post(link.path, { parcel: 'p-1' })).status).toBe(202)
  })

  it('[API-L5] A callback URL is in no answer, event or message, wherever a handler puts it', async () => {
    const ordered = task({
      name: 'order',
      description: 'Order',
      handler: async ({ callbackUrl, ask, waitFor }) => {
        const url = await callbackUrl('shipped')
        urls.push(url)
        await ask(`Send ${url} to the supplier`, { timeoutMs: 60_000 })
        await waitFor('shipped')
        return `Asked with ${url}`
      },
    })
    const leaky = task({
      name: 'fail',
      description: 'Fail',
      handler: async ({ callbackUrl }) => {
        const url = await callbackUrl('shipped')
        urls.push(url)
        throw new Error(`Cannot reach ${url}`)
      },
    })
    const team = ensemble({
      name: 'team',
      tasks: [ordered, leaky],
      model: scriptedModel([]),
    })
    const redact: NonNullable<RunServiceOptions['redact']> = (event) => redactor([]).value(event)
    const logs: string[] = []
    const write = (_: string, fields?: object): void => void logs.push(inspect(fields))
    const logger = { debug: write, info: write, warn: write, error: write }
    await using api = await openServer({ ensembles: [team], publicUrl, logger, limits: { redact } })
    urls.length = 0
    const { runId } = await (await api.post('/api/runs', {})).json()
    const review = async () => (await (await api.get('/api/reviews')).json()).reviews[0]
    await expect.poll(review).toMatchObject({ prompt: expect.stringContaining('[redacted]') })
    const texts = [JSON.stringify(await review())]
    const { reviewId } = await review()
    const decision = { decision: 'EDIT', revisedOutput: 'yes' }
    expect(await (await api.post(`/api/reviews/${reviewId}`, decision)).json()).toMatchObject({
      status: 'APPLIED',
    })
    const sent = async () => (await api.post(toPath(urls[0]), {})).status
    await expect.poll(sent).toBe(202)
    await expect.poll(async () => (await api.detail(runId)).status).toBe('FAILED')
    const run = `/api/runs/${runId}`
    for (const path of [run, `${run}/trace`, `${run}/dag`, '/api/runs', '/api/audit']) {
      const response = await api.get(path)
      expect([path, response.status]).toEqual([path, 200])
      texts.push(await response.text())
    }
    texts.push(JSON.stringify(await api.runs.readEvents({ runId, from: 0, limit: 100 })))
    const tokens = urls.map((url) => toPath(url).split('/').at(-1) ?? '')
    expect(tokens).toHaveLength(2)
    expect(texts.join()).toContain('Asked with https://runs.example.com[redacted]')
    expect(texts.join()).toContain('Cannot reach https://runs.example.com[redacted]')
    for (const token of tokens) expect([...texts, ...logs].join()).not.toContain(token)
  })

  it('A handler on a server without a public URL gets an error that names the option', async () => {
    await using api = await openServer({ ensembles: [orders] })
    const { runId } = await (await api.post('/api/runs', { inputs: { order: 'o-1' } })).json()
    await expect.poll(async () => (await api.detail(runId)).status).toBe('FAILED')
    expect((await api.detail(runId)).error).toContain('set "publicUrl"')
  })
})

describe('a task of a request that waits', () => {
  it('[RUNS-T4] A manager delegates a wait of a request by the name of its task, and gets the outcome', async () => {
    const model = scriptedModel(({ messages, tools }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return `All: ${last.content}`
      if (!tools.some(({ name }) => name === 'delegate_task')) return 'done'
      const delegation = { agentRole: 'payment', taskDescription: 'Wait for it' }
      return { toolCalls: [{ name: 'delegate_task', arguments: delegation }] }
    })
    const band = ensemble({ name: 'band', model, tasks: [task({ description: 'Own' })] })
    await using api = await openServer({ ensembles: [band], limits: { parkAfterMs: 1 } })
    const body = {
      tasks: [
        { name: 'payment', description: 'Wait', waitFor: { event: 'paid', key: '{order}' } },
        { name: 'write', description: 'Write' },
      ],
      inputs: { order: 'o-1' },
      options: { workflow: 'HIERARCHICAL' },
    }
    const { runId } = await (await api.post('/api/runs', body)).json()
    await expect.poll(async () => (await api.runs.status.load()).parked).toBe(1)
    expect(await (await send(api, { key: 'o-1', data: 7 })).json()).toMatchObject({ runId })
    await expect.poll(async () => (await api.detail(runId)).status).toBe('COMPLETED')
    const { tasks } = await api.detail(runId)
    expect(tasks.at(-1)?.output).toContain('"data":7')
  })

  it('[RUNS-T8] A task of a request waits for each item of a list, and later tasks get the outcomes', async () => {
    const model = scriptedModel(({ messages }) => messages.at(-1)?.content ?? '')
    const band = ensemble({ name: 'band', model, tasks: [task({ description: 'Own' })] })
    await using api = await openServer({ ensembles: [band] })
    const body = {
      tasks: [
        {
          name: 'paid',
          description: 'Wait for {order}',
          forEach: { over: 'orders', as: 'order' },
          waitFor: {
            event: { any: ['paid', { name: 'refunded', key: 'r-{order}' }] },
            key: '{order}',
            schema: { type: 'object', properties: { amount: { type: 'integer' } } },
            timeoutMs: 600_000,
          },
        },
        { name: 'close', description: 'Close', context: ['$paid'] },
      ],
      inputs: { orders: '["a","b"]' },
    }
    const { runId } = await (await api.post('/api/runs', body)).json()
    const events = [
      { key: 'a', data: { amount: 1 }, id: 'e-1' },
      { key: 'r-b', id: 'e-2', data: {} },
    ]
    await send(api, events[0] ?? {})
    await send(api, events[1] ?? {}, '/api/events/refunded')
    await expect.poll(async () => (await api.detail(runId)).status).toBe('COMPLETED')
    const { tasks } = await api.detail(runId)
    const outputOf = (name: string) => tasks.find((one) => one.name === name)?.output ?? ''
    expect(JSON.parse(outputOf('paid'))).toEqual([
      { arrived: true, data: { amount: 1 }, name: 'paid', eventId: 'e-1' },
      { arrived: true, data: {}, name: 'refunded', eventId: 'e-2' },
    ])
    expect(outputOf('close')).toContain('"eventId":"e-2"')
  })

  it.each<readonly [object, object, readonly string[]]>([
    [{ event: 'a b' }, {}, ['/tasks/0/waitFor/event']],
    [{ event: { any: [] } }, {}, ['/tasks/0/waitFor/event/any']],
    [{ event: 'a', timeoutMs: 1, until: '2030-01-01T00:00:00Z' }, {}, ['/tasks/0/waitFor/until']],
    [{ event: 'a', schema: { type: 'strin' } }, {}, ['/tasks/0/waitFor/schema']],
    [
      { event: 'a' },
      { outputSchema: { type: 'object' }, model: 'small', tools: [], maxHandoffs: 2 },
      ['tools', 'model', 'outputSchema', 'maxHandoffs'].map((name) => `/tasks/0/${name}`),
    ],
    [{ event: 'a' }, { ensemble: 'shop' }, ['/tasks/0/waitFor']],
  ])('[RUNS-T8] The wait %j with %j is refused at %j', async (waitFor, fields, paths) => {
    await using api = await openServer({ ensembles: [shop] })
    const refused = await api.post('/api/runs', {
      tasks: [{ name: 'w', description: 'W', waitFor, ...fields }],
    })
    expect(refused.status).toBe(400)
    const { problems } = (await refused.json()) as { problems: { path: string }[] }
    expect(problems.map(({ path }) => path)).toEqual(paths)
  })
})
