/** Replays of runs. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { decide } from './commands.ts'
import { STORES } from './stores.ts'
import { allEvents, startRuns } from './waiting-ensemble.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

interface Code {
  readonly find?: string
  readonly topic?: string
  readonly handled?: string
}

/** A team of an agent with a tool, and a handler; `calls` has every call of its tool and its handler. */
function openTeam({ find = 'Find {topic}', topic = 'tides', handled = 'found' }: Code = {}) {
  const calls: string[] = []
  const look = defineTool({
    name: 'look',
    description: 'Looks up a topic',
    input: Type.Object({ topic: Type.String() }),
    idempotent: false,
    execute(input) {
      calls.push(`look ${input.topic}`)
      return `found ${input.topic}`
    },
  })
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'tool'
      ? last.content
      : { toolCalls: [{ id: 'c1', name: 'look', arguments: { topic } }] }
  })
  const team = ensemble({
    name: 'research',
    model,
    tasks: [
      task({ name: 'find', description: find, tools: [look], review: true }),
      task({
        name: 'count',
        description: `Count what was ${handled}`,
        context: ['find'],
        handler({ context }) {
          calls.push('count')
          return `${context[0]?.output.length}`
        },
      }),
    ],
  })
  return { team, model, calls }
}

/** Returns the outputs of a run without their durations. */
function outputsOf({ outputs }: End) {
  return outputs.map(({ taskName, output }) => [taskName, output])
}

type End = Extract<LoggedRunEvent, { type: 'run_result' }>

function endOf(events: readonly LoggedRunEvent[]): End {
  const end = events.at(-1)
  if (end?.type !== 'run_result') throw new TypeError(`The run ended with ${end?.type}`)
  return end
}

describe.each(Object.entries(STORES))('a replay of a run (%s)', (_, make) => {
  /** Completes a run, whose review is decided at once; returns the service with the code of the replay. */
  async function openReplays(code: Code = {}) {
    const place = await make()
    const recorded = openTeam()
    const before = await startRuns(await place.open(), [recorded.team], { pollMs: 20 })
    const { runId } = await before.submit({ inputs: { topic: 'tides' } })
    const whole: LoggedRunEvent[] = []
    for await (const events of before.follow({ runId, from: 0 })) {
      whole.push(...events)
      for (const event of events) {
        if (event.type !== 'review_requested') continue
        await decide(before, event.reviewId, { action: 'EDIT', revisedOutput: 'many tides' })
      }
    }
    await before.close({ drainTimeoutMs: 100 })
    const { team, model, calls } = openTeam(code)
    const service = await startRuns(await place.open(), [team], { pollMs: 20 })
    const close = async () => {
      await service.close({ drainTimeoutMs: 100 })
      await place[Symbol.asyncDispose]()
    }
    return { service, runId, whole, model, calls, [Symbol.asyncDispose]: close }
  }

  it('[RUNS-E4] [ENS-E25] A replay of a run that is frozen has the result of its parent, makes no call and costs nothing', async () => {
    await using replays = await openReplays()
    const { service, runId, whole, model, calls } = replays
    const { runId: id } = await service.forks.replay(runId, {
      mode: 'frozen',
      idempotencyKey: 'once',
    })
    const events = await allEvents(service, id)
    const end = endOf(events)
    expect([end.status, outputsOf(end)]).toEqual(['COMPLETED', outputsOf(endOf(whole))])
    expect([model.requests.length, calls]).toEqual([0, []])
    expect(end.metrics).toMatchObject({ totalTokens: 0, totalToolCalls: 0 })
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['ensemble_started', 'task_started', 'task_completed']),
    )
    expect(events.map(({ seq }) => seq)).toEqual(events.map((__, index) => index))
    expect(events[1]).toMatchObject({ type: 'run_forked', parentRunId: runId, replay: 'frozen' })
    const stored = await service.get(id)
    expect(stored?.run.parent).toEqual({ runId, at: 0, replay: 'frozen' })
    expect(stored?.tasks.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
    const again = await service.forks.replay(runId, { mode: 'frozen', idempotencyKey: 'once' })
    expect(again.runId).toBe(id)
    await expect(
      service.forks.replay(runId, { mode: 'models', idempotencyKey: 'once' }),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
  })

  it('[ENS-E25] A replay of a run that is frozen fails at the first request that differs, without a call', async () => {
    await using replays = await openReplays({ find: 'Search {topic}' })
    const { service, runId, model, calls } = replays
    const { runId: id } = await service.forks.replay(runId, { mode: 'frozen' })
    const end = endOf(await allEvents(service, id))
    expect(end).toMatchObject({
      status: 'FAILED',
      code: 'REPLAY_MISMATCH',
      error: expect.stringContaining('model_turn 0 of task "find"'),
    })
    expect([model.requests.length, calls]).toEqual([0, []])
  })

  it('[ENS-E26] A replay of a run with live models calls no tool, handler or reviewer again', async () => {
    await using replays = await openReplays({ find: 'Search {topic}' })
    const { service, runId, whole, model, calls } = replays
    const { runId: id } = await service.forks.replay(runId, { mode: 'models' })
    const events = await allEvents(service, id)
    const end = endOf(events)
    expect([end.status, outputsOf(end)]).toEqual(['COMPLETED', outputsOf(endOf(whole))])
    expect([model.requests.length, calls]).toEqual([2, []])
    expect(events.find(({ type }) => type === 'tool_called')).toMatchObject({ toolName: 'look' })
    expect(end.metrics).toMatchObject({ totalToolCalls: 0 })
  })

  it('[ENS-E26] A replay of a run with live models fails at a call that is not in the record', async () => {
    await using replays = await openReplays({ topic: 'storms' })
    const { service, runId, calls } = replays
    const { runId: id } = await service.forks.replay(runId, { mode: 'models' })
    expect(endOf(await allEvents(service, id))).toMatchObject({
      status: 'FAILED',
      code: 'REPLAY_MISMATCH',
      error: expect.stringContaining('a call of tool "look"'),
    })
    await using other = await openReplays({ handled: 'seen' })
    const second = await other.service.forks.replay(other.runId, { mode: 'models' })
    expect(endOf(await allEvents(other.service, second.runId))).toMatchObject({
      code: 'REPLAY_MISMATCH',
      error: expect.stringContaining('a call of the handler'),
    })
    expect([calls, other.calls]).toEqual([[], []])
  })

  it('[RUNS-E5] A replay of a run is refused unless its parent is a completed run that is not a replay', async () => {
    await using replays = await openReplays({ find: 'Search {topic}' })
    const { service, runId } = replays
    const { runId: id } = await service.forks.replay(runId, { mode: 'frozen' })
    await allEvents(service, id)
    await expect(service.forks.replay(id, { mode: 'frozen' })).rejects.toMatchObject({
      code: 'RUN_NOT_REPLAYABLE',
      message: `Run ${id} cannot be replayed: it is FAILED; expected COMPLETED`,
    })
    const { runId: live } = await service.forks.replay(runId, { mode: 'models' })
    await allEvents(service, live)
    await expect(service.forks.replay(live, { mode: 'frozen' })).rejects.toMatchObject({
      code: 'RUN_NOT_REPLAYABLE',
    })
    await expect(service.forks.create(live, { at: 1 })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    await expect(service.forks.replay('run-none', { mode: 'frozen' })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    })
  })
})
