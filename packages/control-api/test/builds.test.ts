/** `GET /api/builds` and `POST /api/runs/{runId}/migrate`. */
import { describe, expect, it } from 'vitest'

import { openServer } from './open-server.ts'

describe('builds', () => {
  it('lists the builds that have started, and names the current one', async () => {
    await using api = await openServer({ limits: { buildId: 'v1' } })
    await expect
      .poll(async () => (await api.get('/api/builds')).json())
      .toMatchObject({ current: 'v1', builds: [{ build: 'v1', ensemble: 'band' }] })
  })

  it('shows the build and the code of a run', async () => {
    await using api = await openServer({ limits: { buildId: 'v1' } })
    const runId = await api.submit()
    const { build, code } = await api.detail(runId)
    expect([build, code]).toEqual(['v1', expect.stringMatching(/^[0-9a-f]{16}$/)])
  })

  it('returns 400 for a run that executes, 404 for an unknown run, and 400 without a build', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    const executing = await api.post(`/api/runs/${runId}/migrate`, { to: 'v2' })
    expect([executing.status, await executing.json()]).toMatchObject([
      400,
      { error: 'BAD_REQUEST' },
    ])
    const unknown = await api.post('/api/runs/x/migrate', { to: 'v2' })
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: 'RUN_NOT_FOUND' }])
    expect((await api.post(`/api/runs/${runId}/migrate`, {})).status).toBe(400)
  })
})
