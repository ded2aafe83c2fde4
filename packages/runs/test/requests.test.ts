/** Runs with requested tasks and overrides, over several processes. */
import { cancel, decide, inject, switchModel } from './commands.ts'
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { createRunService, type RunService } from '@tutti/runs'
import type { RequestedRun, RunStorage } from '@tutti/runs/adapter'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { allEvents } from './waiting-ensemble.ts'
import { STORES } from './stores.ts'

import type { RunServiceOptions } from '@tutti/runs'

/** The parts of every process; `tools` and `models` may differ between processes. */
function crew({ tools = ['look', 'wait'], models = ['opus'] } = {}) {
  const asked: (ModelRequest & { readonly by: string })[] = []
  const gate = Promise.withResolvers<void>()
  const called: string[] = []
  const catalog = tools.map((name) =>
    defineTool({
      name,
      description: name,
      input: Type.Object({}),
      async execute(_, { signal }) {
        called.push(name)
        if (name !== 'wait') return `${name}ed`
        const aborted = new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve())
        })
        await Promise.race([gate.promise, aborted])
        return 'waited'
      },
    }),
  )
  const speaker = (name: string) =>
    scriptedModel(
      (request) => {
        asked.push({ ...request, by: name })
        const has = request.messages.some(({ role }) => role === 'tool')
        if (request.tools.length > 0 && !has) {
          return { toolCalls: request.tools.map((one) => ({ name: one.name, arguments: {} })) }
        }
        return JSON.stringify({ by: name })
      },
      { name },
    )
  const template = ensemble({
    name: 'crew',
    tasks: [task({ name: 'own', description: 'Own' })],
    model: speaker('main'),
  })
  const settings: RunServiceOptions = {
    tools: toolCatalog(catalog),
    models: modelCatalog(Object.fromEntries(models.map((name) => [name, speaker(name)]))),
    parkAfterMs: 1,
  }
  return {
    asked,
    called,
    play: gate.resolve,
    async serve(storage: RunStorage): Promise<RunService> {
      const service = createRunService(storage, [template], settings)
      await service.start()
      return service
    },
  }
}

const LEVEL_3: RequestedRun = {
  tasks: [
    { name: 'first', description: 'Look', tools: ['look'], model: 'opus', additionalContext: 'Up' },
    {
      name: 'second',
      description: 'Wait for {what}',
      context: ['$first'],
      tools: ['wait'],
      model: 'opus',
      outputSchema: { type: 'object', properties: { by: { const: 'opus' } } },
    },
  ],
  taskOverrides: { second: { maxIterations: 3 } },
}

const HISTORY: RequestedRun['history'] = [
  { role: 'user', content: 'Who wrote {what}?' },
  { role: 'assistant', content: 'Ask me about one work' },
]

const MESSAGES = [HISTORY[0], { ...HISTORY[1], toolCalls: [] }]

const LEVEL_2: RequestedRun = {
  taskOverrides: {
    own: { model: 'opus', tools: { add: ['wait'] }, description: 'Wait for {what}' },
  },
}

