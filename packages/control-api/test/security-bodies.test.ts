import { describe, expect, it } from 'vitest'

import { codesOf, exchange, head } from './raw-exchange.ts'
import { openServer } from './open-server.ts'

import type { ErrorBody } from '@tutti/protocol'

const INPUTS = { composer: 'Bach', hall: 'A' }

/** Number of levels that fit into a body. */
const DEEP = 200_000

const deepList = `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`
const deepObject = `${'{"a":'.repeat(DEEP / 2)}1${'}'.repeat(DEEP / 2)}`

describe('deeply nested bodies', () => {
  it.each([
    ['a list', deepList],
    ['an object', deepObject],
    ['lists that never close', '['.repeat(DEEP)],
    ['the inputs', `{"inputs":{"composer":${deepList}}}`],
    ['an output schema', `{"tasks":[{"description":"x","outputSchema":{"a":${deepObject}}}]}`],
    ['129 levels', `{"inputs":${'['.repeat(128)}${']'.repeat(128)}}`],
  ])(
    'Deeply nested bodies with %s get 400 that names the nesting, over REST and WebSocket alike',
    async (_, body) => {
      await using api = await openServer()
      const response = await api.post('/api/runs', body)
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: 'BAD_REQUEST', message: expect.stringContaining('nested at most 128 deep') },
      ])
      await using socket = api.connect()
      await socket.next('hello')
      socket.send(body)
      expect(await socket.next('error')).toMatchObject({
        error: 'BAD_REQUEST',
        message: expect.stringContaining('nested at most 128 deep'),
      })
      socket.send({ type: 'ping' })
      await socket.next('pong')
      expect(api.errors).toEqual([])
    },
  )

  it('Brackets within a text do not count as nesting', async () => {
    await using api = await openServer()
    const composer = `${'['.repeat(500)}"\\${'{'.repeat(500)}`
    const response = await api.post('/api/runs', { inputs: { ...INPUTS, composer } })
    expect(response.status).toBe(202)
    const { runId } = (await response.json()) as { runId: string }
    expect((await api.detail(runId)).inputs).toEqual({ ...INPUTS, composer })
  })
})

describe('prototype names', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']
  /** Bodies with a name at every path that accepts arbitrary names, and at paths that do not. */
  const bodies: readonly ((name: string) => string)[] = [
    (name) => `{"${name}":{"polluted":"yes"}}`,
    (name) => `{"inputs":{"${name}":"yes","composer":"Bach","hall":"A"}}`,
    (name) => `{"inputs":{"composer":"Bach","hall":"A"},"tags":{"${name}":"yes"}}`,
    (name) =>
      `{"inputs":{"composer":"Bach","hall":"A"},"taskOverrides":{"${name}":{"description":"x"}}}`,
    (name) =>
      `{"inputs":{"composer":"Bach","hall":"A"},"taskOverrides":{"tune":{"${name}":{"polluted":"yes"}}}}`,
    (name) => `{"inputs":{"composer":"Bach","hall":"A"},"options":{"${name}":{"polluted":"yes"}}}`,
    (name) => `{"tasks":[{"description":"x","${name}":{"polluted":"yes"}}]}`,
    (name) =>
      `{"tasks":[{"description":"x","outputSchema":{"type":"object","properties":{"${name}":{"type":"string"}}}}]}`,
    (name) => `{"inputs":{"composer":"Bach","hall":"A"},"ensemble":"${name}"}`,
    (name) => `{"inputs":{"composer":"Bach","hall":"A"},"webhooks":["${name}"]}`,
    (name) => `{"tasks":[{"description":"x","tools":["${name}"]}]}`,
    (name) => `{"tasks":[{"description":"x","model":"${name}"}]}`,
    (name) => `{"tasks":[{"name":"${name}","description":"x"}]}`,
  ]

  it.each(names)(
    '%s in a submission is data or refused, and changes no prototype',
    async (name) => {
      await using api = await openServer()
      for (const bodyWith of bodies) {
        const response = await api.post('/api/runs', bodyWith(name))
        // 503, because this server has no tools that a request could name.
        expect([202, 400, 503]).toContain(response.status)
        await response.text()
        expectClean()
      }
      await using socket = api.connect()
      await socket.next('hello')
      for (const bodyWith of bodies) socket.send(`{"type":"run_request",${bodyWith(name).slice(1)}`)
      await expect
        .poll(
          () => socket.received.filter(({ type }) => type === 'run_ack' || type === 'error').length,
          {
            timeout: 15_000,
          },
        )
        .toBe(bodies.length)
      expectClean()
      expect(api.errors).toEqual([])
    },
  )

  it.each(names)('%s in a tag is returned unchanged, and finds its run', async (name) => {
    await using api = await openServer()
    const body = `{"inputs":{"composer":"Bach","hall":"A"},"tags":{"${name}":"yes"}}`
    const response = await api.post('/api/runs', body)
    expect(response.status).toBe(202)
    const found = await api.get(`/api/runs?tag=${name}:yes`)
    expect(await found.json()).toMatchObject({ total: 1 })
    expect((await (await api.get('/api/runs?tag=other')).json()) as object).toMatchObject({
      total: 0,
    })
    expectClean()
  })

  it.each(names)('%s in other bodies, queries and paths gets a status below 500', async (name) => {
    await using api = await openServer()
    api.play()
    const runId = await api.submit()
    const polluting = `{"${name}":{"polluted":"yes"}}`
    const answers = await Promise.all([
      api.post(`/api/runs/${runId}/cancel`, polluting),
      api.post('/api/runs/cancel', polluting),
      api.post(`/api/runs/${runId}/model`, `{"model":"${name}"}`),
      api.post(`/api/runs/${runId}/model`, `{"model":"small","taskName":"${name}"}`),
      api.post(`/api/runs/${runId}/inject`, `{"content":"x","target":"${name}"}`),
      api.post(`/api/reviews/${name}`, '{"decision":"CONTINUE"}'),
      api.post(`/api/tools/${name}/invoke`, '{"input":{}}'),
      api.post('/api/tools/wait/invoke', `{"input":${polluting}}`),
      api.get(`/api/runs?${name}=1`),
      api.get(`/api/runs/${name}`),
      api.get(`/api/runs/${runId}/events?events=${name}`),
      api.get(`/${name}`),
    ])
    for (const answer of answers) {
      expect([answer.url, answer.status < 500]).toEqual([answer.url, true])
      await answer.text()
    }
    expectClean()
    expect(api.errors).toEqual([])
    api.play()
  })
})

