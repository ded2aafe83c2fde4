/** The routes and sockets of a server with a stored run that is damaged, and with requests that would damage one. */
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'

import { serveControlApi } from '@tutti/control-api'
import { toolCatalog } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService, type RunService, sqliteRunStorage } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'

import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'

const directory = mkdtempSync(join(tmpdir(), 'tutti-damaged-'))
const logged: string[] = []
const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (message: string) => logged.push(message),
}

let service: RunService
let server: Awaited<ReturnType<typeof serveControlApi>>

beforeAll(async () => {
  const model = scriptedModel(() => 'done', { maxRequests: 0 })
  const reviewed = ensemble({
    name: 'reviewed',
    model,
    tasks: [task({ name: 'write', description: 'Write', review: { timeoutMs: 60_000 } })],
  })
  service = createRunService(await sqliteRunStorage(directory), [reviewed], {
    logger,
    parkAfterMs: 1,
  })
  await service.start()
  const parts = {
    runs: service,
    tools: toolCatalog([]),
    models: modelCatalog({}),
    logger,
    extensions: EXTENSIONS,
  }
  server = await serveControlApi(parts, { port: 0 })
})

afterAll(async () => {
  await service.close({ drainTimeoutMs: 1_000 })
  await server.close()
  rmSync(directory, { recursive: true })
})

async function get(path: string): Promise<Response> {
  return fetch(new URL(path, server.url))
}

async function post(path: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(new URL(path, server.url), { method: 'POST', headers, body: JSON.stringify(body) })
}

/** Submits a run and waits until it is parked for its review. */
async function submitReviewed(runId: string): Promise<void> {
  expect((await post('/api/runs', { runId })).status).toBe(202)
  await expect
    .poll(async () => (await (await get(`/api/runs/${runId}`)).json()).status)
    .toBe('WAITING_REVIEW')
}

function damage(sql: string): void {
  const database = new DatabaseSync(join(directory, 'runs.sqlite'))
  database.exec(sql)
  database.close()
}

async function readHello(): Promise<string> {
  const socket = new WebSocket(new URL('/ws', server.url.replace(/^http/, 'ws')))
  try {
    return await new Promise((resolve, reject) => {
      socket.once('message', (data: Buffer) => {
        // NOTE: every message of the server is a JSON object with a type.
        resolve((JSON.parse(data.toString()) as { type: string }).type)
      })
      socket.once('close', (code, reason) => {
        reject(new Error(`closed with ${code} ${String(reason)}`))
      })
      socket.once('error', reject)
    })
  } finally {
    socket.terminate()
  }
}

describe('a time limit that cannot be added to the time', () => {
  it('A time limit that cannot be added to the time is refused with the field and its maximum', async () => {
    const review = { timeoutMs: 9_007_199_254_740_991, onTimeout: 'FAIL' }
    const response = await post('/api/runs', { tasks: [{ name: 'x', description: 'x', review }] })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: 'BAD_REQUEST',
      problems: [
        {
          path: '/tasks/0/review/timeoutMs',
          message: 'must be <= 3153600000000, got 9007199254740991',
        },
      ],
    })
    expect((await get('/api/reviews')).status).toBe(200)
    expect(await readHello()).toBe('hello')
  })
})

describe('a stored run that is damaged', () => {
  it('A stored run that is damaged does not affect the lists, inboxes and sockets of others, and can be read, cancelled and deleted', async () => {
    await submitReviewed('run-bad')
    await submitReviewed('run-good')
    damage(`
      UPDATE runs SET started_at = 9223372036854774784 WHERE run_id = 'run-bad';
      UPDATE reviews SET request = '{"cut', expires_at = 9223372036854774784
        WHERE run = (SELECT id FROM runs WHERE run_id = 'run-bad');
      UPDATE events SET data = '{"cut'
        WHERE type = 'task_started' AND key >> 32 = (SELECT id FROM runs WHERE run_id = 'run-bad')`)
    const inbox = await (await get('/api/reviews')).json()
    expect(inbox).toMatchObject({
      total: 2,
      reviews: [
        { runId: 'run-bad', unreadable: expect.stringMatching(/request: .*expires_at: /) },
        { runId: 'run-good' },
      ],
    })
    const list = await (await get('/api/runs')).json()
    expect(list).toMatchObject({
      runs: [
        { runId: 'run-good' },
        { runId: 'run-bad', unreadable: expect.stringContaining('started_at: ') },
      ],
    })
    expect(await readHello()).toBe('hello')
    expect((await get('/metrics')).status).toBe(200)
    expect(await (await get('/api/runs/run-bad')).json()).toMatchObject({
      runId: 'run-bad',
      unreadable: expect.stringContaining('started_at: '),
    })
    const abort = await get('/api/runs/run-bad/events?from=0&events=event_unreadable')
    expect(abort.status).toBe(200)
    await abort.body?.cancel()
    const decision = await post(`/api/reviews/${inbox.reviews[0].reviewId}`, {
      decision: 'CONTINUE',
    })
    expect(decision.status).toBe(400)
    expect(logged).toContain('Cannot read a part of a stored record')
    expect((await post('/api/runs/run-bad/cancel', {})).status).toBe(200)
    await expect
      .poll(async () => (await (await get('/api/runs/run-bad')).json()).status)
      .toBe('CANCELLED')
    const gone = await fetch(new URL('/api/runs/run-bad', server.url), { method: 'DELETE' })
    expect(gone.status).toBeLessThan(300)
    expect((await (await get('/api/runs')).json()).runs).toMatchObject([{ runId: 'run-good' }])
  })
})
