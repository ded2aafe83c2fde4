import { createHmac } from 'node:crypto'

import { apiKey } from '@tutti/control-api'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer, type TestServer, type TestServerOptions } from './open-server.ts'

import type { Ticket } from '@tutti/protocol/internal'

const KEY = 'a-key-of-some-length'
const OTHER = 'another-key-of-length'
const TICKET_SECRET = '0123456789abcdef0123456789abcdef'
const keys = (secret = KEY) => [
  apiKey(secret, { name: 'page' }),
  apiKey('reader-key-of-length', { name: 'reader', scopes: ['runs:read'] }),
]

describe('a ticket', () => {
  it('A ticket replaces a key for WebSockets and event streams', async () => {
    await using api = await serveWithKeys()
    const runId = await submit(api)
    const { ticket } = await ticketOf(api)
    for (const path of ['/ws', `/runs/${runId}/ws`]) {
      await using socket = api.connect(`${path}?ticket=${ticket}`)
      await socket.next('hello')
    }
    api.play()
    const events = await eventsOf(await api.get(`/api/runs/${runId}/events?ticket=${ticket}`))
    expect(events.at(-1)).toMatchObject({ type: 'run_result' })
  })

  it('A ticket is not accepted elsewhere: not in other queries, and not as a key', async () => {
    await using api = await serveWithKeys()
    const { ticket } = await ticketOf(api)
    for (const path of ['/api/runs', '/api/status', '/api/capabilities', '/api/tickets', '/']) {
      const method = path === '/api/tickets' ? 'POST' : 'GET'
      expect((await api.get(`${path}?ticket=${ticket}`, { method })).status).toBe(401)
    }
    const asKey = { authorization: `Bearer ${ticket}` }
    expect((await api.get('/api/runs', { headers: asKey })).status).toBe(401)
    await using socket = api.connect('/ws', asKey)
    expect(await socket.refused()).toBe(401)
  })

  it('[API-K3] A ticket yields to a key in the request', async () => {
    await using api = await serveWithKeys()
    const { ticket } = await ticketOf(api)
    await using socket = api.connect(`/ws?ticket=${ticket}`, { authorization: 'Bearer wrong' })
    expect(await socket.refused()).toBe(401)
  })

  it('A ticket expires at its expiry time', async () => {
    const clock = fakeClock()
    await using api = await serveWithKeys({ clock, ticketTtlMs: 5_000 })
    const { ticket, expiresAt } = await ticketOf(api)
    expect(Date.parse(expiresAt)).toBe(clock.now() + 5_000)
    await clock.advance(4_999)
    expect((await api.get(`/api/runs/x/events?ticket=${ticket}`)).status).toBe(404)
    await clock.advance(1)
    const refused = await api.get(`/api/runs/x/events?ticket=${ticket}`)
    expect([refused.status, await refused.text()]).toEqual([
      401,
      expect.stringContaining('expired'),
    ])
  })

  it('A ticket becomes invalid with its key', async () => {
    const clock = fakeClock()
    const expiresAt = clock.now() + 1_000
    await using api = await openServer({
      clock,
      apiKeys: [apiKey(KEY, { name: 'page', expiresAt })],
    })
    const { expiresAt: until } = await ticketOf(api)
    expect(Date.parse(until)).toBe(expiresAt)
  })

  it('A ticket is valid in every process with the same keys, and in none with another key', async () => {
    const ticketSecret = TICKET_SECRET
    await using first = await serveWithKeys({ ticketSecret })
    await using second = await serveWithKeys({ ticketSecret })
    await using changed = await openServer({ apiKeys: keys(OTHER), ticketSecret })
    await using removed = await openServer({ apiKeys: keys().slice(1), ticketSecret })
    const { ticket } = await ticketOf(first)
    const statuses = [second, changed, removed].map(
      async (api) => (await api.get(`/api/runs/x/events?ticket=${ticket}`)).status,
    )
    expect(await Promise.all(statuses)).toEqual([404, 401, 401])
  })

  it('A ticket cannot be forged or changed', async () => {
    await using api = await serveWithKeys()
    const { ticket } = await ticketOf(api, 'reader-key-of-length')
    const [payload = '', signature = ''] = ticket.split('.')
    const content = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const forged = [
      `${encode({ ...content, name: 'page' })}.${signature}`,
      `${encode({ ...content, expiresAt: content.expiresAt + 1 })}.${signature}`,
      `${payload}.`,
      payload,
      `.${signature}`,
      `${payload}.${Buffer.alloc(32).toString('base64url')}`,
      `${encode(null)}.${signature}`,
      `${encode({ name: { toString: 1 }, expiresAt: 'x' })}.${signature}`,
      'x'.repeat(5_000),
      '%00',
    ]
    for (const wrong of forged) {
      expect((await api.get(`/api/runs/x/events?ticket=${wrong}`)).status).toBe(401)
    }
    expect((await api.get('/api/runs/x/events?ticket=')).status).toBe(401)
    expect(api.errors).toEqual([])
  })

  it('A ticket is refused by a server with another secret, even with the same keys', async () => {
    await using first = await serveWithKeys()
    await using second = await serveWithKeys()
    await using third = await serveWithKeys({ ticketSecret: TICKET_SECRET })
    const { ticket } = await ticketOf(first)
    for (const api of [second, third]) {
      expect((await api.get(`/api/runs/x/events?ticket=${ticket}`)).status).toBe(401)
    }
  })

  it('A ticket cannot be forged with the configured hash of a key, for WebSockets or event streams', async () => {
    await using api = await serveWithKeys()
    const [{ sha256 } = { sha256: '' }] = keys()
    const content = { name: 'page', expiresAt: Date.now() + 30_000, nonce: 'AAAAAAAAAAAAAAAA' }
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url')
    const purposes = ['tutti ticket v1.', 'tutti ticket v2.', '']
    const secrets = [sha256, Buffer.from(sha256, 'hex'), sha256.toUpperCase()]
    const signatures = secrets.flatMap((secret) => {
      const derived = createHmac('sha256', secret)
        .update(JSON.stringify(['tutti ticket v2', ['page', sha256]]))
        .digest()
      return [
        createHmac('sha256', derived).update(payload),
        ...purposes.map((purpose) => createHmac('sha256', secret).update(purpose + payload)),
      ]
    })
    for (const signature of signatures) {
      const ticket = `${payload}.${signature.digest('base64url')}`
      expect((await api.get(`/api/runs/x/events?ticket=${ticket}`)).status).toBe(401)
      await using socket = api.connect(`/ws?ticket=${ticket}`)
      expect(await socket.refused()).toBe(401)
    }
  })

  it('A ticket is refused when it is valid for longer than this server allows', async () => {
    const clock = fakeClock()
    const ticketSecret = TICKET_SECRET
    await using long = await serveWithKeys({ clock, ticketSecret, ticketTtlMs: 3_600_000 })
    await using short = await serveWithKeys({ clock, ticketSecret, ticketTtlMs: 60_000 })
    const { ticket } = await ticketOf(long)
    const path = `/api/runs/x/events?ticket=${ticket}`
    expect([(await long.get(path)).status, (await short.get(path)).status]).toEqual([404, 401])
  })

  it('A ticket requires a secret of at least 32 characters', async () => {
    await expect(serveWithKeys({ ticketSecret: 'short' })).rejects.toThrow(
      'ticketSecret must have at least 32 characters, got 5',
    )
  })

  it('A ticket grants only the rights of its key', async () => {
    await using api = await serveWithKeys()
    const { ticket } = await ticketOf(api, 'reader-key-of-length')
    await using socket = api.connect(`/ws?ticket=${ticket}`)
    await socket.next('hello')
    socket.send({ type: 'run_request', inputs: {} })
    expect(await socket.next('run_ack')).toMatchObject({ status: 'REJECTED', error: 'FORBIDDEN' })
  })

  it('A ticket is issued and accepted without configured keys, so that clients need no special case', async () => {
    await using api = await openServer()
    const { ticket } = await ticketOf(api)
    await using socket = api.connect(`/ws?ticket=${ticket}`)
    await socket.next('hello')
  })
})

function serveWithKeys(options: TestServerOptions = {}): Promise<TestServer> {
  return openServer({ apiKeys: keys(), ...options })
}

async function ticketOf(api: TestServer, key = KEY): Promise<Ticket> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await api.get('/api/tickets', { method: 'POST', headers })
  expect(response.status).toBe(201)
  return (await response.json()) as Ticket
}

async function submit(api: TestServer): Promise<string> {
  const inputs = { composer: 'Bach', hall: 'A' }
  const response = await api.post('/api/runs', { inputs }, { authorization: `Bearer ${KEY}` })
  return ((await response.json()) as { runId: string }).runId
}
