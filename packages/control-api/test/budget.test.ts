/** The budget of a run, which is the smaller of those of its ensemble and its request. */
import { ensemble, modelCatalog, task, type Budget } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, type TestServer } from './open-server.ts'
import { openRecordedServer } from './recorded-server.ts'

const INPUTS = { topic: 'AI' }

async function submitRun(api: TestServer, body: object): Promise<string> {
  const response = await api.post('/api/runs', { inputs: INPUTS, ...body })
  expect(response.status).toBe(202)
  const { runId } = (await response.json()) as { runId: string }
  return runId
}

async function runToEnd(api: TestServer, body: object) {
  const runId = await submitRun(api, body)
  const events = await eventsOf(await api.get(`/api/runs/${runId}/events`))
  return { events, detail: await api.detail(runId) }
}

async function submitRefused(api: TestServer, body: object) {
  const response = await api.post('/api/runs', { inputs: INPUTS, ...body })
  return [response.status, await response.json()] as const
}

/** Returns an ensemble of two tasks with one model call each, and with a budget. */
function pair(budget?: Budget) {
  const model = scriptedModel(() => ({ text: 'Done', usage: { inputTokens: 6, outputTokens: 4 } }))
  const first = task({ name: 'first', description: 'First' })
  const second = task({ name: 'second', description: 'Second', context: [first] })
  const tasks = [first, second]
  return ensemble({ name: 'pair', tasks, model, ...(budget === undefined ? {} : { budget }) })
}

describe('the budget of a request', () => {
  it('The budget of a request ends the run when it is exhausted; completed work and the budget are in the detail', async () => {
    await using api = await openRecordedServer({ ensembles: [pair()] })
    const budget = { maxModelCalls: 1 }
    const { events, detail } = await runToEnd(api, { budget })
    expect(detail).toMatchObject({
      status: 'FAILED',
      budget,
      error: expect.stringContaining(
        'The budget of the run is used up: maxModelCalls is 1, used 1',
      ),
      tasks: [{ name: 'first', output: 'Done' }, { name: 'second' }],
    })
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'FAILED' })
    expect((await runToEnd(api, {})).detail).not.toHaveProperty('budget')
  })

  it.each([
    [{ maxTokens: 15 }, { maxTokens: 100 }, 'COMPLETED'],
    [{ maxTokens: 15 }, { maxTokens: 10 }, 'FAILED'],
    [{ maxTokens: 10 }, { maxTokens: 100 }, 'FAILED'],
    [{ maxModelCalls: 9 }, { maxTokens: 10 }, 'FAILED'],
    [{ maxModelCalls: 1 }, { maxTokens: 100 }, 'FAILED'],
  ] as const)(
    'The budget of a request with %j of the ensemble and %j: %s',
    async (own, budget, status) => {
      await using api = await openRecordedServer({ ensembles: [pair(own)] })
      expect((await runToEnd(api, { budget })).detail.status).toBe(status)
    },
  )

  it('The budget of a request counts the cost of models by the prices of the server', async () => {
    await using api = await openRecordedServer()
    const { detail } = await runToEnd(api, { budget: { maxCostUsd: 1e-9 } })
    expect(detail).toMatchObject({ status: 'FAILED', error: expect.stringContaining('maxCostUsd') })
  })

  it('The budget of a request with a cost limit is refused when a model has no known price, also of an override', async () => {
    const model = scriptedModel(() => 'Done', { provider: 'acme', name: 'main' })
    const opus = scriptedModel(() => 'Done', { provider: 'acme', name: 'opus' })
    const write = task({ name: 'writer', description: 'Write' })
    const file = task({ name: 'file', description: 'File', handler: () => 'Done' })
    await using api = await openRecordedServer({
      ensembles: [
        ensemble({ name: 'pair', tasks: [write, task({ description: 'Check' })], model }),
        ensemble({ name: 'archive', tasks: [file] }),
      ],
      limits: { prices: () => undefined, models: modelCatalog({ opus }) },
    })
    const problem = (models: string) => ({
      error: 'BAD_REQUEST',
      problems: [
        {
          path: '/budget/maxCostUsd',
          message: `cannot be enforced: no price is known for ${models}`,
        },
      ],
    })
    const budget = { maxCostUsd: 1 }
    expect(await submitRefused(api, { budget })).toMatchObject([400, problem('acme:main')])
    const taskOverrides = { writer: { model: 'opus' } }
    expect(await submitRefused(api, { budget, taskOverrides })).toMatchObject([
      400,
      problem('acme:opus, acme:main'),
    ])
    expect((await runToEnd(api, { ensemble: 'archive', budget })).detail.status).toBe('COMPLETED')
    expect(await (await api.get('/api/runs')).json()).toMatchObject({ total: 1 })
  })

  it('The budget of a request is refused with every problem when it is invalid', async () => {
    await using api = await openRecordedServer()
    const budget = { maxTokens: 0, maxCostUsd: '1', maxDurationMs: 1.5, maxWords: 3 }
    const [status, body] = await submitRefused(api, { budget })
    expect(status).toBe(400)
    const paths = body.problems.map(({ path }: { path: string }) => path)
    expect(paths.toSorted()).toEqual([
      '/budget/maxCostUsd',
      '/budget/maxDurationMs',
      '/budget/maxTokens',
      '/budget/maxWords',
    ])
    expect((await submitRefused(api, { budget: {} }))[0]).toBe(400)
  })

  it('The budget of a request works the same over WebSocket', async () => {
    await using api = await openRecordedServer({ ensembles: [pair()] })
    await using socket = api.connect()
    await socket.next('hello')
    const budget = { maxModelCalls: 1 }
    socket.send({ type: 'run_request', requestId: 'r', inputs: {}, budget })
    const { runId } = await socket.next('run_ack')
    expect(await socket.next('run_result')).toMatchObject({ status: 'FAILED' })
    expect(await api.detail(runId ?? '')).toMatchObject({ budget })
  })

  it('The budget of a request makes a submission differ from another one with the same idempotency key', async () => {
    await using api = await openRecordedServer({ ensembles: [pair()] })
    const send = (maxTokens: number) =>
      api.post('/api/runs', { budget: { maxTokens } }, { 'idempotency-key': 'k' })
    expect((await send(5)).status).toBe(202)
    expect((await send(5)).status).toBe(202)
    expect((await send(6)).status).toBe(409)
  })
})
