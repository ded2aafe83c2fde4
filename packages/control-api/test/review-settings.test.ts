/** Timeout, role and timeout action of reviews, set by operators and requests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { apiKey, serveControlApi, type ApiKey } from '@tutti/control-api'
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage, type RunServiceOptions } from '@tutti/runs'
import type { ReviewRules } from '@tutti/runs/internal'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { Socket } from './open-server.ts'

import type { PendingReview, RunDetail } from '@tutti/protocol'
import type { AuditList, ReviewList } from '@tutti/protocol/internal'

const DAY_MS = 86_400_000

const POLL = { timeout: 60_000 }

const TASKS = [{ name: 'draft', description: 'Draft it', review: 'required' }]

describe('the time limit of a review', () => {
  it.each([
    ['parked', 0],
    ['in memory', 100 * DAY_MS],
  ])(
    'The time limit of a review can be three days in a run defined by a request, %s',
    async (_, parkAfterMs) => {
      await using api = await openReviewServer({ limits: { parkAfterMs, pollMs: 3_600_000 } })
      const review = { timeoutMs: 3 * DAY_MS, onTimeout: 'FAIL' }
      const runId = await api.submit({ tasks: TASKS, options: { review } })
      const [open] = await api.reviews(1)
      expect(open).toMatchObject({ ...review, taskName: 'draft' })
      const status = async () => (await api.detail(runId)).status
      await expect.poll(status, POLL).toBe('WAITING_REVIEW')
      await api.clock.advance(3 * DAY_MS - 60_000)
      expect(await status()).toBe('WAITING_REVIEW')
      await api.clock.advance(2 * 3_600_000)
      await expect.poll(status, POLL).toBe('FAILED')
    },
  )

  it('The time limit of a review can be unlimited', async () => {
    await using api = await openReviewServer()
    await api.submit({ tasks: TASKS, options: { review: { timeoutMs: 0 } } })
    const [open] = await api.reviews(1)
    expect(open).toMatchObject({ timeoutMs: 0, onTimeout: 'EXIT_EARLY' })
    expect(open).not.toHaveProperty('expiresAt')
  })

  it('The time limit of a review is that of the task, the run, the ensemble or the server, in this order', async () => {
    await using api = await openReviewServer({
      rules: { timeoutMs: 4_000, onTimeout: 'FAIL', requiredRole: 'a' },
    })
    const seen = async (ensembleName: string, body: object) => {
      const runId = await api.submit({ ensemble: ensembleName, ...body })
      const found = await api.reviewOf(runId)
      await api.post(`/api/runs/${runId}/cancel`, {})
      return [found.timeoutMs, found.onTimeout, found.requiredRole]
    }
    const review = { timeoutMs: 2_000 }
    const own = [{ ...TASKS[0], review: { timeoutMs: 1_000, onTimeout: 'EXIT_EARLY' } }]
    expect(await seen('plain', { tasks: own, options: { review } })).toEqual([
      1_000,
      'EXIT_EARLY',
      'a',
    ])
    expect(await seen('plain', { tasks: TASKS, options: { review } })).toEqual([2_000, 'FAIL', 'a'])
    expect(await seen('strict', { tasks: TASKS })).toEqual([3_000, 'FAIL', 'legal'])
    expect(await seen('plain', { tasks: TASKS })).toEqual([4_000, 'FAIL', 'a'])
  })

  it('The time limit of a review for a tool that requires approval is that of the run, with its role', async () => {
    await using api = await openReviewServer()
    const review = { timeoutMs: DAY_MS, onTimeout: 'FAIL', requiredRole: 'ops' }
    await api.submit({ ensemble: 'tool', options: { review } })
    const [open] = await api.reviews(1)
    expect(open).toMatchObject({ ...review, timing: 'DURING_EXECUTION', toolName: 'deploy' })
  })

  it('The time limit of a review can be set in a run_request, and an error in it has a path', async () => {
    await using api = await openReviewServer()
    await using socket = new Socket(`${api.url}/ws`, {})
    await socket.next('hello')
    const review = { timeoutMs: 5_000, onTimeout: 'FAIL' }
    socket.send({ type: 'run_request', requestId: 'q', tasks: TASKS, options: { review } })
    await socket.next('run_ack')
    const [open] = await api.reviews(1)
    expect(open).toMatchObject(review)
    const refused = await api.post('/api/runs', {
      tasks: [{ description: 'x', review: { timeout: 5 } }],
      options: { review: { timeoutMs: -1, onTimeout: 'MAYBE', requiredRole: '' } },
    })
    const answer = await refused.json()
    expect([refused.status, answer]).toMatchObject([400, { error: 'BAD_REQUEST' }])
    expect(JSON.stringify(answer)).toContain('/options/review/onTimeout')
    expect(JSON.stringify(answer)).toContain('/tasks/0/review')
  })
})

describe('a review required by the operator', () => {
  it.each([
    [{ options: { reviewPolicy: 'NEVER' } }, '/options/reviewPolicy'],
    [{ taskOverrides: { pay: { review: 'skip' } } }, '/taskOverrides/pay/review'],
    [{ tasks: [{ description: 'x', review: 'skip' }] }, '/tasks/0/review'],
    [{ options: { review: { onTimeout: 'CONTINUE' } } }, '/options/review/onTimeout'],
  ])(
    'A review required by the operator is not removed by %j, which is refused with the name of the option',
    async (body, path) => {
      await using api = await openReviewServer()
      const refused = await api.post('/api/runs', { ensemble: 'strict', ...body })
      const answer: { problems: { path: string }[] } = await refused.json()
      expect([refused.status, answer]).toMatchObject([400, { error: 'BAD_REQUEST' }])
      expect(answer.problems.map((problem) => problem.path)).toEqual([path])
      await using socket = new Socket(`${api.url}/ws`, {})
      await socket.next('hello')
      socket.send({ type: 'run_request', requestId: 'q', ensemble: 'strict', ...body })
      expect(await socket.next('run_ack')).toMatchObject({
        status: 'REJECTED',
        error: 'BAD_REQUEST',
      })
    },
  )

  it('A review required by the operator is removed by a request if the operator allows it', async () => {
    await using api = await openReviewServer({ rules: { allowOverride: true } })
    const body = {
      ensemble: 'strict',
      options: { reviewPolicy: 'NEVER' },
      taskOverrides: { pay: { review: 'skip' } },
    }
    const runId = await api.submit(body)
    await expect.poll(async () => (await api.detail(runId)).status, POLL).toBe('COMPLETED')
  })
})

describe('the required role of a review', () => {
  const KEYS = [
    apiKey('the-key-of-the-lead', { name: 'lead', roles: ['legal'] }),
    apiKey('the-key-of-a-colleague', { name: 'colleague', roles: ['ops'] }),
    apiKey('the-key-of-the-admin', { name: 'admin', scopes: ['admin'] }),
  ]

  it('The required role of a review is required of the key that decides, over REST and WebSocket, and every attempt is audited', async () => {
    await using api = await openReviewServer({ keys: KEYS, key: 'the-key-of-the-lead' })
    const runId = await api.submit({ ensemble: 'strict' })
    const { reviewId } = await api.reviewOf(runId)
    const allowed = async (key: string): Promise<unknown> => {
      const list: ReviewList = await (await api.get('/api/reviews', key)).json()
      return list.reviews.map(({ mayDecide }) => mayDecide)
    }
    expect(await allowed('the-key-of-the-lead')).toEqual([true])
    expect(await allowed('the-key-of-a-colleague')).toEqual([false])
    expect(await allowed('the-key-of-the-admin')).toEqual([false])
    const decide = (key: string) =>
      api.post(`/api/reviews/${reviewId}`, { decision: 'CONTINUE' }, key)
    for (const key of ['the-key-of-a-colleague', 'the-key-of-the-admin']) {
      const refused = await decide(key)
      expect([refused.status, await refused.json()]).toMatchObject([
        403,
        { error: 'FORBIDDEN', message: expect.stringContaining('requires the role "legal"') },
      ])
    }
    await using socket = new Socket(`${api.url}/ws`, {
      authorization: 'Bearer the-key-of-a-colleague',
    })
    await socket.next('hello')
    socket.send({ type: 'review_decision', reviewId, decision: 'CONTINUE' })
    expect(await socket.next('error')).toMatchObject({ error: 'FORBIDDEN' })
    expect((await decide('the-key-of-the-lead')).status).toBe(200)
    await expect.poll(async () => (await api.detail(runId)).status, POLL).not.toBe('FAILED')
    const audit: AuditList = await (await api.get('/api/audit', 'the-key-of-the-admin')).json()
    const tries = audit.entries.filter(({ target }) => target === reviewId)
    expect(tries.map(({ actor, outcome, error }) => [actor, outcome, error]).toReversed()).toEqual([
      ['colleague', 'REFUSED', 'FORBIDDEN'],
      ['admin', 'REFUSED', 'FORBIDDEN'],
      ['colleague', 'REFUSED', 'FORBIDDEN'],
      ['lead', 'DONE', undefined],
    ])
  })

  it('The required role of a review is not enforced without configured keys', async () => {
    await using api = await openReviewServer()
    const { reviewId } = await api.reviewOf(await api.submit({ ensemble: 'strict' }))
    const decided = await api.post(`/api/reviews/${reviewId}`, { decision: 'CONTINUE' })
    expect(decided.status).toBe(200)
  })
})

interface ReviewServerOptions {
  readonly limits?: RunServiceOptions
  readonly rules?: ReviewRules
  readonly keys?: readonly ApiKey[]
  /** Default key of requests. */
  readonly key?: string
}

