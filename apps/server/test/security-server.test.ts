import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { ServerProcess, temporaryDirectory } from './server-process.ts'

import type { RunDetail } from '@tutti/protocol'
import type { AuditList } from '@tutti/protocol/internal'

const CONFIG = fileURLToPath(new URL('./fixtures/guarded.config.ts', import.meta.url))
const ADMIN = 'admin-key-of-length'
const HASHED = 'hashed-key-of-length'
const HASH = createHash('sha256').update(HASHED).digest('hex')

describe('a server on a public address', () => {
  it('A server on a public address does not start without keys, and explains what to do', async () => {
    using data = temporaryDirectory()
    for (const HOST of ['0.0.0.0', '::']) {
      const { code, errors } = await ServerProcess.refused({ HOST, TUTTI_DATA_DIR: data.path })
      expect([code, errors]).toEqual([
        1,
        expect.stringContaining('Set TUTTI_API_KEYS or auth.keys'),
      ])
    }
  })

  it('A server on a public address starts with keys from the config only', async () => {
    using data = temporaryDirectory()
    await using server = await start(data.path, { HOST: '0.0.0.0' })
    const url = server.url.replace('0.0.0.0', '127.0.0.1')
    expect((await fetch(`${url}/api/runs`)).status).toBe(401)
    expect((await ask(url, '/api/runs', 'reader-key-of-length')).status).toBe(200)
  })
})

describe('keys of a server', () => {
  it('Keys of a server are read from the environment and the config, plain and hashed, with scopes', async () => {
    using data = temporaryDirectory()
    const TUTTI_API_KEYS = `${ADMIN},ci:runs:read+runs:write:sha256:${HASH}`
    await using server = await start(data.path, { TUTTI_API_KEYS })
    const statuses = async (key: string) => [
      (await ask(server.url, '/api/audit', key)).status,
      (await ask(server.url, '/api/runs', key)).status,
      (await ask(server.url, '/api/runs', key, {})).status,
    ]
    expect(await statuses(ADMIN)).toEqual([200, 200, 202])
    expect(await statuses(HASHED)).toEqual([403, 200, 202])
    expect(await statuses('reader-key-of-length')).toEqual([403, 200, 403])
    expect(await statuses('old-key-of-some-length')).toEqual([401, 401, 401])
    expect(await statuses(HASH)).toEqual([401, 401, 401])
    const page = { authorization: `Bearer ${ADMIN}`, origin: 'https://app.example.com' }
    const answer = await fetch(`${server.url}/api/runs`, { headers: page })
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example.com')
  })

  it('Keys of a server prevent a start when they are invalid, with every problem and without the keys', async () => {
    using data = temporaryDirectory()
    const { code, errors } = await ServerProcess.refused({
      TUTTI_DATA_DIR: data.path,
      TUTTI_API_KEYS: `short,a:root:${ADMIN},b:sha256:secret`,
      PORT: 'x',
    })
    expect(code).toBe(1)
    expect(errors.split('\n').filter((line) => line.startsWith('  '))).toHaveLength(4)
    expect(errors).not.toMatch(/short,|admin-key|secret/)
  })
})

describe('secrets of a server', () => {
  it('Secrets of a server do not appear in logs, errors, events and responses', async () => {
    using data = temporaryDirectory()
    await using server = await start(data.path, {
      TUTTI_API_KEYS: ADMIN,
      SOME_TOKEN: 'env-secret-value',
    })
    const submitted = await ask(server.url, '/api/runs?wait=30', ADMIN, { runId: 'one' })
    const detail = (await submitted.json()) as RunDetail
    expect(detail.tasks[0]?.output).toBe('I heard [redacted] [redacted]')
    const events = await (await ask(server.url, '/api/runs/one/events?from=0', ADMIN)).text()
    const whole = events.split('\n\n').filter((frame) => !frame.includes('event: token'))
    expect(whole.join()).not.toMatch(/env-secret-value|config-secret-value/)
    for (const name of [ADMIN, 'env-secret-value', 'reader-key-of-length']) {
      const body = { ensemble: name }
      expect(await (await ask(server.url, '/api/runs', ADMIN, body)).text()).not.toContain(name)
      await ask(server.url, '/api/runs', `${name}-wrong`)
    }
    expect(server.errors).toContain('Refused a request without a valid key')
    expect(server.errors).not.toMatch(/env-secret|config-secret|-key-of-length/)
  })

  it('Secrets of a server do not appear in the message of a failed start', async () => {
    const DATABASE_URL = 'postgres://user:pass-of-database@127.0.0.1:1/pass-of-database'
    const { code, errors } = await ServerProcess.refused({ DATABASE_URL })
    expect(code).toBe(1)
    expect(errors).not.toContain('pass-of-database')
  })
})

describe('the cost of runs', () => {
  it('The cost of runs is known for models in the price list without configuration', async () => {
    using data = temporaryDirectory()
    await using server = await start(data.path, { TUTTI_API_KEYS: ADMIN })
    const answer = await ask(server.url, '/api/runs?wait=30', ADMIN, {})
    const { metrics } = (await answer.json()) as RunDetail
    expect(metrics.costUsd).toBeGreaterThan(0)
  })
})

describe('a drain request', () => {
  it('A drain request ends the process like SIGTERM, and is recorded in the audit trail', async () => {
    using data = temporaryDirectory()
    const server = await start(data.path, { TUTTI_API_KEYS: ADMIN })
    expect((await ask(server.url, '/api/lifecycle/drain', 'reader-key-of-length', {})).status).toBe(
      403,
    )
    expect((await ask(server.url, '/api/lifecycle/drain', ADMIN, {})).status).toBe(200)
    expect(await server.ended()).toBe(0)
    await using again = await start(data.path, { TUTTI_API_KEYS: ADMIN })
    const { entries } = (await (await ask(again.url, '/api/audit', ADMIN)).json()) as AuditList
    expect(entries.map(({ actor, action, outcome }) => [actor, action, outcome])).toEqual([
      ['key-1', 'drain', 'DONE'],
      ['reader', 'drain', 'REFUSED'],
    ])
  })
})

describe('an attacked server', () => {
  it('An attacked server continues, logs no error, and stops cleanly', async () => {
    using data = temporaryDirectory()
    await using server = await start(data.path, { TUTTI_API_KEYS: ADMIN })
    const garbage = [
      Buffer.alloc(100_000, 0xff),
      Buffer.from('GET / HTTP/1.1\r\n'.repeat(1_000)),
      Buffer.from(
        `GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n${'x'.repeat(9_999)}`,
      ),
      Buffer.from('\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc'),
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    ]
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => send(server.url, garbage[n % garbage.length]!)),
    )
    expect((await ask(server.url, '/api/runs', ADMIN)).status).toBe(200)
    expect(server.errors).not.toContain('"level":"error"')
    expect(await server.end('SIGTERM')).toBe(0)
  })
})

function start(path: string, environment: Record<string, string>): Promise<ServerProcess> {
  return ServerProcess.start({ TUTTI_DATA_DIR: path, TUTTI_CONFIG: CONFIG, ...environment })
}

/** Sends a request with a key: POST with a body, otherwise GET. */
function ask(url: string, path: string, key: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const method = body === undefined ? 'GET' : 'POST'
  return fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

/** Sends bytes on a new connection, and waits until it is closed. */
function send(url: string, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.end(bytes))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    socket.resume()
  })
}
