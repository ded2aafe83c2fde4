/** Forks with given results and directives, and previews of forks. */
import { defineTool, TuttiError, Type } from '@tutti/core'
import { ensemble, priceList, task } from '@tutti/ensemble'
import { createRunService, type RunService } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { STORES } from './stores.ts'
import { allEvents } from './waiting-ensemble.ts'

import type { RunStorage } from '@tutti/runs/adapter'
import type { LoggedRunEvent, RunEvent, RunEventOf } from '@tutti/protocol'

/** Two tasks: the first sends a letter and is reviewed, the second repeats its whole prompt. */
function createTeam() {
  const send = defineTool({
    name: 'send',
    description: 'Sends a letter',
    input: Type.Object({}),
    idempotent: false,
    execute: () => 'sent',
  })
  const model = scriptedModel(({ messages, tools }) => {
    if (tools.length === 0) return `[${messages.map(({ content }) => content).join(' ')}]`
    if (messages.at(-1)?.role === 'tool') return '{"letters": 1}'
    return { toolCalls: [{ id: 'c1', name: 'send', arguments: {} }] }
  })
  const letters = Type.Object({ letters: Type.Number() })
  const team = ensemble({
    name: 'office',
    model,
    tasks: [
      task({ name: 'mail', description: 'Mail', tools: [send], review: true, output: letters }),
      task({ name: 'report', description: 'Report', context: ['mail'] }),
      task({ name: 'archive', description: 'Archive', context: ['report'] }),
    ],
  })
  return { team, model }
}

const PRICES = priceList({ 'scripted:model': { inputPerMillion: 1, outputPerMillion: 1 } })

async function openService(storage: RunStorage) {
  const { team, model } = createTeam()
  const service = createRunService(storage, [team], { pollMs: 20, prices: PRICES })
  await service.start()
  return { service, model }
}

/** Approves every review of a run and returns its events. */
async function runToEnd(service: RunService, runId: string): Promise<readonly LoggedRunEvent[]> {
  for await (const events of service.follow({ runId, from: 0 })) {
    for (const event of events) {
      if (event.type !== 'review_requested') continue
      const decision = { action: 'CONTINUE' } as const
      const { reviewId } = event
      // The copied review of a task is closed when its output is provided.
      await service.send(runId, { kind: 'decide', reviewId, decision }).catch(ignoreClosed)
    }
  }
  return allEvents(service, runId)
}

function ignoreClosed(error: unknown): void {
  if (TuttiError.isInstance(error) && error.code.startsWith('REVIEW_')) return
  throw error
}

function typed<T extends RunEvent['type']>(
  events: readonly LoggedRunEvent[],
  type: T,
): readonly RunEventOf<T>[] {
  return events.filter((event): event is LoggedRunEvent & RunEventOf<T> => event.type === type)
}

