/** Tests of what protocols say about runs that wait for events, for people, or for both. */
import { ensemble, task, type Task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { a2aAgent, type A2aAgent, type Untyped } from './a2a-agent.ts'

import type { RunList } from '@tutti/protocol'

const payment = task({ name: 'payment', description: 'Wait', waitFor: { event: 'paid' } })

const raced = task({
  name: 'raced',
  description: 'Wait',
  waitFor: { event: 'paid', review: true },
})

const approval = task({
  name: 'approval',
  description: 'Approve',
  review: true,
  handler: () => 'a draft',
})

const team = (name: string, ...tasks: readonly Task[]) =>
  ensemble({ name, workflow: 'PARALLEL', model: scriptedModel([]), tasks: [...tasks] })

const TEAMS = [
  team('event', payment),
  team('raced', raced),
  team('person and event', approval, payment),
] as const

const MAX_POLL = { timeout: 20_000 }

/** Submits a run of each team, and waits until all have their status. */
async function waitingRuns(api: A2aAgent): Promise<readonly string[]> {
  const runIds: string[] = []
  for (const { name } of TEAMS) {
    runIds.push((await api.runs.submit({ ensemble: name, inputs: {} })).runId)
  }
  const statuses = () => Promise.all(runIds.map(async (id) => (await api.detail(id)).status))
  await expect.poll(statuses, MAX_POLL).toEqual(['WAITING', 'WAITING_REVIEW', 'WAITING_REVIEW'])
  return runIds
}

describe.each([
  ['owned', 3_600_000],
  ['parked', 20],
])('a run that waits (%s)', (how, parkAfterMs) => {
  const options = { ensembles: TEAMS, limits: { parkAfterMs } }

  it('A run that waits has the same state in ListTasks as in GetTask, for events and for people', async () => {
    await using api = await a2aAgent(options)
    const runIds = await waitingRuns(api)
    if (how === 'parked') {
      await expect.poll(async () => (await api.runs.status.load()).parked, MAX_POLL).toBe(3)
    }
    const states = new Map<string, string>()
    for (const state of ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED'] as const) {
      const { result } = await api.call('ListTasks', { status: state })
      expect(result.tasks.map(({ status }: Untyped) => status.state)).toEqual(
        Array(result.tasks.length).fill(state),
      )
      for (const { id } of result.tasks) states.set(id, state)
    }
    const asked = 'TASK_STATE_INPUT_REQUIRED'
    expect(runIds.map((id) => states.get(id))).toEqual(['TASK_STATE_WORKING', asked, asked])
    const got = await Promise.all(runIds.map((id) => api.call('GetTask', { id })))
    expect(got.map(({ result }) => result.status.state)).toEqual(runIds.map((id) => states.get(id)))
    for (const { result } of got) {
      const { result: all } = await api.call('ListTasks', { contextId: result.contextId })
      expect(all.tasks).toMatchObject([{ status: { state: result.status.state } }])
    }
  })

  it('A run that waits for events is listed under status=WAITING, and gets broadcast directives', async () => {
    await using api = await a2aAgent(options)
    const [runId = ''] = await waitingRuns(api)
    const list = async (status: string) =>
      (await (await api.get(`/api/runs?status=${status}`)).json()) as RunList
    expect(await list('WAITING')).toMatchObject({ total: 1, runs: [{ runId, openReviews: 0 }] })
    expect((await list('WAITING_REVIEW')).total).toBe(2)
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'directive', content: 'Hurry' })
    await expect
      .poll(async () => {
        const events = await api.runs.readEvents({ runId, from: 0, limit: 100 })
        return events.filter(({ type }) => type === 'directive_active')
      }, MAX_POLL)
      .toMatchObject([{ content: 'Hurry' }])
  })
})
