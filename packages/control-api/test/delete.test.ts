/** `DELETE /api/runs/{runId}`. */
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { reviewedTask } from './reviewed-ensembles.ts'
import { eventsOf, openServer, type TestServer } from './open-server.ts'

const remove = (api: TestServer, runId: string) =>
  api.get(`/api/runs/${runId}`, { method: 'DELETE' })

async function started(api: TestServer): Promise<string> {
  const runId = await api.submit()
  for await (const batch of api.runs.follow({ runId, from: 0 })) {
    if (batch.some((event) => event.type === 'task_completed')) break
  }
  return runId
}

describe('deleting a run', () => {
  it('A deletion of a run removes a finished run and its events, once', async () => {
    await using api = await openServer()
    const [runId, other] = [await api.submit(), await api.submit()]
    api.play()
    for (const id of [runId, other]) await eventsOf(await api.get(`/api/runs/${id}/events`))
    const deleted = await remove(api, runId)
    expect([deleted.status, await deleted.text()]).toEqual([204, ''])
    for (const path of ['', '/events', '/trace']) {
      const response = await api.get(`/api/runs/${runId}${path}`)
      expect([response.status, await response.json()]).toEqual([
        404,
        { error: 'RUN_NOT_FOUND', message: `No run with ID ${runId}` },
      ])
    }
    expect((await remove(api, runId)).status).toBe(404)
    expect((await api.detail(other)).status).toBe('COMPLETED')
    expect(await (await api.get('/api/runs')).json()).toMatchObject({ total: 1 })
  })

  it('A deletion of a run cancels a running run first, and its readers get the end', async () => {
    await using api = await openServer()
    const runId = await started(api)
    const reading = eventsOf(await api.get(`/api/runs/${runId}/events`))
    await using socket = api.connect(`/runs/${runId}/ws`)
    await socket.next('hello')
    expect((await remove(api, runId)).status).toBe(204)
    const events = await reading
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'CANCELLED' })
    expect(await socket.next('run_result')).toMatchObject({ status: 'CANCELLED' })
    expect((await api.get(`/api/runs/${runId}`)).status).toBe(404)
    expect(api.errors).toEqual([])
  })

  it('A deletion of a run cancels a run first that waits for a slot or for a person', async () => {
    await using api = await openServer({
      ensembles: [reviewedTask()],
      limits: { maxConcurrentRuns: 1, parkAfterMs: 1 },
    })
    const submit = async (runId: string) =>
      api.post('/api/runs', { runId, inputs: { song: 'Ave' } })
    await submit('parked')
    for await (const batch of api.runs.follow({ runId: 'parked', from: 0 })) {
      if (batch.some((event) => event.type === 'review_requested')) break
    }
    await submit('other')
    for (const runId of ['parked', 'other']) expect((await remove(api, runId)).status).toBe(204)
    expect(await (await api.get('/api/reviews')).json()).toEqual({ reviews: [], total: 0 })
    expect(await (await api.get('/api/runs')).json()).toEqual({ runs: [], total: 0 })
  })

  it('A deletion of a run returns 404 for an unknown id', async () => {
    await using api = await openServer()
    const response = await remove(api, 'run-none')
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: 'RUN_NOT_FOUND', message: 'No run with ID run-none' },
    ])
  })

  it('A deletion of a run frees the id for another run', async () => {
    await using api = await openServer()
    const submit = () =>
      api.post('/api/runs', { runId: 'mine', inputs: { composer: 'Bach', hall: 'A' } })
    await submit()
    expect((await remove(api, 'mine')).status).toBe(204)
    expect((await submit()).status).toBe(202)
    api.play()
    const events = await eventsOf(await api.get('/api/runs/mine/events'))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
  })

  it('A deletion of a run succeeds once when many callers delete at the same time, and leaves no caller waiting', async () => {
    // The clock does not advance, so a caller that waits for the end of a deleted run would hang.
    await using api = await openServer({ clock: fakeClock() })
    const runId = await started(api)
    const answers = await Promise.all(Array.from({ length: 5 }, () => remove(api, runId)))
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses[0]).toBe(204)
    expect(statuses.filter((status) => status !== 204 && status !== 404)).toEqual([])
    expect(api.errors).toEqual([])
  })
})
