/** The options of a run: each has its effect, and only on that run. */
import { describe, expect, it } from 'vitest'

import { eventsOf } from './open-server.ts'
import { openRecordedServer, type RecordedServer } from './recorded-server.ts'

import type { Logger } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'

const INPUTS = { topic: 'AI' }

async function submitRun(api: RecordedServer, options?: object): Promise<string> {
  const response = await api.post('/api/runs', { inputs: INPUTS, ...(options && { options }) })
  expect(response.status).toBe(202)
  const { runId } = (await response.json()) as { runId: string }
  return runId
}

async function run(api: RecordedServer, options?: object): Promise<readonly LoggedRunEvent[]> {
  return eventsOf(await api.get(`/api/runs/${await submitRun(api, options)}/events`))
}

/** A logger that stores its lines. */
function createNotes() {
  const lines: [message: string, fields: Readonly<Record<string, unknown>> | undefined][] = []
  const keep: Logger['info'] = (message, fields) => {
    lines.push([message, fields])
  }
  return { lines, logger: { debug: keep, info: keep, warn: keep, error: keep } }
}

describe('the option', () => {
  it('The option `workflow` orders the tasks of this run', async () => {
    await using api = await openRecordedServer()
    const events = await run(api, { workflow: 'SEQUENTIAL' })
    expect(events[0]).toMatchObject({ type: 'run_queued', workflow: 'SEQUENTIAL' })
    expect((await run(api))[0]).toMatchObject({ workflow: 'PARALLEL' })
  })

  it.each([
    ['AFTER_EVERY_TASK', ['researcher', 'writer']],
    ['AFTER_LAST_TASK', ['writer']],
    ['NEVER', []],
  ])('reviewPolicy %s requests a review after such tasks', async (reviewPolicy, asked) => {
    await using api = await openRecordedServer()
    const runId = await submitRun(api, { reviewPolicy })
    const seen: string[] = []
    for await (const batch of api.runs.follow({ runId, from: 0 })) {
      for (const event of batch) {
        if (event.type !== 'review_requested') continue
        seen.push(event.taskName)
        const decided = await api.post(`/api/reviews/${event.reviewId}`, { decision: 'CONTINUE' })
        expect(decided.status).toBe(200)
      }
    }
    expect(seen).toEqual(asked)
    expect(await api.detail(runId)).toMatchObject({
      status: 'COMPLETED',
      options: { reviewPolicy },
    })
  })

  it('reviewPolicy yields to the setting of a task', async () => {
    await using api = await openRecordedServer()
    const tasks = [
      { name: 'a', description: 'A', review: 'skip' },
      { name: 'b', description: 'B' },
      { name: 'c', description: 'C', review: 'required' },
    ]
    const asked = async (options: object) => {
      const response = await api.post('/api/runs', { tasks, options })
      const { runId } = (await response.json()) as { runId: string }
      const seen: string[] = []
      for await (const batch of api.runs.follow({ runId, from: 0 })) {
        for (const event of batch) {
          if (event.type !== 'review_requested') continue
          seen.push(event.taskName)
          await api.post(`/api/reviews/${event.reviewId}`, { decision: 'CONTINUE' })
        }
      }
      return seen
    }
    expect(await asked({ reviewPolicy: 'AFTER_EVERY_TASK' })).toEqual(['b', 'c'])
    expect(await asked({ reviewPolicy: 'NEVER' })).toEqual(['c'])
  })

  it.each([
    [10, /^calculator\n\[truncated: 68 /],
    [-1, /^calculator says x{50}me$/],
  ])(
    'maxToolOutputLength %i truncates the tool output that the model gets',
    async (limit, given) => {
      await using api = await openRecordedServer()
      const events = await run(api, { maxToolOutputLength: limit })
      const results = api.asked.flatMap(({ messages }) =>
        messages.filter(({ role }) => role === 'tool').map(({ content }) => content),
      )
      expect(results[0]).toMatch(given)
      expect(events.find(({ type }) => type === 'tool_called')).toMatchObject({
        toolResult: expect.stringMatching(/^calculator says x{50}me$/),
      })
    },
  )

  it('The option `verbose` logs tasks, turns and tool calls; without it the log stays empty', async () => {
    const { lines, logger } = createNotes()
    await using api = await openRecordedServer({ limits: { logger } })
    await run(api)
    const about = () => lines.filter(([, fields]) => fields?.['runId'] !== undefined)
    expect(about()).toEqual([])
    const [{ runId } = { runId: '' }] = await run(api, { verbose: true })
    expect(about().map(([message]) => message)).toEqual([
      'Task started',
      'Model answered',
      'Tool called',
      'Model answered',
      'Task completed',
      'Task started',
      'Model answered',
      'Task completed',
      'Run ended',
    ])
    expect(new Set(about().map(([, fields]) => fields?.['runId']))).toEqual(new Set([runId]))
    expect(about()[2]?.[1]).toMatchObject({ task: 'researcher', tool: 'calculator' })
  })

  it.each([
    [5, /^calcu(?!lator)/],
    [-1, /^calculator says x{50}me$/],
    [undefined, /^calculator says x{50}me$/],
  ])('toolLogTruncateLength %s truncates the tool output in the log', async (limit, shown) => {
    const { lines, logger } = createNotes()
    await using api = await openRecordedServer({ limits: { logger } })
    await run(api, {
      verbose: true,
      ...(limit === undefined ? {} : { toolLogTruncateLength: limit }),
    })
    const call = lines.find(([message]) => message === 'Tool called')
    expect(call?.[1]?.['result']).toMatch(shown)
  })
})

describe('the options of a run', () => {
  it('The options of a run are in its detail in full, and over WebSocket too', async () => {
    const webhooks = {
      crm: { url: 'http://127.0.0.1:1/', secret: `whsec_${btoa('x'.repeat(24))}` },
    }
    await using api = await openRecordedServer({ webhooks })
    const options = { workflow: 'SEQUENTIAL', verbose: false, maxToolOutputLength: 9 }
    const response = await api.post('/api/runs', { inputs: INPUTS, options, webhooks: ['crm'] })
    const { runId } = (await response.json()) as { runId: string }
    await eventsOf(await api.get(`/api/runs/${runId}/events`))
    const detail = await api.detail(runId)
    expect(detail).toMatchObject({
      options,
      webhooks: ['crm'],
      metrics: { costUsd: expect.any(Number) },
    })
    expect(detail).not.toHaveProperty('submittedBy')
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'state_query', requestId: 'q', query: 'run_detail', runId })
    expect((await socket.next('state_response')).data).toEqual(detail)
    const plain = await api.detail(await submitRun(api))
    expect(plain).not.toHaveProperty('options')
    expect(plain).not.toHaveProperty('webhooks')
  })
})
