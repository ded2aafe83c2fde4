/** Runs that wait for the results of client tools, over several processes. */
import { ensemble, task } from '@tutti/ensemble'
import { createRunService, type RunService, type RunSubmission } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { decide } from './commands.ts'
import { STORES, type TestStore } from './stores.ts'
import { allEvents } from './waiting-ensemble.ts'

const weather = {
  name: 'get_weather',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
} satisfies NonNullable<RunSubmission['clientTools']>[number]

async function open(place: TestStore, { executes = true } = {}): Promise<RunService> {
  const model = scriptedModel(({ messages }) => {
    const results = messages.flatMap((one) => (one.role === 'tool' ? [one.content] : []))
    if (results.length > 0) return results.join(' | ')
    return {
      toolCalls: ['Bonn', 'Ulm'].map((city) => ({
        id: city,
        name: 'get_weather',
        arguments: { city },
      })),
    }
  })
  const tasks = [task({ name: 'ask', description: 'Forecast' })]
  const team = ensemble({ name: 'team', model, tasks })
  const service = createRunService(await place.open(), [team], { parkAfterMs: 1, executes })
  await service.start()
  return service
}

const close = { drainTimeoutMs: 1_000 }

describe.each(Object.entries(STORES))('client tools (%s)', (_, make) => {
  it('[RUNS-X5] Client tools park their run, which continues in another process with the answers', async () => {
    await using place = await make()
    const first = await open(place)
    const { runId } = await first.submit({ clientTools: [weather] })
    await until('the run is parked', async () => (await first.status.load()).parked > 0)
    const reviews = await first.reviews.open({ runId })
    expect(reviews.map(({ request }) => request)).toMatchObject(
      ['Bonn', 'Ulm'].map((city) => ({
        kind: 'CLIENT_TOOL',
        toolCallId: city,
        toolName: 'get_weather',
        toolInput: { city },
      })),
    )
    const people = { kinds: ['TASK_INPUT', 'TASK_OUTPUT', 'TOOL_CALL', 'QUESTION'] } as const
    const calls = { runId, kinds: ['CLIENT_TOOL'] } as const
    expect(await first.reviews.open(people)).toEqual([])
    expect(await first.reviews.countOpen(people)).toBe(0)
    expect(await first.reviews.open(calls)).toEqual(reviews)
    expect(await first.reviews.countOpen(calls)).toBe(2)
    expect(reviews.every(({ expiresAt }) => expiresAt !== undefined)).toBe(true)
    await first.close(close)
    const api = await open(place, { executes: false })
    const [bonn, ulm] = reviews.map(({ reviewId }) => reviewId)
    await expect(decide(api, bonn ?? '', { action: 'CONTINUE' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    await decide(api, bonn ?? '', { action: 'EDIT', revisedOutput: 'rain {not JSON' })
    await api.close(close)
    const second = await open(place)
    await until('one call is open', async () => (await second.reviews.open({ runId })).length === 1)
    await decide(second, ulm ?? '', { action: 'REJECT', feedback: 'offline' })
    const events = await allEvents(second, runId)
    expect(events.at(-1)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ output: expect.stringMatching(/^rain \{not JSON \| .*"get_weather": offline/) }],
    })
    expect(events.filter(({ type }) => type === 'review_requested')).toHaveLength(2)
    expect((await second.get(runId))?.run.request).toEqual({ clientTools: [weather] })
    await second.close(close)
  })

  it('[RUNS-I1] Client tools are refused with every problem', async () => {
    await using place = await make()
    const service = await open(place)
    const tools = [weather, weather, { name: 'a b', inputSchema: { type: 'object' } }]
    await expect(service.submit({ clientTools: tools })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      details: {
        problems: [
          { path: '/clientTools/1/name', message: 'must be unique, got "get_weather" again' },
          { path: '/clientTools/2', message: expect.stringContaining('name must be 1 to 64') },
        ],
      },
    })
    const invalid = [{ name: 'x', inputSchema: { type: 'objekt' } }]
    await expect(service.submit({ clientTools: invalid })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('/clientTools/0'),
    })
    const slow = [{ name: 'x', inputSchema: { type: 'object', title: 'x'.repeat(65_536) } }]
    await expect(service.submit({ clientTools: slow })).rejects.toMatchObject({
      details: { problems: [{ path: '/clientTools/0/inputSchema' }] },
    })
    await service.close(close)
  })
})
