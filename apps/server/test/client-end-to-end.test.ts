/** Runs the main scenarios against the built server in a child process, with `@tutti/client` alone. */
import { describe, expect, it } from 'vitest'

import { recordSteps, POLLING } from './recorded-steps.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const LIMIT_MS = 60_000

const TEA = { inputs: { topic: 'tea' } }

describe('the built server', { timeout: LIMIT_MS }, () => {
  it('The built server executes a run that is submitted over REST, and returns its outputs', async () => {
    using files = recordSteps()
    await using server = await files.start({})
    const { runs } = server.client()
    const accepted = await runs.submit({ ...TEA, tags: { by: 'e2e' } })
    expect(accepted).toMatchObject({ status: 'ACCEPTED', tasks: 2, workflow: 'PARALLEL' })
    const getRun = () => runs.get(accepted.runId)
    await expect.poll(async () => (await getRun()).status, POLLING).toBe('COMPLETED')
    expect(await getRun()).toMatchObject({
      ...TEA,
      tags: { by: 'e2e' },
      tasks: [
        { name: 'plan', status: 'COMPLETED', output: 'All done' },
        { name: 'work', status: 'COMPLETED', output: 'All done', toolCallCount: 4 },
      ],
    })
    expect(await runs.list({ tag: 'by:e2e', status: 'COMPLETED' })).toMatchObject({ total: 1 })
  })

  it('The built server executes submitted tasks, and sends their events over a WebSocket', async () => {
    using files = recordSteps()
    await using server = await files.start({})
    const client = server.client()
    await using connection = client.connect()
    const events: LoggedRunEvent[] = []
    connection.subscribe({ onEvent: (event) => void events.push(event) })
    await connection.hello()
    const run = await client.runs.submit({
      ...TEA,
      tasks: [
        { name: 'brew', description: 'Brew {topic}', tools: ['step'], model: 'second' },
        { name: 'serve', description: 'Serve it', context: ['$brew'], model: 'first' },
      ],
    })
    expect(run).toMatchObject({ status: 'ACCEPTED', tasks: 2 })
    await expect.poll(() => events.at(-1)?.type, POLLING).toBe('run_result')
    expect(events.at(-1)).toMatchObject({
      status: 'COMPLETED',
      outputs: [
        { taskName: 'brew', output: 'All done' },
        { taskName: 'serve', output: 'All done' },
      ],
    })
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.filter(({ type }) => type === 'tool_called')).toHaveLength(4)
    expect(events.some(({ type }) => type === 'token')).toBe(true)
  })

  it('The built server cancels a run over REST, and retains its outputs so far', async () => {
    using files = recordSteps()
    files.hold(2)
    await using server = await files.start({})
    const { runs } = server.client()
    const { runId } = await runs.submit(TEA)
    await files.untilBegun(runId, 2)
    expect(await runs.cancel(runId)).toMatchObject({ status: 'CANCELLING' })
    const end = await runs.result(runId)
    expect(end.status).toBe('CANCELLED')
    expect(end.outputs).toMatchObject([{ taskName: 'plan', output: 'All done' }])
    expect(end.tasks.map(({ status }) => status)).toEqual(['COMPLETED', 'CANCELLED'])
    expect((await runs.get(runId)).status).toBe('CANCELLED')
  })

  it('The built server switches the model of a run, so that its second task uses it', async () => {
    using files = recordSteps()
    files.hold(1)
    await using server = await files.start({})
    const { runs } = server.client()
    const { runId } = await runs.submit(TEA)
    await files.untilBegun(runId, 1)
    expect(await runs.switchModel(runId, 'second')).toMatchObject({
      model: 'second',
      status: 'APPLIED',
    })
    files.release(1)
    const models: (string | undefined)[] = []
    for await (const event of runs.events(runId, { events: ['llm_iteration_started'] })) {
      models.push(event.model)
    }
    expect(models.at(0)).toBe('first')
    expect(models.at(-1)).toBe('second')
  })

  it('The built server sends the same live events over the event stream and the WebSocket', async () => {
    using files = recordSteps()
    files.hold(3)
    await using server = await files.start({})
    const client = server.client()
    await using connection = client.connect()
    const { runId } = await client.runs.submit(TEA)
    const socket = collect(connection.subscribe({ runId }))
    const live: LoggedRunEvent[] = []
    let statusWhenLive: string | undefined
    for await (const event of client.runs.events(runId)) {
      live.push(event)
      if (statusWhenLive === undefined && event.type === 'tool_called') {
        await files.untilBegun(runId, 3)
        statusWhenLive = (await client.runs.get(runId)).status
        files.release(3)
      }
    }
    expect(statusWhenLive).toBe('RUNNING')
    expect(live).toEqual(await socket)
    expect(live.map(({ seq }) => seq)).toEqual(live.map((_, index) => index))
    expect(live.every(({ id }) => id.startsWith(runId))).toBe(true)
  })

  it('The built server continues a run after its review is decided over REST', async () => {
    using files = recordSteps()
    await using server = await files.start({})
    const { reviews, runs } = server.client()
    const { runId } = await runs.submit({ ensemble: 'panel', ...TEA })
    await expect.poll(async () => (await runs.get(runId)).status, POLLING).toBe('WAITING_REVIEW')
    const [review] = (await reviews.list({ runId })).reviews
    expect(review).toMatchObject({ prompt: 'Good?', taskOutput: 'All done' })
    const edit = { decision: 'EDIT', revisedOutput: 'Very good' } as const
    expect(await reviews.decide(review?.reviewId ?? '', edit)).toMatchObject({ status: 'APPLIED' })
    expect(await runs.result(runId)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ taskName: 'decide', output: 'Very good' }],
    })
    expect((await reviews.list({ runId })).total).toBe(0)
  })
})

async function collect(events: AsyncIterable<LoggedRunEvent>): Promise<LoggedRunEvent[]> {
  const collected: LoggedRunEvent[] = []
  for await (const event of events) collected.push(event)
  return collected
}
