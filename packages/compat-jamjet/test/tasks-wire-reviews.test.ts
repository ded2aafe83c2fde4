/** Reviews over the `/tasks` wire, and other effects of a second message to a task. */
import { defineTextTool } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { jamjetStream, jamjetSync } from './tasks-wire-jamjet.ts'
import { linesOf, sendBody, openTasksServer, type TasksServer } from './tasks-server.ts'

type Json = Record<string, unknown>

async function ask(api: TasksServer, agent: string, text: string): Promise<Json> {
  return (await api.send(`/agents/${agent}/tasks/send`, sendBody(text))).json() as Promise<Json>
}

/** Returns the status and the body of a reply. */
async function reply(api: TasksServer, id: unknown, text: string, metadata: object = {}) {
  const response = await api.send('/tasks/send', sendBody(text, { id, metadata }))
  return { http: response.status, ...((await response.json()) as Json) } as Json
}

describe('a review on the /tasks wire', () => {
  it('A review on the /tasks wire is `input-required` with the question and its subject, and the run waits', async () => {
    await using api = await openTasksServer()
    const body = await jamjetSync(api.agent('choir'), { song: 'Ode' })
    expect(body).toEqual({
      id: await api.newest(),
      status: 'input-required',
      output: 'Is it in tune?\n\nLa la',
      reviewId: expect.stringMatching(/^review-/),
      review: {
        task: 'sing',
        kind: 'TASK_OUTPUT',
        timing: 'AFTER_EXECUTION',
        prompt: 'Is it in tune?',
        task_output: 'La la',
        timeout_ms: 60_000,
        on_timeout: 'EXIT_EARLY',
      },
      total_tokens: expect.any(Number),
    })
    const { pendingReviews } = await api.detail(String(body['id']))
    expect(pendingReviews).toMatchObject([{ reviewId: body['reviewId'] }])
  })

  it('A review on the /tasks wire ends a stream with the question, and the reply continues it', async () => {
    await using api = await openTasksServer()
    const { chunks, id } = await jamjetStream(api.agent('choir'), 'Ode')
    expect(chunks.at(-1)).toMatchObject({ id, status: 'input-required' })
    const response = await api.send('/tasks/sendSubscribe', sendBody('yes', { id }))
    const lines = await linesOf(response)
    expect(lines.map(({ type }) => type)).toEqual([undefined, 'task_completed', undefined])
    expect(lines.at(-1)).toMatchObject({ id, status: 'completed', output: 'La la' })
  })

  it.each([
    ['yes', { status: 'completed', output: 'La la' }],
    ['"approve"', { status: 'completed', output: 'La la' }],
    ['Do re mi', { status: 'completed', output: 'Do re mi' }],
    ['No changes but one: do', { output: 'No changes but one: do' }],
    ['exit', { status: 'completed' }],
  ])('A review on the /tasks wire is decided by the text %j', async (text, expected) => {
    await using api = await openTasksServer()
    const { id } = await ask(api, 'choir', 'Ode')
    expect(await reply(api, id, text)).toMatchObject({ id, ...expected })
  })

  it('A review on the /tasks wire that rejects sends the work back with the feedback, and asks again', async () => {
    await using api = await openTasksServer()
    const first = await ask(api, 'choir', 'Ode')
    const second = await reply(api, first['id'], 'no: too low')
    expect(second).toMatchObject({ http: 200, id: first['id'], status: 'input-required' })
    expect(second['reviewId']).not.toBe(first['reviewId'])
    const events = await api.runs.readEvents({ runId: String(first['id']), from: 0, limit: 100 })
    expect(events.filter(({ type }) => type === 'review_decided')).toMatchObject([
      { decision: 'REJECT', feedback: 'too low' },
    ])
    expect(await reply(api, first['id'], 'ok')).toMatchObject({ status: 'completed' })
  })

  it('A review on the /tasks wire is decided by data like over REST, with every problem named', async () => {
    await using api = await openTasksServer()
    const { id } = await ask(api, 'choir', 'Ode')
    const data = (value: object) => ({ id, message: { parts: [{ type: 'data', data: value }] } })
    const refused = await api.send('/tasks/send', { params: data({ decision: 'EDIT', x: 1 }) })
    const { error, problems } = (await refused.json()) as { error: string; problems: unknown[] }
    expect([refused.status, error, problems.length]).toEqual([400, 'BAD_REQUEST', 2])
    const edited = data({ decision: 'EDIT', revisedOutput: 'Fa' })
    expect(await (await api.send('/tasks/send', { params: edited })).json()).toMatchObject({
      status: 'completed',
      output: 'Fa',
    })
  })

  it('A tool review on the /tasks wire accepts its input as JSON, and names invalid parts', async () => {
    await using api = await openTasksServer()
    const { id, output, review } = await ask(api, 'soloist', 'Ode')
    expect(output).toContain('440')
    expect(review).toMatchObject({ tool: 'tune', tool_input: { hertz: 440 } })
    expect(await reply(api, id, 'higher')).toMatchObject({ http: 400, error: 'BAD_REQUEST' })
    expect(await reply(api, id, '{"hertz":442}')).toMatchObject({
      status: 'completed',
      output: expect.stringMatching(/^A reviewer changed the input.*\n\nTuned to 442$/),
    })
  })

  it('A tool question on the /tasks wire accepts any text as the answer', async () => {
    const model = scriptedModel(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return `Heard ${last.content}`
      return { toolCalls: [{ name: 'ask', arguments: { input: 'Loud?' } }] }
    })
    const askPerson = defineTextTool({
      name: 'ask',
      description: 'Asks',
      async execute(question, { requestAnswer }) {
        const answer = await requestAnswer(question)
        return answer.answered ? answer.value : 'no answer'
      },
    })
    const play = task({ name: 'play', description: 'Play', tools: [askPerson] })
    await using api = await openTasksServer({
      ensembles: [ensemble({ name: 'shy', tasks: [play], model })],
    })
    const { id, output, status } = await ask(api, 'shy', '')
    expect([status, output]).toEqual(['input-required', 'Loud?'])
    expect(await reply(api, id, 'yes')).toMatchObject({ output: 'Heard yes' })
  })

  it('A review on the /tasks wire must be named unless it is the first one; a review of another task or an unknown one is refused', async () => {
    await using api = await openTasksServer()
    const [one, other] = [await ask(api, 'choir', 'a'), await ask(api, 'choir', 'b')]
    const foreign = { reviewId: other['reviewId'] }
    expect(await reply(api, one['id'], 'yes', foreign)).toMatchObject({
      http: 404,
      error: 'REVIEW_NOT_FOUND',
    })
    const own = { reviewId: one['reviewId'] }
    expect(await reply(api, one['id'], 'yes', own)).toMatchObject({ status: 'completed' })
    expect(await reply(api, one['id'], 'yes', own)).toMatchObject({
      http: 409,
      error: expect.stringMatching(/REVIEW_RESOLVED|RUN_COMPLETED/),
    })
    expect(await reply(api, other['id'], ' ')).toMatchObject({ http: 400 })
  })

  it('A review on the /tasks wire stays open while it is only read, and its run can be cancelled', async () => {
    await using api = await openTasksServer()
    const { id, reviewId } = await ask(api, 'choir', 'Ode')
    const look = await api.send('/tasks/send', { params: { id } })
    expect(await look.json()).toMatchObject({ id, status: 'input-required', reviewId })
    const cancelled = await api.send('/tasks/cancel', { id })
    expect(await cancelled.json()).toEqual({ id, status: 'canceled' })
  })
})

describe('a message to a working task', () => {
  it('A message to a working task guides its agents and returns the result', async () => {
    await using api = await openTasksServer()
    const id = 'guided'
    const first = api.send('/agents/long/tasks/send', sendBody('', { id }))
    await expect.poll(() => api.runs.status.running).toBe(1)
    const second = reply(api, id, 'Louder')
    for await (const events of api.runs.follow({ runId: id, from: 0 })) {
      if (events.some(({ type }) => type === 'directive_active')) break
    }
    api.play()
    expect(await second).toMatchObject({ http: 200, id, status: 'completed' })
    expect(await (await first).json()).toMatchObject({ id, status: 'completed' })
    const events = await api.runs.readEvents({ runId: id, from: 0, limit: 100 })
    expect(events.find(({ type }) => type === 'directive_active')).toMatchObject({
      content: 'Louder',
    })
  })

  it('A message to a working task is refused when the task has ended', async () => {
    await using api = await openTasksServer()
    const { id } = await ask(api, 'echo', 'x')
    expect(await reply(api, id, 'more')).toMatchObject({ http: 409, error: 'RUN_COMPLETED' })
  })
})
