import { describe, expect, it } from 'vitest'

import { openServer } from './open-server.ts'

const HEALTH = ['/api/health/live', '/api/health/ready', '/api/status']

describe('a control API with the surface "health"', () => {
  it('A control API with the surface "health" serves liveness, readiness and status', async () => {
    await using api = await openServer({ surface: 'health' })
    for (const path of HEALTH) expect((await api.get(path)).status).toBe(200)
    expect((await api.get('/api/status', { method: 'POST' })).status).toBe(405)
  })

  it('A control API with the surface "health" returns 404 for all other routes, with the reason', async () => {
    await using api = await openServer({ surface: 'health' })
    for (const path of ['/', '/api/runs', '/api/reviews', '/api/capabilities', '/ws']) {
      const response = await api.get(path)
      expect([response.status, await response.json()]).toMatchObject([
        404,
        { error: 'NOT_FOUND', message: expect.stringContaining('this process is a worker') },
      ])
    }
    const submitted = await api.post('/api/runs', { inputs: {} })
    expect([submitted.status, await submitted.text()]).toEqual([
      404,
      expect.stringContaining(HEALTH.toReversed()[0] ?? ''),
    ])
  })

  it('A control API with the surface "health" opens no WebSocket', async () => {
    await using api = await openServer({ surface: 'health' })
    await using socket = api.connect()
    expect(await socket.refused()).toBe(404)
  })
})