describe('bodies that are not JSON', () => {
  it.each([
    ['broken UTF-8', Buffer.from('{"inputs":{"a":"\xff"}}', 'latin1')],
    ['half a character', Buffer.from('{"inputs":{"a":"\xe2\x82"}}', 'latin1')],
    ['UTF-16', Buffer.from('{"inputs":{}}', 'utf16le')],
    ['a null byte', Buffer.from('{"inputs":\u0000{}}')],
    ['two values', Buffer.from('{} {}')],
    ['NaN', Buffer.from('{"inputs":NaN}')],
    ['white space alone', Buffer.from('   ')],
  ])('Bodies that are not JSON with %s get 400', async (_, body) => {
    await using api = await openServer()
    const headers = { 'content-type': 'application/json' }
    const response = await api.get('/api/runs', { method: 'POST', body, headers })
    expect([response.status, await errorOf(response)]).toEqual([400, 'BAD_REQUEST'])
    await using socket = api.connect()
    await socket.next('hello')
    socket.socket.send(body, { binary: true })
    expect(await socket.next('error')).toMatchObject({ error: 'BAD_REQUEST' })
    expect(api.errors).toEqual([])
  })

  it('Bodies that are not JSON that are too long close only their own WebSocket', async () => {
    await using api = await openServer({ maxBodyBytes: 1_000 })
    await using long = api.connect()
    await using other = api.connect()
    await Promise.all([long.next('hello'), other.next('hello')])
    const closed = long.closed()
    long.send({ type: 'state_query', requestId: 'x'.repeat(2_000), query: 'runs' })
    expect((await closed)[0]).toBe(1009)
    other.send({ type: 'ping' })
    await other.next('pong')
  })
})

describe('bodies with a form content type', () => {
  it.each([
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ])(
    'Bodies with a form content type get 415 in a POST with %s, as any page can send, also without a body',
    async (type) => {
      await using api = await openServer()
      const runId = await api.submit()
      for (const path of [`/api/runs/${runId}/cancel`, '/api/tickets', '/api/lifecycle/drain']) {
        for (const body of ['', '{}']) {
          const request = head(
            `POST ${path} HTTP/1.1`,
            `Content-Type: ${type}`,
            `Content-Length: ${body.length}`,
          )
          expect(codesOf(await exchange(api.url, request + body))).toEqual([
            [415, 'UNSUPPORTED_MEDIA_TYPE'],
          ])
        }
      }
      expect((await api.detail(runId)).status).not.toMatch(/CANCEL/)
      api.play()
    },
  )
})

async function errorOf(response: Response): Promise<string> {
  return ((await response.json()) as ErrorBody).error
}

function expectClean(): void {
  const fresh: Record<string, unknown> = {}
  expect([fresh['polluted'], Object.prototype.toString.call(fresh)]).toEqual([
    undefined,
    '[object Object]',
  ])
  expect(Object.keys(Object.prototype)).toEqual([])
}
