import { ensemble, task } from '@tutti/ensemble'
import { decode, ROUTES } from '@tutti/protocol'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { reviewedTask, REVIEW_MS, approvedTool } from './reviewed-ensembles.ts'
import { eventsOf, openServer, type TestServer, type TestServerOptions } from './open-server.ts'

import type { PendingReview } from '@tutti/protocol'
import type { ReviewList } from '@tutti/protocol/internal'

describe('reviews over REST', () => {
  it('Reviews over REST are listed and shown in their run while open, and gone when decided', async () => {
    await using api = await choirServed()
    const { runId, review } = await startWaitingRun(api)
    expect(review).toEqual({
      reviewId: expect.any(String),
      runId,
      taskDescription: 'Sing Amen',
      taskOutput: 'La la',
      kind: 'TASK_OUTPUT',
      timing: 'AFTER_EXECUTION',
      prompt: 'Is it in tune?',
      timeoutMs: REVIEW_MS,
      onTimeout: 'EXIT_EARLY',
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      taskName: 'sing',
      agentRole: expect.any(String),
      attempt: 1,
      ensemble: 'choir',
      inputs: { song: 'Amen' },
      tags: {},
      mayDecide: true,
    })
    const requested = await eventOf(api, runId, 'review_requested')
    expect(requested).toMatchObject({ agentRole: review.agentRole })
    expect(Date.parse(review.expiresAt ?? '') - Date.parse(review.createdAt)).toBe(REVIEW_MS)
    await expect.poll(async () => (await api.detail(runId)).status).toBe('WAITING_REVIEW')
    const detail = await api.detail(runId)
    expect(decode(ROUTES.getRun.response, detail)).toMatchObject({ ok: true })
    const { ensemble: _ensemble, inputs: _inputs, tags: _tags, mayDecide: _may, ...own } = review
    expect(detail).toMatchObject({ status: 'WAITING_REVIEW', pendingReviews: [own] })
    const list = await (await api.get('/api/runs?status=waiting_review')).json()
    expect(list).toMatchObject({ total: 1, runs: [{ runId, status: 'WAITING_REVIEW' }] })
    const decided = await api.post(`/api/reviews/${review.reviewId}`, { decision: 'CONTINUE' })
    const answer: unknown = await decided.json()
    expect(decode(ROUTES.decideReview.response, answer)).toMatchObject({ ok: true })
    expect([decided.status, answer]).toEqual([
      200,
      { reviewId: review.reviewId, decision: 'CONTINUE', status: 'APPLIED' },
    ])
    await eventsOf(await api.get(`/api/runs/${runId}/events`))
    expect(await reviewsOf(api)).toEqual({ reviews: [], total: 0 })
    expect(await api.detail(runId)).toMatchObject({ status: 'COMPLETED', pendingReviews: [] })
  })

  it('Reviews over REST are returned for one run or for all, and with 404 for an unknown run', async () => {
    await using api = await choirServed()
    const [first, second] = [await startWaitingRun(api), await startWaitingRun(api)]
    expect((await reviewsOf(api)).reviews).toEqual([first.review, second.review])
    expect(await reviewsOf(api, `?runId=${second.runId}`)).toEqual({
      reviews: [second.review],
      total: 1,
    })
    const unknown = await api.get('/api/reviews?runId=run-none')
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: 'RUN_NOT_FOUND' }])
    expect((await api.get('/api/reviews?run=x')).status).toBe(400)
  })

  it('Reviews over REST are counted in full when the list is truncated', async () => {
    const sing = task({ name: 'sing', description: 'Sing', review: true })
    const model = scriptedModel(() => 'x'.repeat(2_500_000))
    await using api = await openServer({
      ensembles: [ensemble({ name: 'long', tasks: [sing], model })],
    })
    const submitted = await Promise.all([1, 2, 3].map(() => api.runs.submit({})))
    await expect.poll(() => api.runs.reviews.countOpen()).toBe(3)
    const { reviews, total } = await reviewsOf(api)
    expect([reviews.length, total]).toEqual([2, 3])
    const { runId } = submitted[0] ?? {}
    expect((await reviewsOf(api, `?runId=${runId}`)).total).toBe(1)
  })

  it('Reviews over REST without a time limit have no end, and a timeout of 0', async () => {
    await using api = await choirServed({ timeoutMs: Infinity })
    const { review } = await startWaitingRun(api)
    expect(review.timeoutMs).toBe(0)
    expect(review).not.toHaveProperty('expiresAt')
  })

  it.each([
    [{ decision: 'EDIT', revisedOutput: 'Amen' }, 'COMPLETED', 'Amen'],
    [{ decision: 'EXIT_EARLY' }, 'COMPLETED', 'La la'],
    [{ decision: 'REJECT', feedback: 'Higher' }, 'WAITING_REVIEW', undefined],
  ])('Reviews over REST decided with %j lead to %s', async (body, status, output) => {
    await using api = await choirServed()
    const { runId, review } = await startWaitingRun(api)
    expect((await api.post(`/api/reviews/${review.reviewId}`, body)).status).toBe(200)
    if (body.decision === 'REJECT') {
      const again = await openReview(api, runId, [review.reviewId])
      expect(again.reviewId).not.toBe(review.reviewId)
      expect([review.attempt, again.attempt]).toEqual([1, 2])
      const decided = await eventOf(api, runId, 'review_decided')
      expect(decided).toMatchObject({ decision: 'REJECT', feedback: 'Higher' })
    } else {
      const events = await eventsOf(await api.get(`/api/runs/${runId}/events`))
      expect(events.find(({ type }) => type === 'review_decided')).toMatchObject({
        decision: body.decision,
      })
      expect((await api.detail(runId)).tasks[0]?.output).toBe(output)
    }
    await expect.poll(async () => (await api.detail(runId)).status).toBe(status)
  })

  it('Reviews over REST accept the first decision; a later one gets 409, and an unknown review 404', async () => {
    await using api = await choirServed()
    const { runId, review } = await startWaitingRun(api)
    const path = `/api/reviews/${review.reviewId}`
    const decide = () => api.post(path, { decision: 'CONTINUE' })
    const statuses = (await Promise.all([decide(), decide(), decide()])).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 409, 409])
    await eventsOf(await api.get(`/api/runs/${runId}/events`))
    const late = await decide()
    expect([late.status, await late.json()]).toMatchObject([409, { error: 'REVIEW_RESOLVED' }])
    const unknown = await api.post('/api/reviews/none', { decision: 'CONTINUE' })
    expect([unknown.status, await unknown.json()]).toMatchObject([
      404,
      { error: 'REVIEW_NOT_FOUND' },
    ])
  })

  it.each([
    [{ decision: 'SURE' }, '/decision'],
    [{ decision: 'EDIT' }, '/revisedOutput'],
    [{}, '/decision'],
    [{ decision: 'REJECT' }, '/feedback'],
    [{ decision: 'REJECT', feedback: ' \n' }, '/feedback'],
    [{ decision: 'CONTINUE', by: 'me' }, '/by'],
    [{ decision: 'CONTINUE', revisedOutput: 'Amen' }, '/revisedOutput'],
    [{ decision: 'CONTINUE', revisedOutput: '' }, '/revisedOutput'],
    [{ decision: 'CONTINUE', feedback: 'Higher' }, '/feedback'],
    [{ decision: 'EDIT', revisedOutput: 'Amen', feedback: 'Higher' }, '/feedback'],
    [{ decision: 'REJECT', feedback: 'Higher', revisedOutput: 'Amen' }, '/revisedOutput'],
    [{ decision: 'EXIT_EARLY', revisedOutput: 'Amen' }, '/revisedOutput'],
    [{ decision: 'EXIT_EARLY', feedback: 'Higher' }, '/feedback'],
  ])('Reviews over REST refuse the decision %j and stay open', async (body, path) => {
    await using api = await choirServed()
    const { review } = await startWaitingRun(api)
    const refused = await api.post(`/api/reviews/${review.reviewId}`, body)
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: 'BAD_REQUEST', problems: [expect.objectContaining({ path })] },
    ])
    expect((await reviewsOf(api)).reviews).toEqual([review])
  })

  it('Reviews over REST accept EDIT of a tool call with its input as JSON', async () => {
    await using api = await openServer({ ensembles: [approvedTool()], limits: { parkAfterMs: 50 } })
    const { runId, review } = await startWaitingRun(api)
    expect(review).toMatchObject({
      timing: 'DURING_EXECUTION',
      taskOutput: '',
      taskName: 'play',
      toolName: 'tune',
      toolInput: { hertz: 440 },
    })
    const requested = await eventOf(api, runId, 'review_requested')
    expect(requested).toMatchObject({ toolCallId: review.toolCallId ?? 'none' })
    const edit = (revisedOutput: string) =>
      api.post(`/api/reviews/${review.reviewId}`, { decision: 'EDIT', revisedOutput })
    const text = await edit('higher')
    expect([text.status, await text.json()]).toMatchObject([
      400,
      { problems: [{ path: '/revisedOutput', message: expect.stringContaining('JSON') }] },
    ])
    const wrong = await edit('{"hertz":"high"}')
    expect([wrong.status, await wrong.json()]).toMatchObject([
      400,
      { error: 'BAD_REQUEST', message: expect.stringContaining('hertz') },
    ])
    expect((await edit('{"hertz":442}')).status).toBe(200)
    const events = await eventsOf(await api.get(`/api/runs/${runId}/events`))
    expect(events.find(({ type }) => type === 'tool_called')).toMatchObject({
      toolResult:
        'A reviewer changed the input of this call to {"hertz":442}. The result is of the changed input.\n\nTuned to 442',
    })
  })
})

