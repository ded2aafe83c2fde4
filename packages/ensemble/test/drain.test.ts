/** Tests of draining a run: work in flight ends and is recorded, and nothing else begins. */
import { defineTextTool, TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import { ensemble, memoryScope, rateLimit, task, type TaskDefinition } from '../src/index.ts'
import {
  runToEnd,
  isSettled,
  joinRuns,
  startRecorded,
  rebuildState,
  type RunProcess,
} from './recorded-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { timedModel } from './timed-model.ts'
import { nextTurn } from './watch-run.ts'

import type { RunOptions } from '../src/index.ts'

/** Records the calls of the tasks in these tests. */
class Calls {
  readonly begun: string[] = []
  readonly clock: FakeClock = fakeClock()

  async take(name: string, ms: number): Promise<string> {
    this.begun.push(name)
    await sleep(this.clock, ms)
    return name
  }

  start(definition: TaskDefinition, options: RunOptions = {}): RunProcess {
    const team = ensemble({ name: 'team', modelRetries: 1, tasks: [task(definition)] })
    return startRecorded(team, { ...options, clock: this.clock })
  }
}

const asks = { toolCalls: [{ name: 'look', arguments: { input: 'x' } }] }

function look(calls: Calls, settings: { idempotent?: boolean; requireApproval?: boolean } = {}) {
  return defineTextTool({
    name: 'look',
    description: 'Looks',
    ...settings,
    execute: () => calls.take('look', 50),
  })
}

/** Drains the run and returns whether it is drained at once, just before `ms`, and at `ms`. */
async function drainsAfter(run: RunProcess, ms: number): Promise<readonly boolean[]> {
  const drained = run.handle.drain()
  const atOnce = await isSettled(drained)
  await run.clock.advance(ms - 1)
  const before = await isSettled(drained)
  await run.clock.advance(1)
  return [atOnce, before, await isSettled(drained)]
}

const OPEN = [false, false, true]

describe('[ENS-E17] draining waits for work in flight and records it', () => {
  it('Draining waits for a model call in flight, without calling the tools that it requests', async () => {
    const calls = new Calls()
    const model = scriptedModel([{ ...asks, text: 'Hm' }, 'done'], {
      clock: calls.clock,
      delayMs: 50,
    })
    const run = calls.start({ description: 'Do', model, tools: [look(calls)] })
    await run.clock.advance(10)
    expect(await drainsAfter(run, 40)).toEqual(OPEN)
    expect(run.steps.at(-1)?.kind).toBe('model_turn')
    await run.clock.advance(10_000)
    expect(calls.begun).toEqual([])
  })

  it('Draining waits for a tool in flight, without calling the model again', async () => {
    const calls = new Calls()
    const model = scriptedModel([asks, 'done'])
    const run = calls.start({
      description: 'Do',
      model,
      tools: [look(calls, { idempotent: false })],
    })
    await nextTurn()
    expect(calls.begun).toEqual(['look'])
    expect(await drainsAfter(run, 50)).toEqual(OPEN)
    expect(run.steps.at(-1)?.kind).toBe('tool_ended')
    await run.clock.advance(10_000)
    expect(model.requests).toHaveLength(1)
  })

  it('Draining waits for a model call after a tool that never began', async () => {
    const calls = new Calls()
    const model = scriptedModel([asks, 'done'], { clock: calls.clock, delayMs: 50 })
    const tools = [look(calls, { requireApproval: true })]
    const run = calls.start({ description: 'Do', model, tools })
    await nextTurn()
    const { reviewId = '' } = run.handle.snapshot().reviews[0] ?? {}
    await run.handle.decide(reviewId, { action: 'REJECT' })
    await nextTurn()
    expect(model.requests).toHaveLength(2)
    expect(await drainsAfter(run, 50)).toEqual(OPEN)
  })

  it('Draining waits for a handler, and completes its task', async () => {
    const calls = new Calls()
    const run = calls.start({ description: 'Do', handler: () => calls.take('handler', 50) })
    await nextTurn()
    expect(await drainsAfter(run, 50)).toEqual(OPEN)
    expect((await run.handle.result).status).toBe('COMPLETED')
  })

  it.each(['input', 'output'] as const)('Draining waits for an %s guardrail', async (which) => {
    const calls = new Calls()
    const model = scriptedModel(() => 'done')
    const guard = () => calls.take('guard', 50).then(() => true)
    const next = () => calls.take('next', 0).then(() => true)
    const guardrails = { [which]: [guard, next] }
    const run = calls.start({ description: 'Do', model, guardrails })
    await nextTurn()
    expect(await drainsAfter(run, 50)).toEqual(OPEN)
    expect(calls.begun).toEqual(['guard'])
    expect(model.requests).toHaveLength(which === 'input' ? 0 : 1)
  })

  it('Draining waits for reading and writing memory, together with the end of the task', async () => {
    const calls = new Calls()
    const store = {
      retrieve: () => calls.take('retrieve', 50).then(() => []),
      append: () => calls.take('append', 50).then(() => undefined),
    }
    const definition = {
      description: 'Do',
      model: scriptedModel(() => 'done'),
      memory: [memoryScope({ name: 'facts', store })],
    }
    const reading = calls.start(definition)
    await nextTurn()
    expect(await drainsAfter(reading, 50)).toEqual(OPEN)
    expect(reading.steps.at(-1)?.kind).toBe('notes_read')
    const writing = calls.start(definition)
    await writing.clock.advance(60)
    expect(calls.begun).toEqual(['retrieve', 'retrieve', 'append'])
    expect(await drainsAfter(writing, 40)).toEqual(OPEN)
    expect(writing.steps.at(-1)?.kind).toBe('task_completed')
  })

  it('Draining waits for a reflection, and reads nothing for another one', async () => {
    const calls = new Calls()
    const reflections = {
      get: () => calls.take('get', 0).then(() => undefined),
      put: () => calls.take('put', 0).then(() => undefined),
    }
    const model = scriptedModel(['done', 'OBSERVATIONS:\n- short'], {
      clock: calls.clock,
      delayMs: 50,
    })
    const run = calls.start({ description: 'Do', model, reflection: true }, { reflections })
    const turns = 10
    for (let turn = 0; turn < turns && model.requests.length < 2; turn += 1) {
      await nextTurn()
      await run.clock.advance(20)
    }
    const drained = run.handle.drain()
    expect(await isSettled(drained)).toBe(false)
    await run.clock.advance(1_000)
    expect(await isSettled(drained)).toBe(true)
    expect(calls.begun.at(-1)).toBe('put')
    expect(run.steps.at(-1)?.kind).toBe('task_completed')
  })

  it('Draining waits for a slow commit, until it is durable', async () => {
    const calls = new Calls()
    const committed = Promise.withResolvers<void>()
    const run = calls.start(
      { description: 'Do', model: scriptedModel([asks, 'done']), tools: [look(calls)] },
      { journal: { emit: () => undefined, commit: () => committed.promise } },
    )
    await nextTurn()
    const drained = run.handle.drain()
    expect(await isSettled(drained)).toBe(false)
    committed.resolve()
    expect(await isSettled(drained)).toBe(true)
  })
})

describe('[ENS-E17] draining resolves at once', () => {
  it('Draining resolves at once before anything has begun, and begins nothing', async () => {
    const calls = new Calls()
    const model = scriptedModel(() => 'done')
    const run = calls.start({ description: 'Do', model })
    expect(await isSettled(run.handle.drain())).toBe(true)
    await run.clock.advance(10_000)
    expect(model.requests).toHaveLength(0)
  })

  it.each(['function', 'tool', 'guardrail', 'memory', 'reflection'])(
    'Draining resolves at once and begins no %s',
    async (what) => {
      const calls = new Calls()
      const model = scriptedModel(() => 'done')
      const store = { retrieve: () => calls.take('x', 0), append: () => calls.take('x', 0) }
      const definitions: Record<string, Omit<TaskDefinition, 'description' | 'output'>> = {
        function: { handler: () => calls.take('x', 0) },
        tool: { handler: look(calls) },
        guardrail: { model, guardrails: { input: [() => calls.take('x', 0).then(() => true)] } },
        // NOTE: the store is not called, so its return type does not matter.
        memory: { model, memory: [memoryScope({ name: 'm', store: store as never })] },
        reflection: { model, reflection: true },
      }
      const reflections = { get: () => calls.take('x', 0), put: () => calls.take('x', 0) }
      const run = calls.start(
        { description: 'Do', ...definitions[what] },
        { reflections: reflections as never },
      )
      expect(await isSettled(run.handle.drain())).toBe(true)
      await run.clock.advance(10_000)
      expect(calls.begun).toEqual([])
      expect(await isSettled(run.handle.result)).toBe(false)
    },
  )

  it.each(['a model', 'a task'])(
    'Draining resolves at once while %s waits for a retry',
    async (what) => {
      const calls = new Calls()
      const code = what === 'a model' ? 'MODEL_FAILED' : 'TASK_FAILED'
      const model = timedModel(calls.clock, 0, new TuttiError(code, 'Busy', { retryable: true }))
      const run = calls.start({ description: 'Do', model, retries: what === 'a model' ? 0 : 1 })
      await run.clock.advance(0)
      expect(await isSettled(run.handle.drain())).toBe(true)
      await run.clock.advance(60_000)
      expect(model.requests).toHaveLength(1)
    },
  )

  it('Draining resolves at once while a model call waits for its rate limit', async () => {
    const calls = new Calls()
    const model = scriptedModel([asks, 'done'])
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    await limit.take({ clock: calls.clock })
    const run = calls.start({ description: 'Do', model, rateLimit: limit })
    await nextTurn()
    expect(await isSettled(run.handle.drain())).toBe(true)
    await run.clock.advance(10_000)
    expect(model.requests).toHaveLength(0)
  })

  it('Draining resolves at once while a tool waits for approval, and its body does not run after the approval', async () => {
    const calls = new Calls()
    const model = scriptedModel([asks, 'done'])
    const tools = [look(calls, { requireApproval: true, idempotent: false })]
    const run = calls.start({ description: 'Do', model, tools })
    await nextTurn()
    expect(await isSettled(run.handle.drain())).toBe(true)
    const { reviewId = '' } = run.handle.snapshot().reviews[0] ?? {}
    await run.handle.decide(reviewId, { action: 'CONTINUE' })
    await run.clock.advance(10_000)
    expect(calls.begun).toEqual([])
    expect(run.steps.map(({ kind }) => kind)).not.toContain('tool_begun')
    run.release()
    const next = startRecorded(
      ensemble({ name: 'team', tasks: [task({ description: 'Do', model, tools })] }),
      { from: joinRuns(run), clock: run.clock },
    )
    expect((await runToEnd(next)).output).toBe('done')
    expect(calls.begun).toEqual(['look'])
  })

  it('Draining resolves at once while a worker and its delegator wait for a reviewer', async () => {
    const delegation = {
      toolCalls: [{ name: 'delegate_task', arguments: { agentRole: 'W', taskDescription: 'Do' } }],
    }
    const agent = { role: 'W', goal: 'Work', tools: [] }
    const model = scriptedModel(() => 'done')
    const team = ensemble({
      name: 'team',
      workflow: 'HIERARCHICAL',
      managerModel: scriptedModel([delegation, 'managed']),
      tasks: [task({ description: 'Do', agent, model, review: true })],
    })
    const run = startRecorded(team)
    await nextTurn()
    expect(run.handle.snapshot().reviews).toHaveLength(1)
    expect(await isSettled(run.handle.drain())).toBe(true)
  })

  it('Draining resolves at once after the end of the run, also repeatedly', async () => {
    const calls = new Calls()
    const run = calls.start({ description: 'Do', model: scriptedModel(() => 'done') })
    await run.handle.result
    expect(await isSettled(run.handle.drain())).toBe(true)
    expect(await isSettled(run.handle.drain())).toBe(true)
  })

  it('Draining resolves at once after the journal failed, so that the run could not continue', async () => {
    const calls = new Calls()
    const lost = new TuttiError('FENCED', 'Lost')
    const journal = {
      emit() {},
      commit: (step: { kind: string }) =>
        step.kind === 'task_completed' ? Promise.reject(lost) : Promise.resolve(),
    }
    const run = calls.start({ description: 'Do', model: scriptedModel(() => 'done') }, { journal })
    await run.handle.result.catch(() => undefined)
    expect(await isSettled(run.handle.drain())).toBe(true)
  })
})

describe('[ENS-E17] a draining run', () => {
  it('A draining run waits for a tool that asks from inside a call that must not be repeated', async () => {
    const calls = new Calls()
    const asking = defineTextTool({
      name: 'look',
      description: 'Asks',
      idempotent: false,
      async execute(_, { requestApproval }) {
        await requestApproval('May I?')
        return 'asked'
      },
    })
    const model = scriptedModel([asks, 'done'])
    const run = calls.start({ description: 'Do', model, tools: [asking] })
    await nextTurn()
    const drained = run.handle.drain()
    expect(await isSettled(drained)).toBe(false)
    const { reviewId = '' } = run.handle.snapshot().reviews[0] ?? {}
    await run.handle.decide(reviewId, { action: 'CONTINUE' })
    expect(await isSettled(drained)).toBe(true)
    expect(run.steps.at(-1)).toMatchObject({ kind: 'tool_ended', text: 'asked' })
  })

  it('A draining run emits no event, accepts commands, and can be cancelled', async () => {
    const calls = new Calls()
    const run = calls.start({ description: 'Do', model: scriptedModel(() => 'done') })
    await run.handle.drain()
    await nextTurn()
    const types = run.events.map(({ type }) => type)
    expect(types).toEqual(['ensemble_started', 'task_started', 'task_input'])
    expect(run.handle.inject('Hurry').content).toBe('Hurry')
    expect(run.handle.cancel()).toBe(true)
    expect(await run.handle.result).toMatchObject({ status: 'CANCELLED' })
    expect(rebuildState(run).tasks[0]).toMatchObject({ status: 'CANCELLED' })
  })

  it('A draining run ends with the reason for which it is released', async () => {
    const calls = new Calls()
    const controller = new AbortController()
    const run = calls.start(
      { description: 'Do', model: scriptedModel(() => 'done') },
      { signal: controller.signal },
    )
    await run.handle.drain()
    await nextTurn()
    controller.abort(new TuttiError('INTERRUPTED', 'Released'))
    await run.handle.result
    expect(run.events).toContainEqual(
      expect.objectContaining({ type: 'task_failed', code: 'INTERRUPTED', reason: 'Released' }),
    )
  })
})
