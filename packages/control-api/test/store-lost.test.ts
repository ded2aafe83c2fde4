import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { serveControlApi } from '@tutti/control-api'
import { toolCatalog, TuttiError } from '@tutti/core'
import { decode, ROUTES } from '@tutti/protocol'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import type { StoreNotification, RunStorage } from '@tutti/runs/adapter'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { frames, Socket } from './open-server.ts'

const RUN = { inputs: {} }

describe('a server without its run store', () => {
  it('A server without its run store reports that the server is not ready and why, until the store is back', async () => {
    await using api = await serveLosableStore()
    const ready = async () => {
      const response = await fetch(`${api.url}/api/health/ready`)
      const body: unknown = await response.json()
      expect(decode(ROUTES.getReadiness.response, body)).toMatchObject({ ok: true })
      return [response.status, body]
    }
    const yes = [200, { status: 'READY', lifecycleState: 'READY' }]
    expect(await ready()).toEqual(yes)
    api.lose()
    expect(await ready()).toEqual([
      503,
      {
        status: 'NOT_READY',
        lifecycleState: 'READY',
        reason: 'The run store cannot be reached',
      },
    ])
    expect((await fetch(`${api.url}/api/health/live`)).status).toBe(200)
    api.restore()
    expect(await ready()).toEqual(yes)
  })

  it('A server without its run store returns 503 and the time to wait for every request, and never 500', async () => {
    await using api = await serveLosableStore()
    const runId = await api.submit()
    api.lose()
    for (const [method, path, body] of [
      ['POST', '/api/runs', RUN],
      ['GET', '/api/runs', undefined],
      ['GET', `/api/runs/${runId}`, undefined],
      ['GET', `/api/runs/${runId}/events`, undefined],
      ['POST', `/api/runs/${runId}/cancel`, {}],
      ['POST', `/api/runs/${runId}/model`, { model: 'small' }],
      ['POST', `/api/runs/${runId}/inject`, { content: 'x' }],
      ['GET', '/api/reviews', undefined],
      ['POST', '/api/reviews/review-1', { decision: 'CONTINUE' }],
      ['GET', '/api/status', undefined],
    ] as const) {
      const response = await api.request(method, path, body)
      expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 503, '5'])
      expect(await response.json()).toMatchObject({
        error: 'STORE_UNAVAILABLE',
        retryAfterMs: 5_000,
      })
    }
  })

  it('A server without its run store ends an event stream that cannot be read, and resumes it later at the same position', async () => {
    await using api = await serveLosableStore()
    const runId = await api.submit()
    await api.ended(runId)
    // The first page can be read, the next one cannot.
    api.loseAfterReads(1)
    const first = await fetch(`${api.url}/api/runs/${runId}/events`)
    const ids: string[] = []
    for await (const { id } of frames(first)) if (id !== undefined) ids.push(id)
    const read = ids.length
    expect(read).toBeGreaterThan(0)
    api.restore()
    const second = await fetch(`${api.url}/api/runs/${runId}/events`, {
      headers: { 'last-event-id': ids.at(-1) ?? '' },
    })
    for await (const { id } of frames(second)) if (id !== undefined) ids.push(id)
    expect(ids).toEqual(ids.map((_, seq) => `${runId}:${seq}`))
    expect(ids.length).toBeGreaterThan(Math.max(501, read))
  })

  it('A server without its run store closes a WebSocket that reads a run with 1013 and the event to resume after', async () => {
    await using api = await serveLosableStore()
    const runId = await api.submit()
    await api.ended(runId)
    await using socket = new Socket(`${api.url}/ws`, {})
    await socket.next('hello')
    const closed = socket.closed()
    api.loseAfterReads(1)
    socket.send({ type: 'subscribe', events: ['*'], runId, from: 0 })
    expect(await closed).toEqual([
      1013,
      expect.stringMatching(
        `^The server failed to read the run; last event sent: ${runId}:[1-9][0-9]?$`,
      ),
    ])
  })

  it('A server without its run store closes a new WebSocket with 1013 before hello', async () => {
    await using api = await serveLosableStore()
    api.lose()
    await using socket = new Socket(`${api.url}/ws`, {})
    expect(await socket.closed()).toEqual([1013, 'The server failed to read its runs'])
  })
})

/** Serves a control API over a store that can be lost. Its run has more events than one page. */
async function serveLosableStore() {
  const path = mkdtempSync(join(tmpdir(), 'tutti-api-'))
  const store = createLosableStorage(await sqliteRunStorage(path))
  const model = scriptedModel(() => 'La la')
  const verses = Array.from({ length: 100 }, (_, verse) => `Sing verse ${verse}`)
  const tasks = verses.map((description) => task({ description }))
  const song = ensemble({ name: 'song', tasks, model })
  const models = modelCatalog({ small: model })
  const runs = createRunService(store.storage, [song], { models })
  const api = await serveControlApi(
    { runs, models, tools: toolCatalog([]), extensions: EXTENSIONS },
    { port: 0 },
  )
  await runs.start()
  const request = (method: string, route: string, body?: unknown) =>
    fetch(`${api.url}${route}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return {
    ...store,
    url: api.url,
    request,
    async submit() {
      const { runId } = (await (await request('POST', '/api/runs', RUN)).json()) as {
        runId: string
      }
      return runId
    },
    async ended(runId: string) {
      for await (const _ of runs.follow({ runId, from: 0 }));
    },
    async [Symbol.asyncDispose]() {
      store.restore()
      await runs.close({ drainTimeoutMs: 5_000 })
      await api.close()
      rmSync(path, { recursive: true })
    },
  }
}

/** Store that fails every call while it is lost, like Postgres without its server. */
function createLosableStorage(inner: RunStorage) {
  let readsLeft = Infinity
  let lost = false
  const listeners = new Set<(notice: StoreNotification) => void>()
  const notify = (isAvailable: boolean): void => {
    for (const listener of listeners) listener({ kind: 'availability', isAvailable })
  }
  const check = (method: string): void => {
    if (method === 'read') {
      readsLeft -= 1
      lost ||= readsLeft < 0
    }
    if (lost) throw new TuttiError('STORE_UNAVAILABLE', 'The database is away', { retryable: true })
  }
  const guarded = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name: keyof Port & string) {
        const member = target[name]
        if (typeof member !== 'function') return member
        return async (...args: unknown[]) => {
          check(name)
          return member.apply(target, args)
        }
      },
    })
  const storage: RunStorage = {
    runs: guarded(inner.runs),
    threads: guarded(inner.threads),
    queue: guarded(inner.queue),
    dispatcher: guarded(inner.dispatcher),
    commands: guarded(inner.commands),
    events: guarded(inner.events),
    outbox: guarded(inner.outbox),
    audit: guarded(inner.audit),
    builds: guarded(inner.builds),
    secrets: guarded(inner.secrets),
    externalEvents: guarded(inner.externalEvents),
    schedules: guarded(inner.schedules),
    memories: guarded(inner.memories),
    reflections: guarded(inner.reflections),
    processName: inner.processName,
    isShared: inner.isShared,
    clock: inner.clock,
    get isAvailable() {
      return !lost
    },
    listen(listener) {
      listeners.add(listener)
      const stop = inner.listen(listener)
      return () => {
        listeners.delete(listener)
        stop()
      }
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }
  return {
    storage,
    lose() {
      lost = true
      notify(false)
    },
    /** Allows a number of further reads of events. */
    loseAfterReads(count: number) {
      readsLeft = count
    },
    restore() {
      readsLeft = Infinity
      lost = false
      notify(true)
    },
  }
}