describe.each(Object.entries(STORES))('a fork with what its request gives (%s)', (_, make) => {
  it('[RUNS-E6] A fork with what its request gives has given results instead of answers after every event, and pays for nothing else', async () => {
    await using place = await make()
    const { service, model } = await openService(await place.open())
    const { runId } = await service.submit({})
    const whole = await runToEnd(service, runId)
    const until = whole.findIndex((event) => event.type === 'task_completed')
    for (let at = 0; at < until; at += 1) {
      const before = model.requests.length
      const fork = await service.forks.create(runId, { at, results: { mail: { letters: 7 } } })
      const events = await runToEnd(service, fork.runId)
      expect(model.requests.length - before).toBe(2)
      const [mail, report] = typed(events, 'task_completed')
      expect(mail).toMatchObject({
        output: '{"letters":7}',
        structuredOutput: { letters: 7 },
        outputGiven: true,
        inputTokens: 0,
      })
      expect(report?.output).toContain('{"letters":7}')
      const begun = whole.slice(0, at + 1).some(({ type }) => type === 'task_started')
      expect(mail?.attempt).toBe(begun ? 2 : 1)
      const ended = typed(events, 'task_attempt_failed')
      expect(ended.map(({ code }) => code)).toEqual(begun ? ['INTERRUPTED'] : [])
      const asked = typed(events, 'review_requested').map(({ taskOutput }) => taskOutput)
      expect(asked.at(-1)).toBe('{"letters":7}')
      expect(await service.reviews.open()).toEqual([])
      const stored = await service.get(fork.runId)
      expect(stored?.run.status).toBe('COMPLETED')
      expect(stored?.tasks[0]).toMatchObject({ status: 'COMPLETED', toolCallCount: 0 })
    }
    await service.close({ drainTimeoutMs: 100 })
  })

  it('[RUNS-E6] A fork with what its request gives has given directives from its beginning, for their targets only', async () => {
    await using place = await make()
    const { service } = await openService(await place.open())
    const { runId } = await service.submit({})
    await runToEnd(service, runId)
    const fork = await service.forks.create(runId, {
      at: { task: 'report' },
      directives: [{ content: 'Be brief', to: 'report' }, { content: 'Be kind' }],
    })
    const events = await runToEnd(service, fork.runId)
    const forkedAt = events.findIndex(({ type }) => type === 'run_forked')
    expect(events.slice(forkedAt + 1, forkedAt + 3)).toMatchObject([
      { type: 'directive_active', content: 'Be brief', to: 'report' },
      { type: 'directive_active', content: 'Be kind' },
    ])
    const outputs = typed(events, 'task_completed').map(({ output }) => output)
    expect(outputs[1]).toContain('Be brief')
    expect(outputs[1]).toContain('Be kind')
    const delivered = typed(events, 'directive_delivered').map(({ taskName }) => taskName)
    expect(delivered).toEqual(['report', 'report', 'archive'])
    await service.close({ drainTimeoutMs: 100 })
  })

  it('[RUNS-E6] A fork with what its request gives can be forked itself, at its begin with its results and after each directive', async () => {
    await using place = await make()
    const { service, model } = await openService(await place.open())
    const { runId } = await service.submit({})
    await runToEnd(service, runId)
    const first = await service.forks.create(runId, {
      at: 0,
      results: { mail: '{"letters": 3}', report: 'short' },
      directives: [{ content: 'Be brief' }, { content: 'Be kind' }],
    })
    const whole = await runToEnd(service, first.runId)
    expect(model.requests).toHaveLength(5)
    const directivesAt = typed(whole, 'directive_active')
    for (let at = 1; at < whole.length - 2; at += 1) {
      const fork = await service.forks.create(first.runId, { at })
      const events = await runToEnd(service, fork.runId)
      expect(typed(events, 'directive_active')).toHaveLength(Math.min(at - 1, directivesAt.length))
      const outputs = typed(events, 'task_completed').map(({ output }) => output)
      expect(outputs.slice(0, 2)).toEqual(['{"letters":3}', 'short'])
    }
    const replay = await service.forks.replay(first.runId, { mode: 'models' })
    const replayed = await allEvents(service, replay.runId)
    expect(replayed.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
    expect(typed(replayed, 'task_completed').map(({ outputGiven }) => outputGiven)).toEqual([
      true,
      true,
      undefined,
    ])
    await service.close({ drainTimeoutMs: 100 })
  })

  it('[RUNS-E6] A fork with what its request gives is refused with every problem of its results and directives', async () => {
    await using place = await make()
    const { service } = await openService(await place.open())
    const { runId } = await service.submit({})
    await runToEnd(service, runId)
    const request = {
      at: { task: 'report' },
      results: { mail: 'x', report: { a: 1 }, raport: 'y' },
      directives: [{ content: 'Be kind' }, { content: ' ' }, { content: 'Hi', to: 'nobody' }],
    }
    const problems = [
      { path: '/results/mail', message: expect.stringContaining('completed in the copied part') },
      { path: '/results/report', message: expect.stringContaining('must be text') },
      { path: '/results/raport', message: expect.stringContaining("Did you mean 'report'?") },
      { path: '/directives/1', message: expect.stringContaining('must be text that is not blank') },
      { path: '/directives/2', message: expect.stringContaining('is named "nobody"') },
    ]
    const refusal = { code: 'BAD_REQUEST', details: { problems } }
    await expect(service.forks.create(runId, request)).rejects.toMatchObject(refusal)
    await expect(service.forks.preview(runId, request)).rejects.toMatchObject(refusal)
    const huge = { archive: 'x'.repeat(1_000_001) }
    await expect(service.forks.create(runId, { at: 0, results: huge })).rejects.toMatchObject({
      code: 'INPUT_TOO_LARGE',
    })
    const once = { at: { task: 'report' }, idempotencyKey: 'once' }
    await service.forks.create(runId, { ...once, results: { report: 'a' } })
    await expect(
      service.forks.create(runId, { ...once, results: { report: 'b' } }),
    ).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    })
    await service.close({ drainTimeoutMs: 100 })
  })
})

