/** Tests of the notifications that a run only waits for people. */
import { defineTextTool, TuttiError, type AgentTool, type Clock } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import {
  agent,
  ensemble,
  task,
  type EnsembleDefinition,
  type TaskDefinition,
} from '../src/index.ts'
import { joinRuns, startRecorded, type RunProcess } from './recorded-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { timedModel } from './timed-model.ts'
import { nextTurn } from './watch-run.ts'

function tool(clock: Clock, name: string, ms: number, requireApproval = false): AgentTool {
  return defineTextTool({
    name,
    description: name,
    requireApproval,
    timeoutMs: Infinity,
    async execute() {
      await sleep(clock, ms)
      return name
    },
  })
}

function calls(...names: readonly string[]): { toolCalls: { name: string; arguments: object }[] } {
  return { toolCalls: names.map((name) => ({ name, arguments: { input: 'x' } })) }
}

const LONG = { timeoutMs: Infinity }

function start(
  tasks: readonly TaskDefinition[],
  settings: Partial<EnsembleDefinition> = {},
): RunProcess {
  const clock = fakeClock()
  return startTeam(tasks, { ...settings, clock })
}

function startTeam(
  tasks: readonly TaskDefinition[],
  { clock, ...settings }: { clock: FakeClock } & Partial<EnsembleDefinition>,
): RunProcess {
  const team = ensemble({
    name: 'team',
    workflow: 'PARALLEL',
    ...settings,
    tasks: tasks.map((one) => task(one)),
  })
  return startRecorded(team, { clock })
}

function decideFirst({ handle }: RunProcess): Promise<void> {
  return handle.decide(handle.snapshot().reviews[0]?.reviewId ?? '', { action: 'CONTINUE' })
}