/** Serves ensembles without reviews, with reviews of the operator, and with a tool that requires approval. */
async function openReviewServer({
  limits = {},
  rules = {},
  keys = [],
  key,
}: ReviewServerOptions = {}) {
  const path = mkdtempSync(join(tmpdir(), 'tutti-desk-'))
  const clock = fakeClock()
  const model = scriptedModel(() => 'Done')
  const plain = ensemble({ name: 'plain', model, tasks: [task({ description: 'Do it' })] })
  const strict = ensemble({
    name: 'strict',
    model,
    tasks: [task({ name: 'pay', description: 'Pay it', review: true })],
    reviewPolicy: 'AFTER_EVERY_TASK',
    review: { timeoutMs: 3_000, requiredRole: 'legal' },
  })
  const deploy = defineTool({
    name: 'deploy',
    description: 'Deploys',
    input: Type.Object({}),
    requireApproval: true,
    execute: () => 'deployed',
  })
  const calling = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'Done' : { toolCalls: [{ name: 'deploy', arguments: {} }] },
  )
  const withTool = ensemble({
    name: 'tool',
    model: calling,
    tasks: [task({ description: 'Deploy it', tools: [deploy] })],
  })
  const runs = createRunService(
    await sqliteRunStorage(path, { clock }),
    [plain, strict, withTool],
    {
      clock,
      reviews: rules,
      ...limits,
    },
  )
  const api = await serveControlApi(
    { runs, models: modelCatalog({}), tools: toolCatalog([]), apiKeys: keys },
    { port: 0 },
  )
  await runs.start()
  // The clock advances in small steps, because tokens and polls wait for it.
  const ticking = setInterval(() => {
    void clock.advance(1)
  }, 2)
  const headers = (given = key): Record<string, string> => ({
    'content-type': 'application/json',
    ...(given === undefined ? {} : { authorization: `Bearer ${given}` }),
  })
  const get = (route: string, given?: string) =>
    fetch(`${api.url}${route}`, { headers: headers(given) })
  const post = (route: string, body: unknown, given?: string) =>
    fetch(`${api.url}${route}`, {
      method: 'POST',
      headers: headers(given),
      body: JSON.stringify(body),
    })
  const openReviews = async (): Promise<readonly PendingReview[]> => {
    const list: ReviewList = await (await get('/api/reviews')).json()
    return list.reviews
  }
  return {
    url: api.url,
    clock,
    get,
    post,
    async submit(body: object): Promise<string> {
      const response = await post('/api/runs', body)
      const answer: { runId: string } = await response.json()
      expect([response.status, answer]).toMatchObject([202, { runId: expect.any(String) }])
      return answer.runId
    },
    async reviews(count: number): Promise<readonly PendingReview[]> {
      await expect.poll(openReviews, POLL).toHaveLength(count)
      return openReviews()
    },
    async reviewOf(runId: string): Promise<PendingReview> {
      for (;;) {
        const found = (await openReviews()).find((review) => review.runId === runId)
        if (found !== undefined) return found
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    async detail(runId: string): Promise<RunDetail> {
      return (await get(`/api/runs/${runId}`)).json()
    },
    async [Symbol.asyncDispose]() {
      await runs.close({ drainTimeoutMs: 0 })
      await api.close()
      clearInterval(ticking)
      rmSync(path, { recursive: true })
    },
  }
}