describe.each(Object.entries(STORES))('a preview of a fork (%s)', (_, make) => {
  it('[RUNS-E7] A preview of a fork lists what is reused, continued and executed, and creates nothing', async () => {
    await using place = await make()
    const { service } = await openService(await place.open())
    const { runId } = await service.submit({})
    const whole = await runToEnd(service, runId)
    const count = async () => (await service.list({ limit: 10 })).runs.length
    const before = await service.forks.preview(runId, { at: 0 })
    expect(before).toMatchObject({
      parentRunId: runId,
      at: 0,
      tasks: [
        { name: 'mail', action: 'EXECUTED', estimate: { modelCalls: 2, toolCalls: 1 } },
        { name: 'report', action: 'EXECUTED', estimate: { modelCalls: 1, toolCalls: 0 } },
        { name: 'archive', action: 'EXECUTED', estimate: { modelCalls: 1 } },
      ],
      reused: { modelCalls: 0, toolCalls: 0, tokens: 0, costUsd: 0 },
      estimate: { modelCalls: 4, toolCalls: 1 },
      withoutEstimate: [],
      reviews: [],
      repeatedCalls: [{ taskName: 'mail', attempt: 1, toolName: 'send' }],
      needsAllowSideEffects: true,
    })
    const record = await service.get(runId)
    const tokens = record?.tasks.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens)
    expect(before.tasks.map(({ estimate }) => estimate?.tokens)).toEqual(tokens)
    expect(before.estimate.costUsd).toBeGreaterThan(0)

    const opened = whole.find((event) => event.type === 'review_requested')
    const during = await service.forks.preview(runId, { at: opened?.seq ?? 0 })
    expect(during).toMatchObject({
      tasks: [
        {
          name: 'mail',
          action: 'CONTINUED',
          reused: { modelCalls: 2, toolCalls: 1 },
          estimate: { modelCalls: 0, toolCalls: 0, tokens: 0 },
        },
        { action: 'EXECUTED' },
        { action: 'EXECUTED' },
      ],
      reviews: [{ reviewId: opened?.reviewId, taskName: 'mail', timing: 'AFTER_EXECUTION' }],
      repeatedCalls: [],
      needsAllowSideEffects: false,
    })
    expect(during.reused.tokens + during.estimate.tokens).toBe(before.estimate.tokens)

    const given = await service.forks.preview(runId, {
      at: opened?.seq ?? 0,
      results: { mail: '{"letters": 2}', archive: 'x' },
    })
    expect(given.tasks.map(({ action }) => action)).toEqual(['GIVEN', 'EXECUTED', 'GIVEN'])
    expect([given.reviews, given.estimate.modelCalls]).toEqual([[], 1])
    expect(await count()).toBe(1)
    const late = await service.forks.preview(runId, { at: { task: 'archive' } })
    expect(late.tasks.map(({ action }) => action)).toEqual(['REUSED', 'REUSED', 'EXECUTED'])
    expect(late.tasks[0]).not.toHaveProperty('estimate')
    await expect(service.forks.preview(runId, { at: { task: 'archiv' } })).rejects.toThrow(
      /Task "archiv" has not begun in run \S+ \(begun: .*archive.*\)\. Did you mean "archive"\?$/,
    )
    await service.close({ drainTimeoutMs: 100 })
  })

  it('[RUNS-E7] A preview of a fork lists tasks that the parent never executed as without an estimate', async () => {
    await using place = await make()
    const { service } = await openService(await place.open())
    const { runId } = await service.submit({})
    await runToEnd(service, runId)
    const results = { mail: '{"letters": 2}', report: 'short' }
    const fork = await service.forks.create(runId, { at: 0, results })
    await runToEnd(service, fork.runId)
    const whole = await allEvents(service, fork.runId)
    const preview = await service.forks.preview(fork.runId, { at: 0 })
    expect(preview.withoutEstimate).toEqual(['mail', 'report'])
    expect(preview.tasks[2]).toMatchObject({ action: 'EXECUTED', estimate: { modelCalls: 1 } })
    const inherited = await service.forks.preview(fork.runId, { at: 1 })
    expect(inherited.tasks.map(({ action }) => action)).toEqual(['GIVEN', 'GIVEN', 'EXECUTED'])
    expect(whole[1]).toMatchObject({ type: 'run_forked' })
    await service.close({ drainTimeoutMs: 100 })
  })

  it('[RUNS-E7] A preview of a fork is refused like the fork', async () => {
    await using place = await make()
    const { service } = await openService(await place.open())
    const { runId } = await service.submit({})
    const whole = await runToEnd(service, runId)
    for (const at of [-1, whole.length, whole.length - 1, { task: 'none' }]) {
      await expect(service.forks.preview(runId, { at })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
      })
    }
    await expect(service.forks.preview('run-none', { at: 0 })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    })
    await expect(service.forks.preview(runId, { at: 0, runId })).rejects.toMatchObject({
      code: 'RUN_EXISTS',
    })
    await service.close({ drainTimeoutMs: 100 })
  })
})
