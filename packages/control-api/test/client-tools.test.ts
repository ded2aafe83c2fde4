/** Client tools over REST and WebSocket: submit, see the call, return its result. */
import { apiKey } from '@tutti/control-api'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer, type TestServer } from './open-server.ts'

import type { ReviewList } from '@tutti/protocol/internal'

const CLIENT = { authorization: 'Bearer the-key-of-the-client' }
const REVIEWER = { authorization: 'Bearer the-key-of-a-reviewer' }

const BODY = {
  inputs: {},
  clientTools: [
    {
      name: 'get_weather',
      description: 'Returns the weather',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
      timeoutMs: 0,
    },
  ],
}

function open(): Promise<TestServer> {
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return `It says ${last.content}`
    return { toolCalls: [{ id: 'c1', name: 'get_weather', arguments: { city: 'Bonn' } }] }
  })
  const tasks = [task({ name: 'ask', description: 'Forecast', review: true })]
  return openServer({
    ensembles: [ensemble({ name: 'team', model, tasks })],
    apiKeys: [
      apiKey('the-key-of-the-client', { name: 'client', scopes: ['runs:read', 'runs:write'] }),
      apiKey('the-key-of-a-reviewer', { name: 'rita', scopes: ['runs:read', 'reviews:decide'] }),
    ],
  })
}

async function listReviews(
  api: TestServer,
  headers: HeadersInit,
  query = '',
): Promise<ReviewList['reviews']> {
  const list = (await (await api.get(`/api/reviews${query}`, { headers })).json()) as ReviewList
  expect(list.total).toBe(list.reviews.length)
  return list.reviews
}

const reviewsOf = (api: TestServer, headers: HeadersInit) =>
  Promise.all([listReviews(api, headers, '?kind=CLIENT_TOOL'), listReviews(api, headers)]).then(
    (lists) => lists.flat(),
  )

describe('a client tool', () => {
  it('A client tool is answered over REST with the scope runs:write, and reviews with reviews:decide', async () => {
    await using api = await open()
    const { runId } = (await (await api.post('/api/runs', BODY, CLIENT)).json()) as {
      runId: string
    }
    await expect.poll(async () => (await reviewsOf(api, CLIENT)).length).toBe(1)
    const [call] = await reviewsOf(api, CLIENT)
    expect(call).toMatchObject({
      runId,
      kind: 'CLIENT_TOOL',
      toolName: 'get_weather',
      toolCallId: 'c1',
      toolInput: { city: 'Bonn' },
      timeoutMs: 0,
      mayDecide: true,
    })
    expect((await reviewsOf(api, REVIEWER))[0]).toMatchObject({ mayDecide: false })
    // No person decides it, so that the inbox leaves it out.
    expect(await listReviews(api, REVIEWER)).toEqual([])
    expect(await listReviews(api, CLIENT, `?runId=${runId}`)).toEqual([])
    expect(await listReviews(api, CLIENT, `?runId=${runId}&kind=QUESTION`)).toEqual([])
    expect(await listReviews(api, CLIENT, `?runId=${runId}&kind=CLIENT_TOOL`)).toEqual([call])
    await using inbox = api.connect('/ws', REVIEWER)
    await inbox.next('hello')
    expect(inbox.events.map(({ type }) => type)).not.toContain('review_requested')
    const path = `/api/reviews/${call?.reviewId}`
    const result = { decision: 'EDIT', revisedOutput: 'rain' }
    const refused = await api.post(path, result, REVIEWER)
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { message: expect.stringContaining('lacks the scope runs:control') },
    ])
    const unanswered = await api.post(path, { decision: 'CONTINUE' }, CLIENT)
    expect([unanswered.status, await unanswered.json()]).toMatchObject([
      400,
      { message: expect.stringContaining('needs its result') },
    ])
    expect((await api.post(path, result, CLIENT)).status).toBe(200)
    await expect.poll(async () => (await reviewsOf(api, CLIENT))[0]?.timing).toBe('AFTER_EXECUTION')
    const [review] = await reviewsOf(api, CLIENT)
    expect(review).toMatchObject({ taskOutput: 'It says rain', mayDecide: false })
    const output = `/api/reviews/${review?.reviewId}`
    expect((await api.post(output, { decision: 'CONTINUE' }, CLIENT)).status).toBe(403)
    expect((await api.post(output, { decision: 'CONTINUE' }, REVIEWER)).status).toBe(200)
    const events = await eventsOf(await api.get(`/api/runs/${runId}/events`, { headers: CLIENT }))
    expect(events.at(-1)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ output: 'It says rain' }],
    })
  })

  it('A client tool is answered over a WebSocket with the scope runs:write', async () => {
    await using api = await open()
    await using reviewer = api.connect('/ws', REVIEWER)
    await reviewer.next('hello')
    await using client = api.connect('/ws', CLIENT)
    await client.next('hello')
    client.send({ type: 'run_request', requestId: 'q', ...BODY })
    const call = await client.next('review_requested')
    expect(call).toMatchObject({
      kind: 'CLIENT_TOOL',
      toolName: 'get_weather',
      toolInput: { city: 'Bonn' },
    })
    const answer = {
      type: 'review_decision',
      reviewId: call.reviewId,
      decision: 'EDIT',
      revisedOutput: 'snow',
    }
    reviewer.send(answer)
    expect(await reviewer.next('error')).toMatchObject({
      message: expect.stringContaining('lacks the scope runs:control'),
    })
    client.send(answer)
    expect(await client.next('review_decided')).toMatchObject({
      reviewId: call.reviewId,
      decision: 'EDIT',
      decidedBy: 'client',
    })
    await expect
      .poll(() => client.events.find(({ type }) => type === 'tool_called'))
      .toMatchObject({ toolResult: 'snow' })
  })

  it('A client tool is refused with the path of every problem', async () => {
    await using api = await open()
    const clientTools = [...BODY.clientTools, ...BODY.clientTools]
    const response = await api.post('/api/runs', { ...BODY, clientTools }, CLIENT)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { problems: [{ path: '/clientTools/1/name' }] },
    ])
  })
})