describe('reviews over a WebSocket', () => {
  it('Reviews over a WebSocket are decided by messages, and all connections get the decision', async () => {
    await using api = await choirServed()
    const { runId, review } = await startWaitingRun(api)
    await using socket = api.connect()
    await using other = api.connect()
    await Promise.all([socket.next('hello'), other.next('hello')])
    socket.send({ type: 'review_decision', reviewId: review.reviewId, decision: 'CONTINUE' })
    const { reviewId } = review
    const reply = await socket.next('review_decision_ack')
    expect(reply).toMatchObject({ reviewId, decision: 'CONTINUE', status: 'APPLIED' })
    expect(reply).not.toHaveProperty('waitsForBuild')
    expect(await other.next('review_decided')).toMatchObject({ reviewId, runId })
    expect(await other.next('run_result')).toMatchObject({ status: 'COMPLETED' })
    socket.send({ type: 'review_decision', reviewId: review.reviewId, decision: 'CONTINUE' })
    expect(await socket.next('error')).toMatchObject({ error: 'REVIEW_RESOLVED' })
  })

  it('[API-N1] Reviews over a WebSocket are sent right after hello when they are open, with the remaining time', async () => {
    await using api = await choirServed()
    const { runId, review } = await startWaitingRun(api)
    await expect
      .poll(() => Date.now() - Date.parse(review.createdAt), { interval: 5 })
      .toBeGreaterThan(50)
    for (const path of ['/ws', `/runs/${runId}/ws`]) {
      await using socket = api.connect(path)
      const gate = await socket.next('review_requested')
      expect(socket.received.map(({ type }) => type)).toEqual(['hello', 'review_requested'])
      expect(gate).toMatchObject({ reviewId: review.reviewId, runId, prompt: 'Is it in tune?' })
      expect(gate.timeoutMs).toBeLessThanOrEqual(REVIEW_MS - 50)
      expect(gate.timeoutMs).toBeGreaterThan(REVIEW_MS / 2)
      const { snapshotTrace = [] } = await socket.next('hello')
      expect(snapshotTrace.map(({ type }) => type)).not.toContain('review_requested')
    }
    await using elsewhere = api.connect(`/runs/${(await startWaitingRun(api)).runId}/ws`)
    expect((await elsewhere.next('review_requested')).reviewId).not.toBe(review.reviewId)
  })

  it('[API-N1] Reviews over a WebSocket are sent once, in their place, when they open while hello is built', async () => {
    await using api = await choirServed()
    const openReviews = api.runs.reviews.open.bind(api.runs.reviews)
    api.runs.reviews.open = async (query) => {
      api.runs.reviews.open = openReviews
      await startWaitingRun(api)
      return openReviews(query)
    }
    await using socket = api.connect()
    await socket.next('review_requested')
    socket.send({ type: 'ping' })
    await socket.next('pong')
    expect(socket.events.map(({ seq }) => seq)).toEqual(socket.events.map((_, index) => index))
    expect(socket.events.filter(({ type }) => type === 'review_requested')).toHaveLength(1)
  })

  it('[API-N1] Reviews over a WebSocket are sent once when they opened while the connection was established', async () => {
    await using api = await choirServed()
    const list = api.runs.list.bind(api.runs)
    api.runs.list = async (query) => {
      api.runs.list = list
      await startWaitingRun(api)
      return list(query)
    }
    await using socket = api.connect()
    await socket.next('review_requested')
    socket.send({ type: 'ping' })
    await socket.next('pong')
    expect(socket.events.map(({ type }) => type)).toEqual(['review_requested'])
  })

  it('[API-N1] Reviews over a WebSocket without a time limit have a timeout of 0, and decided ones are not sent', async () => {
    await using api = await choirServed({ timeoutMs: Infinity })
    const decided = await startWaitingRun(api)
    await api.post(`/api/reviews/${decided.review.reviewId}`, { decision: 'CONTINUE' })
    await eventsOf(await api.get(`/api/runs/${decided.runId}/events`))
    const open = await startWaitingRun(api)
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'ping' })
    await socket.next('pong')
    const gates = socket.events.flatMap((event) =>
      event.type === 'review_requested' ? [[event.reviewId, event.timeoutMs]] : [],
    )
    expect(gates).toEqual([[open.review.reviewId, 0]])
  })
})