describe('[ENS-E18] onWaiting', () => {
  it('onWaiting is called at each review of the only task, never within start', async () => {
    const model = scriptedModel(() => 'done')
    const run = start([{ description: 'Do', model, beforeReview: LONG, review: LONG }])
    expect(run.waits.count).toBe(0)
    await nextTurn()
    expect(run.waits.count).toBe(1)
    await decideFirst(run)
    await nextTurn()
    expect(run.waits.count).toBe(2)
    await decideFirst(run)
    await run.handle.result
    expect(run.waits.count).toBe(2)
  })

  it('onWaiting is not called for a run without reviews', async () => {
    const run = start([{ description: 'Do', model: scriptedModel(() => 'done') }])
    await run.handle.result
    expect(run.waits.count).toBe(0)
  })

  it('onWaiting is called once for two tasks, when the second one reaches its review', async () => {
    const clock = fakeClock()
    const run = startTeam(
      [
        { description: 'Do a', model: timedModel(clock, 0), review: LONG },
        { description: 'Do b', model: timedModel(clock, 50), review: LONG },
      ],
      { clock },
    )
    await clock.advance(49)
    expect(run.handle.snapshot().reviews).toHaveLength(1)
    expect(run.waits.count).toBe(0)
    await clock.advance(1)
    expect(run.waits.count).toBe(1)
    await decideFirst(run)
    await nextTurn()
    expect(run.waits.count).toBe(2)
  })

  it('onWaiting is not called again after an invalid decision', async () => {
    const run = start([{ description: 'Do', model: scriptedModel(() => 'done'), review: LONG }])
    await nextTurn()
    const { reviewId = '' } = run.handle.snapshot().reviews[0] ?? {}
    await expect(run.handle.decide(reviewId, { action: 'EDIT', input: 1 })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    await nextTurn()
    expect(run.waits.count).toBe(1)
  })

  it('onWaiting is called when a working task has ended without a follower', async () => {
    const clock = fakeClock()
    const run = startTeam(
      [
        { name: 'a', description: 'Do a', model: timedModel(clock, 0), review: LONG },
        { name: 'b', description: 'Do b', model: timedModel(clock, 50) },
        { name: 'c', description: 'Do c', model: timedModel(clock, 50), context: ['b'] },
      ],
      { clock },
    )
    await clock.advance(99)
    expect(run.waits.count).toBe(0)
    await clock.advance(1)
    expect(run.waits.count).toBe(1)
  })

  it('onWaiting is called when one of two calls of a turn has ended and the other waits for approval', async () => {
    const clock = fakeClock()
    const tools = [tool(clock, 'free', 50), tool(clock, 'asks', 0, true)]
    const model = scriptedModel([calls('asks', 'free'), 'done'])
    const run = startTeam([{ description: 'Do', model, tools, review: false }], { clock })
    await clock.advance(49)
    expect(run.handle.snapshot().reviews).toHaveLength(1)
    expect(run.waits.count).toBe(0)
    await clock.advance(1)
    expect(run.waits.count).toBe(1)
    await decideFirst(run)
    await clock.advance(0)
    await run.handle.result
    expect(run.waits.count).toBe(1)
  })

  it('onWaiting is not called while a call waits for a slot', async () => {
    const clock = fakeClock()
    const tools = [tool(clock, 'asks', 0, true), tool(clock, 'free', 0)]
    const model = scriptedModel([calls('asks', 'free'), 'done'])
    const run = startTeam([{ description: 'Do', model, tools }], {
      clock,
      maxConcurrentToolCalls: 1,
    })
    await clock.advance(1_000)
    expect(run.handle.snapshot().reviews).toHaveLength(1)
    expect(run.waits.count).toBe(0)
  })

  it('onWaiting is not called while a tool asks from inside a call that must not be repeated', async () => {
    const asking = defineTextTool({
      name: 'asks',
      description: 'Asks',
      idempotent: false,
      async execute(_, { requestApproval }) {
        await requestApproval('May I?', LONG)
        return 'asked'
      },
    })
    const model = scriptedModel([calls('asks'), 'done'])
    const run = start([{ description: 'Do', model, tools: [asking] }])
    await nextTurn()
    expect(run.handle.snapshot().reviews).toHaveLength(1)
    expect(run.waits.count).toBe(0)
    await decideFirst(run)
    expect((await run.handle.result).status).toBe('COMPLETED')
  })

  it('onWaiting is called while a tool asks from inside a repeatable call, which is repeated for the answer', async () => {
    const bodies: string[] = []
    const asking = defineTextTool({
      name: 'asks',
      description: 'Asks',
      async execute(_, { requestAnswer, idempotencyKey }) {
        bodies.push(idempotencyKey)
        const answer = await requestAnswer('Which?', { timeoutMs: Infinity })
        return answer.answered ? answer.value : 'nothing'
      },
    })
    const model = scriptedModel([calls('asks'), ({ messages }) => String(messages.at(-1)?.content)])
    const team = ensemble({
      name: 'team',
      tasks: [task({ description: 'Do', model, tools: [asking] })],
    })
    const first = startRecorded(team)
    await nextTurn()
    expect(first.waits.count).toBe(1)
    const drained = first.handle.drain()
    await drained
    first.release()
    const second = startRecorded(team, { from: joinRuns(first) })
    await nextTurn()
    const [review] = second.handle.snapshot().reviews
    await second.handle.decide(review?.reviewId ?? '', { action: 'EDIT', input: 'this one' })
    expect((await second.handle.result).output).toBe('this one')
    expect(new Set(bodies).size).toBe(1)
    expect(bodies).toHaveLength(2)
    expect(model.requests).toHaveLength(2)
    const asked = joinRuns(first, second).events.filter(({ type }) => type === 'review_requested')
    expect(asked).toHaveLength(1)
  })

  it('[ENS-E22] onWaiting is complemented by onWaitingChange, which includes every tool that asks, unless another call works', async () => {
    const clock = fakeClock()
    const asking = defineTextTool({
      name: 'asks',
      description: 'Asks',
      idempotent: false,
      async execute(_, { requestAnswer }) {
        await Promise.all([requestAnswer('One?', LONG), requestAnswer('Two?', LONG)])
        return 'asked'
      },
    })
    const model = scriptedModel([calls('asks', 'slow'), 'done'])
    const changes: boolean[] = []
    const team = ensemble({
      name: 'team',
      tasks: [task({ description: 'Do', model, tools: [asking, tool(clock, 'slow', 500)] })],
    })
    const run = startRecorded(team, { clock, onWaitingChange: (waits) => changes.push(waits) })
    await nextTurn()
    expect([run.handle.snapshot().reviews.length, changes]).toEqual([2, []])
    await clock.advance(500)
    expect([changes, run.waits.count]).toEqual([[true], 0])
    await decideFirst(run)
    await nextTurn()
    expect(changes).toEqual([true])
    await decideFirst(run)
    expect((await run.handle.result).status).toBe('COMPLETED')
    expect(changes).toEqual([true, false])
  })

  it('onWaiting is called for a tool that is a handler while it waits for approval', async () => {
    const clock = fakeClock()
    const run = startTeam([{ description: 'Do', handler: tool(clock, 'asks', 0, true) }], { clock })
    await nextTurn()
    expect(run.waits.count).toBe(1)
    await decideFirst(run)
    await clock.advance(0)
    expect((await run.handle.result).status).toBe('COMPLETED')
  })

  it.each(['a model', 'a task'])(
    'onWaiting is not called while %s waits for a retry',
    async (what) => {
      const clock = fakeClock()
      const code = what === 'a model' ? 'MODEL_FAILED' : 'TASK_FAILED'
      const broken = timedModel(clock, 0, new TuttiError(code, 'Busy', { retryable: true }))
      const run = startTeam(
        [
          { description: 'Do a', model: timedModel(clock, 0), review: LONG },
          { description: 'Do b', model: broken, retries: what === 'a task' ? 1 : 0 },
        ],
        { clock, errorStrategy: 'CONTINUE_ON_ERROR', modelRetries: what === 'a model' ? 1 : 0 },
      )
      await clock.advance(100)
      expect(run.handle.snapshot().reviews).toHaveLength(1)
      expect(run.waits.count).toBe(0)
      await clock.advance(60_000)
      expect(run.waits.count).toBe(1)
    },
  )

  it('onWaiting is called for a worker at a review while its delegator waits for it', async () => {
    const delegation = {
      toolCalls: [
        { name: 'delegate_task', arguments: { agentRole: 'Writer', taskDescription: 'Write' } },
      ],
    }
    const writer = agent({ role: 'Writer', goal: 'Write' })
    const model = scriptedModel(() => 'written')
    const run = start(
      [{ name: 'write', description: 'Write', agent: writer, model, review: LONG }],
      {
        workflow: 'HIERARCHICAL',
        managerModel: scriptedModel([delegation, 'managed']),
      },
    )
    await nextTurn()
    expect(run.waits.count).toBe(1)
    await decideFirst(run)
    expect((await run.handle.result).status).toBe('COMPLETED')
    expect(run.waits.count).toBe(1)
  })

  it('onWaiting is called once when the reviews of an interrupted run open again', async () => {
    const definition = { model: scriptedModel(() => 'done'), review: LONG }
    const team = ensemble({
      name: 'team',
      workflow: 'PARALLEL',
      tasks: [
        task({ description: 'Do a', ...definition }),
        task({ description: 'Do b', ...definition }),
      ],
    })
    const first = startRecorded(team)
    await nextTurn()
    first.release()
    const second = startRecorded(team, { from: joinRuns(first) })
    await nextTurn()
    expect(second.handle.snapshot().reviews).toHaveLength(2)
    expect(second.waits.count).toBe(1)
  })

  it('onWaiting may throw, and the error is logged', async () => {
    const team = ensemble({
      name: 'team',
      tasks: [task({ description: 'Do', model: scriptedModel(() => 'done'), review: LONG })],
    })
    const errors: unknown[] = []
    const run = startRecorded(team, {
      onWaiting() {
        throw new Error('Not now')
      },
      logger: { debug() {}, info() {}, warn() {}, error: (_, fields) => errors.push(fields) },
    })
    await nextTurn()
    expect(errors).toHaveLength(1)
    await decideFirst(run)
    expect((await run.handle.result).status).toBe('COMPLETED')
  })
})

describe('[ENS-E28] onAgentWaitChange', () => {
  /** A tool that reports the call of an agent, which answers after `ms`. */
  function agentCall(clock: Clock, protocol: 'a2a' | 'local', ms: number): AgentTool {
    return defineTextTool({
      name: 'agent',
      description: 'Calls an agent',
      timeoutMs: Infinity,
      async execute(_, { reportAgent }) {
        const call = { call_id: 'call', retry_index: 0, input_tokens: 0, output_tokens: 0 }
        const agent = { agent_uri: 'http://agent', mode: 'streaming', input_hash: '' } as const
        reportAgent({ type: 'agent_tool_invoked', ...call, ...agent, protocol })
        await sleep(clock, ms)
        const totals = { chunks_received: 0, latency_ms: ms, total_turns: 1, total_cost: 0 }
        reportAgent({ type: 'agent_tool_completed', ...call, ...totals, output: 'ok' })
        return 'ok'
      },
    })
  }

  function startWatched(clock: FakeClock, tasks: readonly TaskDefinition[]) {
    const changes: boolean[] = []
    const team = ensemble({
      name: 'team',
      workflow: 'PARALLEL',
      tasks: tasks.map((one) => task(one)),
    })
    const onAgentWaitChange = (isWaiting: boolean): void => {
      changes.push(isWaiting)
    }
    return { changes, ...startRecorded(team, { clock, onAgentWaitChange }) }
  }

  const asks = (clock: FakeClock, ...tools: readonly AgentTool[]): TaskDefinition => ({
    description: `Ask with ${tools.length} of ${clock.now()}`,
    tools,
    model: scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'done' : calls(...tools.map(({ name }) => name)),
    ),
  })

  it('onAgentWaitChange is called when the only task begins to wait for an agent of another process, and when it continues', async () => {
    const clock = fakeClock()
    const run = startWatched(clock, [asks(clock, agentCall(clock, 'a2a', 50))])
    await clock.advance(49)
    expect(run.changes).toEqual([true])
    await clock.advance(1)
    await run.handle.result
    expect(run.changes).toEqual([true, false])
  })

  it('onAgentWaitChange is not called for an agent of this process', async () => {
    const clock = fakeClock()
    const run = startWatched(clock, [asks(clock, agentCall(clock, 'local', 50))])
    await clock.advance(50)
    await run.handle.result
    expect(run.changes).toEqual([])
  })

  it('onAgentWaitChange is called when every other call has ended and every other task waits', async () => {
    const clock = fakeClock()
    const run = startWatched(clock, [
      asks(clock, agentCall(clock, 'a2a', 100), tool(clock, 'slow', 20)),
      { description: 'Do', model: timedModel(clock, 50), review: LONG },
    ])
    await clock.advance(49)
    expect(run.changes).toEqual([])
    await clock.advance(1)
    expect(run.changes).toEqual([true])
    await decideFirst(run)
    await clock.advance(1)
    expect(run.changes).toEqual([true, false, true])
    await clock.advance(100)
    await run.handle.result
    expect(run.changes).toEqual([true, false, true, false])
  })

  it('onAgentWaitChange is called when a call is stopped that does not report the end of its agent', async () => {
    const clock = fakeClock()
    const run = startWatched(clock, [
      { ...asks(clock, agentCall(clock, 'a2a', 10_000)), timeoutMs: 50 },
    ])
    await clock.advance(49)
    expect(run.changes).toEqual([true])
    await clock.advance(20_000)
    await run.handle.result.catch(() => undefined)
    expect(run.changes).toEqual([true, false])
  })
})
