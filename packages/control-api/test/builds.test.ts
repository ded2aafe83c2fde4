/** `GET /api/builds` and `POST /api/runs/{runId}/migrate`. */
import { describe, expect, it } from 'vitest'

import { openServer } from './open-server.ts'

describe('builds', () => {
  it('The builds route lists the builds that have started, and names the current one', async () => {
    await using api = await openServer({ limits: { buildId: 'v1' } })
    await expect
      .poll(async () => (await api.get('/api/builds')).json())
      .toMatchObject({ current: 'v1', builds: [{ build: 'v1', ensemble: 'band' }] })
  })

  it('The builds route lists the processes, the share and the unfinished runs of each build, and changes the share', async () => {
    await using api = await openServer({ limits: { buildId: 'release/1' } })
    await expect
      .poll(async () => (await api.get('/api/builds')).json())
      .toMatchObject({ builds: [{ build: 'release/1', processes: 1, share: 100, runs: {} }] })
    await api.submit()
    const set = await api.post('/api/builds/release%2F1/share', { share: 25 })
    expect([set.status, await set.json()]).toEqual([200, { build: 'release/1', share: 25 }])
    await expect
      .poll(async () => (await api.get('/api/builds')).json())
      .toMatchObject({ builds: [{ share: 25, runs: { RUNNING: 1 } }] })
    for (const share of [-1, 101, 2.5, '5']) {
      expect((await api.post('/api/builds/release%2F1/share', { share })).status).toBe(400)
    }
    const audit: unknown = await (await api.get('/api/audit?action=setBuildShare')).json()
    expect(audit).toMatchObject({
      entries: expect.arrayContaining([expect.objectContaining({ target: 'release/1' })]),
    })
  })

  it('The metrics report the processes, the shares and the unfinished runs of builds', async () => {
    await using api = await openServer({ limits: { buildId: 'v1', buildShare: 25 } })
    await api.submit()
    const readMetrics = async (): Promise<string> => (await api.get('/metrics')).text()
    await expect
      .poll(readMetrics)
      .toContain('tutti_build_runs{build="v1",ensemble="band",status="RUNNING"} 1')
    const text = await readMetrics()
    expect(text).toContain('tutti_build_processes{build="v1",ensemble="band"} 1')
    expect(text).toContain('tutti_build_share{build="v1"} 25')
  })

  it('A run is submitted to a build that lives, and returns 400 for another one', async () => {
    await using api = await openServer({ limits: { buildId: 'v1' } })
    await expect
      .poll(async () => (await api.get('/api/builds')).json())
      .toMatchObject({
        builds: [{ processes: 1 }],
      })
    const accepted = await api.post('/api/runs', {
      inputs: { composer: 'Bach', hall: 'A' },
      build: 'v1',
    })
    expect([accepted.status, await accepted.json()]).toMatchObject([202, { status: 'ACCEPTED' }])
    const refused = await api.post('/api/runs', {
      inputs: { composer: 'Bach', hall: 'A' },
      build: 'v2',
    })
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      {
        error: 'BAD_REQUEST',
        message:
          'Cannot submit the run: no living build "v2" has ensemble "band". Living builds: [v1]',
      },
    ])
  })

  it('A run shows its build and its code', async () => {
    await using api = await openServer({ limits: { buildId: 'v1' } })
    const runId = await api.submit()
    const { build, code } = await api.detail(runId)
    expect([build, code]).toEqual(['v1', expect.stringMatching(/^[0-9a-f]{16}$/)])
  })

  it('The migration of a run returns 400 for a run that executes, 404 for an unknown run, and 400 without a build', async () => {
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
