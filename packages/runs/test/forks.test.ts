/** Forks of runs. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { createRunService } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
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

/** Returns a storage that calls `beforeRead` before each read and creation of a fork. */
function eraseBetween(
  storage: RunStorage,
  beforeRead: (method: string) => Promise<void>,
): RunStorage {
  const { runs, events } = storage
  const parts = {
    runs: wrapMethods(runs, ['get', 'steps', 'create'], beforeRead),
    events: wrapMethods(events, ['read'], beforeRead),
  }
  return new Proxy(storage, {
    get: (_, key) => (key === 'runs' || key === 'events' ? parts[key] : Reflect.get(storage, key)),
  })
}

function wrapMethods<T extends object>(
  part: T,
  names: readonly (keyof T)[],
  before: (method: string) => Promise<void>,
): T {
  return new Proxy(part, {
    get(_, key) {
      const value: unknown = Reflect.get(part, key)
      if (typeof value !== 'function') return value
      if (!names.some((name) => name === key)) return value.bind(part)
      return async (...given: unknown[]): Promise<unknown> => {
        await before(String(key))
        return Reflect.apply(value, part, given)
      }
    },
  })
}

describe.each(Object.entries(STORES))('a fork of a run (%s)', (_, make) => {
  it('[RUNS-E1] [RUNS-E3] A fork after any event ends like its parent, and pays only for its own part', async () => {
    await using place = await make()
    const { team, model, lookedUp } = openTeam()
    const service = createRunService(await place.open(), [team], { pollMs: 20 })
    await service.start()
    const { runId } = await service.submit({ inputs: { topic: 'tides' } })
    const whole = await allEvents(service, runId)
    const calls = model.requests.length
    for (let at = 0; at < whole.length - 2; at += 1) {
      const fork = await service.forks.create(runId, { at })
      const events = await allEvents(service, fork.runId)
      expect(outputsOf(events)).toEqual(outputsOf(whole))
      expect(events.map(({ seq }) => seq)).toEqual(events.map((__, index) => index))
      expect(events[at + 1]).toMatchObject({ type: 'run_forked', parentRunId: runId, at })
      const stored = await service.get(fork.runId)
      expect(stored?.run).toMatchObject({ status: 'COMPLETED', parent: { runId, at } })
      expect(stored?.tasks.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
    }
    const last = await service.forks.create(runId, { at: whole.length - 3 })
    const before = model.requests.length
    const events = await allEvents(service, last.runId)
    expect([model.requests.length, calls]).toEqual([before, 3])
    expect(events.at(-1)).toMatchObject({ metrics: { totalTokens: 0, totalToolCalls: 0 } })
    const early = whole.findIndex(({ type }) => type === 'tool_called')
    expect(lookedUp).toHaveLength(1 + early)
    await service.close({ drainTimeoutMs: 100 })
  })

  it('A fork of a run is refused for its own unknown inputs, with the missing ones, but not for those of its parent', async () => {
    await using place = await make()
    const storage = await place.open()
    const { team } = openTeam()
    const service = createRunService(storage, [{ ...team, inputs: ['label'] }], { pollMs: 20 })
    await service.start()
    const { runId } = await service.submit({ inputs: { topic: 'tides', label: 'x' } })
    await allEvents(service, runId)
    await service.close({ drainTimeoutMs: 100 })
    // The next code does not read the label, and has a new variable.
    const other = createRunService(await place.open(), [team], { pollMs: 20 })
    await other.start()
    const taskOverrides = { write: { description: 'Write to {reader} about it' } }
    await expect(
      other.forks.create(runId, { at: 0, taskOverrides, inputs: { raeder: 'Ada' } }),
    ).rejects.toThrow(
      'Cannot run "research": /inputs/raeder is not a known input (known: topic, reader). ' +
        'Did you mean "reader"?; missing inputs: reader',
    )
    const fork = await other.forks.create(runId, {
      at: 0,
      taskOverrides,
      inputs: { reader: 'Ada' },
    })
    expect((await other.record(fork.runId))?.inputs).toEqual({
      topic: 'tides',
      label: 'x',
      reader: 'Ada',
    })
    await other.close({ drainTimeoutMs: 0 })
  })

  it('A fork of a run changes a task from its begin on, and nothing before', async () => {
    await using place = await make()
    const { team, lookedUp } = openTeam()
    const service = createRunService(await place.open(), [team], { pollMs: 20 })
    await service.start()
    const { runId } = await service.submit({ inputs: { topic: 'tides' } })
    await allEvents(service, runId)
    const fork = await service.forks.create(runId, {
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
    const again = await service.forks.create(runId, {
      at: { task: 'write' },
      taskOverrides: { write: { description: 'Shout about it' } },
      idempotencyKey: 'once',
    })
    expect(again.runId).toBe(fork.runId)
    await expect(
      service.forks.create(runId, { at: 1, idempotencyKey: 'once' }),
    ).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    })
    await service.close({ drainTimeoutMs: 100 })
  })

  it.each([
    {
      deletion: 'the deletion of its parent',
      code: 'RUN_NOT_FOUND',
      erase: (storage: RunStorage, runId: string) => storage.runs.delete(runId),
    },
    {
      deletion: 'the deletion of the steps of its parent',
      code: 'STEPS_NOT_RETAINED',
      erase: (storage: RunStorage) => storage.runs.deleteSteps({ maxAgeMs: -1000, limit: 1000 }),
    },
    {
      deletion: 'the deletion of the first steps of its parent',
      code: 'STEPS_NOT_RETAINED',
      erase: (storage: RunStorage) => storage.runs.deleteSteps({ maxAgeMs: -1000, limit: 1 }),
    },
  ])(
    '[RUNS-P17] A fork of a run is refused, and repeats no call, when $deletion comes before each of its reads',
    async ({ code, erase }) => {
      for (let reads = 0, isErased = true; isErased; reads += 1) {
        await using place = await make()
        const { team, lookedUp } = openTeam({ idempotent: false })
        const storage = await place.open()
        let left = Infinity
        isErased = false
        const beforeRead = async (method: string): Promise<void> => {
          left -= 1
          if (left === -1) {
            isErased = true
            await erase(storage, 'run-parent')
          }
          // What follows is the execution of the fork.
          if (method === 'create') left = Infinity
        }
        const service = createRunService(eraseBetween(storage, beforeRead), [team], { pollMs: 20 })
        await service.start()
        await service.submit({ runId: 'run-parent', inputs: { topic: 'tides' } })
        await allEvents(service, 'run-parent')
        left = reads
        const fork = service.forks.create('run-parent', {
          at: { task: 'write' },
          runId: 'run-fork',
        })
        const outcome = await fork.catch((error: unknown) => error)
        expect(outcome).toMatchObject(isErased ? { code } : { runId: 'run-fork' })
        if (!isErased) await allEvents(service, 'run-fork')
        expect([reads < 20, lookedUp.length]).toEqual([true, 1])
        await service.close({ drainTimeoutMs: 100 })
      }
    },
  )

  it('[RUNS-E2] A fork of a run is refused where it would repeat a side effect or has no place', async () => {
    await using place = await make()
    const { team, lookedUp } = openTeam({ idempotent: false })
    const service = createRunService(await place.open(), [team], { pollMs: 20 })
    await service.start()
    const { runId } = await service.submit({ inputs: { topic: 'tides' } })
    const whole = await allEvents(service, runId)
    await expect(service.forks.create(runId, { at: { task: 'find' } })).rejects.toMatchObject({
      code: 'SIDE_EFFECTS',
      message: expect.stringContaining('look (task "find")'),
    })
    await allEvents(service, (await service.forks.create(runId, { at: { task: 'write' } })).runId)
    expect(lookedUp).toHaveLength(1)
    const fork = await service.forks.create(runId, { at: { task: 'find' }, allowSideEffects: true })
    await allEvents(service, fork.runId)
    expect(lookedUp).toHaveLength(2)
    for (const at of [-1, 0.5, whole.length, whole.length - 1, { task: 'none' }]) {
      await expect(service.forks.create(runId, { at })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
      })
    }
    await expect(service.forks.create('run-none', { at: 0 })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    })
    await service.close({ drainTimeoutMs: 100 })
  })
})