describe.each(Object.entries(STORES))('on the store "%s"', (_, place) => {
  it.each([
    ['level 2', LEVEL_2],
    ['level 3', LEVEL_3],
  ])(
    '[RUNS-R2] [ENS-L29] A run at %s continues unchanged in another process',
    async (__, request) => {
      await using where = await place()
      const [before, after] = [crew(), crew()]
      const first = await before.serve(await where.open())
      const { runId } = await first.submit({
        ...request,
        history: HISTORY,
        inputs: { what: 'Bach' },
      })
      await until('the tool waits', () => before.called.includes('wait'))
      await first.close({ drainTimeoutMs: 0 })
      const second = await after.serve(await where.open())
      after.play()
      const events = await allEvents(second, runId)
      expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
      expect(events.filter(({ type }) => type === 'ensemble_started')).toHaveLength(1)
      expect(new Set([...before.asked, ...after.asked].map(({ by }) => by))).toEqual(
        new Set(['opus']),
      )
      expect(before.called.filter((name) => name === 'look')).toHaveLength(request.tasks ? 1 : 0)
      expect(after.called).not.toContain('look')
      const stored = (await second.get(runId))?.run
      expect(stored?.request).toEqual({ ...request, history: HISTORY })
      const [firstAsked, lastAsked] = [before.asked[0], after.asked.at(-1)]
      expect(firstAsked?.messages.slice(1, 3)).toEqual(MESSAGES)
      expect(lastAsked?.messages.slice(1, 3)).toEqual(MESSAGES)
      const done = events.findLast((event) => event.type === 'task_completed')
      expect(done).toMatchObject({ output: '{"by":"opus"}' })
      await second.close({ drainTimeoutMs: 0 })
    },
  )

  it('A run whose tool or model is missing fails with the reason when it is resumed', async () => {
    await using where = await place()
    const before = crew()
    const first = await before.serve(await where.open())
    const { runId } = await first.submit({ ...LEVEL_3, inputs: { what: 'Bach' } })
    await until('the tool waits', () => before.called.includes('wait'))
    await first.close({ drainTimeoutMs: 0 })
    const after = crew({ tools: ['look'], models: ['haiku'] })
    const second = await after.serve(await where.open())
    const events = await allEvents(second, runId)
    expect(events.at(-1)).toMatchObject({
      type: 'run_result',
      status: 'FAILED',
      error: expect.stringMatching(
        /Unknown model 'opus'. Available: \[haiku\].*Unknown tool 'wait'. Available: \[look\]/,
      ),
    })
    expect(after.asked).toEqual([])
    await second.close({ drainTimeoutMs: 0 })
  })

  it('An unowned run applies commands with its own tasks, models and texts', async () => {
    await using where = await place()
    const { serve, asked } = crew()
    const service = await serve(await where.open())
    const { runId } = await service.submit({
      tasks: [
        { name: 'mine', description: 'Mine', review: 'required' },
        { name: 'last', description: 'Last', context: ['$mine'] },
      ],
    })
    await until('it rests', async () => (await service.get(runId))?.run.status === 'WAITING_REVIEW')
    await expect(switchModel(service, runId, 'opus', { taskName: 'own' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('mine, last'),
    })
    expect(await switchModel(service, runId, 'opus', { taskName: 'last' })).toMatchObject({
      model: 'opus',
      previousModel: 'scripted:main',
    })
    await inject(service, runId, { content: 'Be brief', to: 'last' })
    const [review] = await service.reviews.open({ runId })
    await decide(service, review?.reviewId ?? '', { action: 'CONTINUE' })
    const events = await allEvents(service, runId)
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(asked.map(({ by }) => by)).toEqual(['main', 'opus'])
    expect(JSON.stringify(asked[1]?.messages)).toContain('Be brief')
    await service.close({ drainTimeoutMs: 0 })
  })

  it('An unowned run whose tool is missing accepts only a cancel', async () => {
    await using where = await place()
    const before = crew()
    const first = await before.serve(await where.open())
    const { runId } = await first.submit({
      tasks: [{ name: 'mine', description: 'Mine', tools: ['look'], review: 'required' }],
    })
    await until('the run is parked', async () => (await first.status.load()).parked > 0)
    await first.close({ drainTimeoutMs: 0 })
    const second = await crew({ tools: ['wait'] }).serve(await where.open())
    await expect(inject(second, runId, 'x')).rejects.toMatchObject({
      code: 'ENSEMBLE_UNAVAILABLE',
      retryable: true,
    })
    await cancel(second, runId)
    expect((await allEvents(second, runId)).at(-1)).toMatchObject({ status: 'CANCELLED' })
    await second.close({ drainTimeoutMs: 0 })
  })
})
