/** Content negotiation: `Accept` headers that routes refuse with 406. */
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer } from './open-server.ts'
import { openRecordedServer } from './recorded-server.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const PROMETHEUS =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.4,*/*;q=0.3'

describe('a route', () => {
  it.each([
    ['/api/runs', 'image/png', 'application/json'],
    ['/api/runs', 'text/event-stream', 'application/json'],
    ['/api/runs', 'text/*', 'application/json'],
    ['/api/runs', '*/*;q=0', 'application/json'],
    ['/api/runs', 'application/json;q=0, */*', 'application/json'],
    ['/api/runs', 'application/*;q=0.0, */*', 'application/json'],
    ['/api/health/live', 'text/html', 'application/json'],
    ['/api/runs/run-none/events', 'application/json', 'text/event-stream'],
    ['/docs', 'application/json', 'text/html'],
    ['/openapi.json', 'application/yaml', 'application/json'],
    ['/metrics', 'application/json', 'text/plain or application/openmetrics-text'],
    ['/', 'application/json', 'text/plain'],
  ])('%s returns 406 to "Accept: %s" and names %s', async (path, accept, sent) => {
    await using api = await openServer()
    const response = await api.get(path, { headers: { accept } })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      406,
      'application/json',
    ])
    expect(await response.json()).toEqual({
      error: 'NOT_ACCEPTABLE',
      message: `Accept must allow ${sent}, got "${accept}"`,
    })
  })

  it.each([
    ['/api/runs', 'text/html, */*;q=0.1'],
    ['/api/runs', BROWSER],
    ['/api/runs', 'application/*'],
    ['/api/runs', 'Application/JSON; charset=utf-8'],
    ['/api/runs', 'application/json, */*;q=0'],
    ['/api/runs', 'application/json;version=1;q=0, */*'],
    ['/api/runs', 'text/html, image/gif, *; q=.2, */*; q=.2'],
    ['/api/runs', '*'],
    ['/api/runs', ''],
    ['/api/runs', ';;;'],
    ['/api/runs', 'json'],
    ['/docs', BROWSER],
    ['/', BROWSER],
    ['/metrics', PROMETHEUS],
    ['/metrics', 'application/openmetrics-text'],
    ['/metrics', 'text/plain;version=0.0.4'],
    ['/.well-known/agent-card.json', 'image/png'],
  ])('%s returns 200 to "Accept: %s"', async (path, accept) => {
    await using api = await openServer()
    // `api.get` is not used, because its checks know only the first of several media types.
    const response = await fetch(new URL(path, api.url), { headers: { accept } })
    await response.body?.cancel()
    expect(response.status).toBe(200)
  })

  it('A route checks the Accept header before it acts, so a refused submission starts no run', async () => {
    await using api = await openRecordedServer()
    const body = { inputs: { topic: 'AI' } }
    expect((await api.post('/api/runs', body, { accept: 'text/csv' })).status).toBe(406)
    expect(await (await api.get('/api/runs')).json()).toMatchObject({ runs: [] })
  })

  it('A route truncates a long Accept header in its error', async () => {
    await using api = await openServer()
    const response = await api.get('/api/runs', { headers: { accept: `image/${'x'.repeat(900)}` } })
    expect(response.status).toBe(406)
    expect((await response.text()).length).toBeLessThan(400)
  })
})

it('A route streams events to an EventSource, which accepts only text/event-stream', async () => {
  await using api = await openRecordedServer()
  const { runId } = await (await api.post('/api/runs', { inputs: { topic: 'AI' } })).json()
  const headers = { accept: 'text/event-stream' }
  const events = await eventsOf(await api.get(`/api/runs/${runId}/events`, { headers }))
  expect(events.length).toBeGreaterThan(0)
})
