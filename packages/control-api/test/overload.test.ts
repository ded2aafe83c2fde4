/** The budget of bytes in flight, over HTTP and WebSocket. */
import { describe, expect, it } from 'vitest'

import { apiKey } from '../src/index.ts'
import { until } from '../../../tooling/test-kit/wait.ts'
import { openServer } from './open-server.ts'

const OVERLOADED = { error: 'OVERLOADED', retryAfterMs: 1_000 }

const inputs = { composer: 'Bach', hall: 'A' }

describe('a server whose bytes in flight have reached their limit', () => {
  it('[API-B1] A server at its limit of bytes in flight answers bodies and large reads with 503 and Retry-After, and everything else as before', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    const others = api.runs.budget.hold('another', api.runs.budget.limit)
    const refused = [
      await api.post('/api/runs', { inputs }),
      await api.post(`/api/runs/${runId}/fork`, { at: 1 }),
      await api.get('/api/runs'),
      await api.get(`/api/runs/${runId}`),
    ]
    for (const answer of refused) {
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(await answer.json()).toMatchObject(OVERLOADED)
    }
    for (const path of ['/api/health/live', '/api/health/ready', '/api/status']) {
      expect((await api.get(path)).status).toBe(200)
    }
    const cancelled = await api.get(`/api/runs/${runId}/cancel`, { method: 'POST' })
    expect(cancelled.status).toBe(200)
    others.release()
    expect((await api.get('/api/runs')).status).toBe(200)
    expect((await api.post('/api/runs', { inputs })).status).toBe(202)
    api.play()
  })

  it('[API-B1] A server at its limit of bytes in flight answers messages with a retryable error, under the id of the message', async () => {
    await using api = await openServer()
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    const others = api.runs.budget.hold('another', api.runs.budget.limit)
    socket.send({ type: 'run_request', requestId: 'r1', inputs })
    expect(await socket.next('run_ack')).toMatchObject({
      status: 'REJECTED',
      requestId: 'r1',
      ...OVERLOADED,
    })
    socket.send({ type: 'state_query', requestId: 'q1', query: 'runs' })
    expect(await socket.next('error')).toMatchObject({ requestId: 'q1', ...OVERLOADED })
    others.release()
    socket.send({ type: 'state_query', requestId: 'q2', query: 'runs' })
    expect(await socket.next('state_response')).toMatchObject({ requestId: 'q2' })
  })

  it('[API-B1] A server at its limit of bytes in flight closes a new WebSocket whose snapshot cannot be read with the code to try again later', async () => {
    await using api = await openServer()
    api.runs.budget.hold('another', api.runs.budget.limit)
    await using socket = api.connect('/ws')
    expect(await socket.closed()).toEqual([1013, expect.any(String)])
    expect(api.errors).toEqual([])
  })
})

describe('[API-B2] the body of a request', () => {
  it('The body of a request counts until it is answered, and leaves the other keys their share', async () => {
    const [a, b] = ['key-of-a-0123456789', 'key-of-b-0123456789']
    await using api = await openServer({
      apiKeys: [apiKey(a, { name: 'a' }), apiKey(b, { name: 'b' })],
      maxBodyBytes: 1_000_000,
      limits: { maxBytesInFlight: 1_000_000 },
    })
    const submit = (key: string, path = '/api/runs'): Promise<Response> =>
      api.post(
        path,
        { inputs: { ...inputs, composer: 'x'.repeat(240_000) } },
        { authorization: `Bearer ${key}` },
      )
    const { budget } = api.runs
    const waiting = submit(a, '/api/runs?wait=60')
    // The body, and the inputs of the run that executes.
    await until('the run', () => budget.used > 400_000)
    expect((await submit(a)).status).toBe(503)
    expect((await submit(b)).status).toBe(202)
    api.play()
    expect((await waiting).status).toBe(200)
    await until('the end of all work', () => budget.used === 0)
  })

  it('The body of a request must fit into the budget', async () => {
    const small = openServer({ maxBodyBytes: 2_000, limits: { maxBytesInFlight: 1_000 } })
    await expect(small).rejects.toThrow(
      'maxBodyBytes must be at most maxBytesInFlight (1000), got 2000',
    )
  })
})
