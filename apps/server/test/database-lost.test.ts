/** Tests processes whose database stops and starts again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { tcpProxy } from '../../../tooling/net/tcp-proxy.ts'
import { testServer, type TestServer } from '../../../tooling/postgres/test-database.ts'
import { recordSteps, DRAIN_MS, readEvents, numbers, POLLING, submit } from './recorded-steps.ts'

import type { ServerProcess } from './server-process.ts'

const LIMIT_MS = 60_000

let database: TestServer

beforeAll(async () => {
  database = await testServer()
}, LIMIT_MS)

afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

describe('a lost database', { timeout: LIMIT_MS }, () => {
  it('A lost database is reported by every process; runs and readers continue without a gap when it is back', async () => {
    using files = recordSteps()
    const url = { DATABASE_URL: database.url }
    await using api = await files.start({ ...url, TUTTI_ROLE: 'api' })
    await using worker = await files.start({ ...url, TUTTI_ROLE: 'worker' })
    files.hold(2)
    const runId = await submit(api)
    const reader = readEvents(api, runId)
    await files.untilBegun(runId, 2)
    await database.stop()
    for (const server of [api, worker]) {
      await expect
        .poll(() => readiness(server), POLLING)
        .toMatchObject({
          status: 503,
          reason: 'The run store cannot be reached',
        })
    }
    const refused = await fetch(`${api.url}/api/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ inputs: { topic: 'tea' } }),
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await refused.json()).toMatchObject({ error: 'STORE_UNAVAILABLE' })
    for (const path of ['/api/runs', `/api/runs/${runId}`, '/api/reviews', '/api/status']) {
      expect([path, (await fetch(`${api.url}${path}`)).status]).toEqual([path, 503])
    }
    // The call in flight ends while its result cannot be stored.
    files.release(2)
    await expect.poll(() => numbers(files.steps(runId), 'end'), POLLING).toContain(2)
    await database.start()
    for (const server of [api, worker]) {
      await expect.poll(() => readiness(server), POLLING).toMatchObject({ status: 200 })
    }
    const events = await reader
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
    expect(new Set(numbers(files.steps(runId), 'end'))).toEqual(new Set([1, 2, 3, 4]))
    expect((await readEvents(api, await submit(api))).at(-1)).toMatchObject({ status: 'COMPLETED' })
  })

  it('A lost database does not delay a stop beyond the drain time', async () => {
    using files = recordSteps()
    await using server = await files.start({ DATABASE_URL: database.url })
    files.hold(2)
    await files.untilBegun(await submit(server), 2)
    await database.kill()
    await expect.poll(() => readiness(server), POLLING).toMatchObject({ status: 503 })
    const stoppedAt = performance.now()
    await server.end('SIGTERM')
    expect(performance.now() - stoppedAt).toBeLessThan(DRAIN_MS + 10_000)
    await database.start()
  })

  it('A lost database does not delay a stop if it no longer responds', async () => {
    using files = recordSteps()
    await using proxy = await tcpProxy(database.url)
    await using server = await files.start({ DATABASE_URL: proxy.url })
    files.hold(2)
    await files.untilBegun(await submit(server), 2)
    proxy.pause()
    const stoppedAt = performance.now()
    await server.end('SIGTERM')
    expect(performance.now() - stoppedAt).toBeLessThan(DRAIN_MS + 10_000)
  })
})

describe('an unusable database', { timeout: LIMIT_MS }, () => {
  it('An unusable database is reported in one line, without the password', async () => {
    using files = recordSteps()
    const away = new URL(database.url)
    away.port = '1'
    away.password = 'very-secret'
    const wrong = new URL(database.url)
    wrong.password = 'very-secret'
    for (const [url, reason] of [
      [away, /ECONNREFUSED/],
      [wrong, /password authentication failed/],
    ] as const) {
      const { code, output, errors } = await files.refused({ DATABASE_URL: url.href })
      expect([code, output]).toEqual([1, ''])
      expect(errors).toMatch(/^Cannot .*Postgres.*\n$/)
      expect(errors).toMatch(reason)
      expect(errors).not.toContain('very-secret')
    }
  })
})

/** Returns the response of the readiness probe. */
async function readiness({ url }: ServerProcess): Promise<object> {
  const response = await fetch(`${url}/api/health/ready`)
  return { ...((await response.json()) as object), status: response.status }
}
