/** Forks of runs. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { RunService } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { STORES } from './stores.ts'
import { allEvents } from './waiting-ensemble.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** A run of two tasks: the first looks up a topic with a tool, the second repeats what it found. */
function openTeam({ idempotent = true } = {}) {
  const lookedUp: string[] = []
  const look = defineTool({
    name: 'look',
    description: 'Looks up a topic',
    input: Type.Object({ topic: Type.String() }),
    idempotent,
    execute({ topic }) {
      lookedUp.push(topic)
      return `found ${topic}`
    },
  })
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    const prompt = messages.map(({ content }) => content).join('\n')
    if (!/about it/.test(prompt) && last?.role !== 'tool') {
      return { toolCalls: [{ id: 'c1', name: 'look', arguments: { topic: 'tides' } }] }
    }
    return prompt.includes('Shout') ? 'TIDES' : `quiet ${last?.role}`
  })
  const team = ensemble({
    name: 'research',
    model,
    tasks: [
      task({ name: 'find', description: 'Find {topic}', tools: [look] }),
      task({ name: 'write', description: 'Write about it', context: ['find'] }),
    ],
  })
  return { team, model, lookedUp }
}

function outputsOf(events: readonly LoggedRunEvent[]) {
  const result = events.at(-1)
  return result?.type === 'run_result'
    ? result.outputs.map(({ taskName, output }) => [taskName, output])
    : []
}

describe.each(Object.entries(STORES))('a fork of a run (%s)', (_, make) => {
  it('[RUNS-E1] [RUNS-E3] after any event ends like its parent, and pays only for its own part', async () => {
    await using place = await make()
    const { team, model, lookedUp } = openTeam()
    const service = new RunService(await place.open(), [team], { pollMs: 20 })
    await service.start()
    const { runId } = await service.submit({ inputs: { topic: 'tides' } })
    const whole = await allEvents(service, runId)
    const calls = model.requests.length
    for (let at = 0; at < whole.length - 2; at += 1) {
      const fork = await service.fork(runId, { at })
      const events = await allEvents(service, fork.runId)
      expect(outputsOf(events)).toEqual(outputsOf(whole))
      expect(events.map(({ seq }) => seq)).toEqual(events.map((__, index) => index))
      expect(events[at + 1]).toMatchObject({ type: 'run_forked', parentRunId: runId, at })
      const stored = await service.get(fork.runId)
      expect(stored?.run).toMatchObject({ status: 'COMPLETED', parent: { runId, at } })
      expect(stored?.tasks.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
    }
    const last = await service.fork(runId, { at: whole.length - 3 })
    const before = model.requests.length
    const events = await allEvents(service, last.runId)
    expect([model.requests.length, calls]).toEqual([before, 3])
    expect(events.at(-1)).toMatchObject({ metrics: { totalTokens: 0, totalToolCalls: 0 } })
    const early = whole.findIndex(({ type }) => type === 'tool_called')
    expect(lookedUp).toHaveLength(1 + early)
    await service.close({ drainTimeoutMs: 100 })
  })

  it('changes a task from its begin on, and nothing before', async () => {
    await using place = await make()
    const { team, lookedUp } = openTeam()
    const service = new RunService(await place.open(), [team], { pollMs: 20 })
    await service.start()
    const { runId } = await service.submit({ inputs: { topic: 'tides' } })
    await allEvents(service, runId)
    const fork = await service.fork(runId, {
      at: { task: 'write' },
      taskOverrides: { write: { description: 'Shout about it' } },
      idempotencyKey: 'once',
    })
    const events = await allEvents(service, fork.runId)
    expect(outputsOf(events)).toEqual([
      ['find', 'quiet tool'],
      ['write', 'TIDES'],
    ])
    expect(lookedUp).toHaveLength(1)
    const again = await service.fork(runId, {
      at: { task: 'write' },
      taskOverrides: { write: { description: 'Shout about it' } },
      idempotencyKey: 'once',
    })
    expect(again.runId).toBe(fork.runId)
    await expect(service.fork(runId, { at: 1, idempotencyKey: 'once' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    })
    await service.close({ drainTimeoutMs: 100 })
  })

  it('[RUNS-E2] is refused where it would repeat a side effect or has no place', async () => {
    await using place = await make()
    const { team, lookedUp } = openTeam({ idempotent: false })
    const service = new RunService(await place.open(), [team], { pollMs: 20 })
    await service.start()
    const { runId } = await service.submit({ inputs: { topic: 'tides' } })
    const whole = await allEvents(service, runId)
    await expect(service.fork(runId, { at: { task: 'find' } })).rejects.toMatchObject({
      code: 'SIDE_EFFECTS',
      message: expect.stringContaining('look (task "find")'),
    })
    await allEvents(service, (await service.fork(runId, { at: { task: 'write' } })).runId)
    expect(lookedUp).toHaveLength(1)
    const fork = await service.fork(runId, { at: { task: 'find' }, allowSideEffects: true })
    await allEvents(service, fork.runId)
    expect(lookedUp).toHaveLength(2)
    for (const at of [-1, 0.5, whole.length, whole.length - 1, { task: 'none' }]) {
      await expect(service.fork(runId, { at })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    }
    await expect(service.fork('run-none', { at: 0 })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    })
    await service.close({ drainTimeoutMs: 100 })
  })
})