function choirServed(
  review: Parameters<typeof reviewedTask>[0] = {},
  options: TestServerOptions = {},
) {
  // A waiting run is parked soon, so the test does not wait for its end.
  return openServer({ ensembles: [reviewedTask(review)], limits: { parkAfterMs: 50 }, ...options })
}

/** Starts a run that waits for a person. */
async function startWaitingRun(api: TestServer): Promise<{ runId: string; review: PendingReview }> {
  const submitted = await api.post('/api/runs', { inputs: { song: 'Amen' } })
  const { runId } = (await submitted.json()) as { runId: string }
  return { runId, review: await openReview(api, runId) }
}

/** Returns the open review of a run that is not among the known ones. */
async function openReview(
  api: TestServer,
  runId: string,
  known: readonly string[] = [],
): Promise<PendingReview> {
  for await (const batch of api.runs.follow({ runId, from: 0 })) {
    const opened = batch.find(
      (event) => event.type === 'review_requested' && !known.includes(event.reviewId),
    )
    if (opened === undefined) continue
    const [review] = (await reviewsOf(api, `?runId=${runId}`)).reviews
    if (review !== undefined) return review
  }
  throw new Error('The run opened no review')
}

async function eventOf(
  api: TestServer,
  runId: string,
  type: 'review_decided' | 'review_requested',
) {
  const [event] = await api.runs.readEvents({ runId, from: 0, limit: 1, types: [type] })
  return event
}

async function reviewsOf(api: TestServer, query = ''): Promise<ReviewList> {
  const body: unknown = await (await api.get(`/api/reviews${query}`)).json()
  const decoded = decode(ROUTES.listReviews.response, body)
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems))
  return decoded.value
}
