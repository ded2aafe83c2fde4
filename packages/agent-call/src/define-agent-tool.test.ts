import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { fakeClock, type FakeClock } from '../../../tooling/test-kit/clock.ts'
import { TuttiError, runTool } from '@tutti/core'
import { AgentError } from './agent-error.ts'
import { defineAgentTool } from './define-agent-tool.ts'
import { hashInput } from './json-text.ts'
import { localConnector, type LocalAgent, type LocalAgentRequest } from './local-agent.ts'

import type { RunToolOptions, ToolCallOutcome } from '@tutti/core'
import type { TimedAgentReport } from '@tutti/core/internal'
import type { AgentToolSettings } from './agent-tool-settings.ts'
import type { AgentConnector, AgentUpdate } from './agent-connector.ts'

type Answering = (request: LocalAgentRequest) => ReturnType<LocalAgent['answer']>

interface Called {
  readonly outcome: ToolCallOutcome
  readonly events: readonly TimedAgentReport[]
  readonly types: readonly string[]
}

interface CallOptions extends RunToolOptions {
  readonly input?: string
  readonly connector?: AgentConnector
}

async function call(
  answer: Answering,
  settings: Partial<AgentToolSettings<string>> = {},
  { input = 'hello', connector, ...options }: CallOptions = {},
): Promise<Called> {
  const events: TimedAgentReport[] = []
  const tool = defineAgentTool({
    name: 'researcher',
    description: 'Looks things up',
    connector: connector ?? localConnector({ answer }, 'tutti://researcher'),
    ...settings,
  })
  const outcome = await runTool(
    tool,
    { id: 'call-1', name: 'researcher', arguments: JSON.stringify({ input }) },
    { onAgentReport: (_, report) => events.push(report), ...options },
  )
  return { outcome, events, types: events.map(({ type }) => type.replace('agent_tool_', '')) }
}

async function* chunks(...all: readonly unknown[]): AsyncGenerator<AgentUpdate, unknown> {
  for (const chunk of all) yield { kind: 'chunk', chunk }
  return all.at(-1)
}

/** Waits for its signal, then ends. */
function hang({ signal }: LocalAgentRequest): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')))
  })
}

/** Lets pending work run, then advances the clock. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  // A call starts with a hash, which another thread computes: this hash ends after it.
  await hashInput(ms)
  await hashInput(ms)
  await new Promise((resolve) => setTimeout(resolve, 0))
  await clock.advance(ms)
  await new Promise((resolve) => setTimeout(resolve, 0))
}

describe('a sync call', () => {
  it('A sync call returns the answer as text and value, and reports its start and end', async () => {
    const { outcome, events } = await call(({ input }) => ({ said: input }))
    expect(outcome.result).toMatchObject({
      success: true,
      output: '{"said":"hello"}',
      structured: { said: 'hello' },
    })
    expect(events).toMatchObject([
      {
        type: 'agent_tool_invoked',
        agent_uri: 'tutti://researcher',
        mode: 'sync',
        protocol: 'local',
        retry_index: 0,
      },
      { type: 'agent_tool_completed', output: { said: 'hello' }, total_cost: 0, total_turns: 1 },
    ])
    expect(events.every(({ timestamp_ms }) => timestamp_ms > 0)).toBe(true)
  })

  it('A sync call reports no chunks', async () => {
    const { types } = await call(() => chunks('a', 'b'))
    expect(types).toEqual(['invoked', 'completed'])
  })

  it('A sync call fails with the error of its agent, and reports whether a retry can succeed', async () => {
    const { outcome, events } = await call(() => {
      throw new TuttiError('MODEL_FAILED', 'No model', { retryable: true })
    })
    expect(outcome.end).toBe('finished')
    expect(outcome.result).toMatchObject({
      success: false,
      errorMessage: 'Agent "researcher" did not answer: The agent failed: No model',
      structured: { failure: 'agent_failed', retryable: true, partial: null },
    })
    expect(events.at(-1)).toMatchObject({ type: 'agent_tool_error', failure_type: 'agent_failed' })
  })

  it('A sync call starts and ends normally with an input that has no JSON', async () => {
    const circular: { self?: unknown } = {}
    circular.self = circular
    const events: string[] = []
    const tool = defineAgentTool({
      name: 'x',
      description: 'x',
      connector: localConnector({ answer: () => 'taken' }, 'tutti://x'),
      request: () => circular,
    })
    const { result } = await runTool(
      tool,
      { id: 'c', name: 'x', arguments: '{"input":"a"}' },
      { onAgentReport: (_, { type }) => events.push(type) },
    )
    expect(result.output).toBe('taken')
    expect(events).toEqual(['agent_tool_invoked', 'agent_tool_completed'])
  })
})

describe('a streaming call', () => {
  it('A streaming call reports each chunk, and returns the answer', async () => {
    const { outcome, events, types } = await call(() => chunks({ n: 1 }, 'two', null, 4), {
      mode: 'streaming',
    })
    expect(types).toEqual(['invoked', 'progress', 'progress', 'progress', 'progress', 'completed'])
    const progress = events.filter((event) => event.type === 'agent_tool_progress')
    expect(progress.map(({ chunk, chunk_index }) => [chunk_index, chunk])).toEqual([
      [0, { n: 1 }],
      [1, 'two'],
      [2, null],
      [3, 4],
    ])
    expect(outcome.result.output).toBe('4')
  })

  it('[CALL-Y3] A streaming call keeps the received chunks when it fails', async () => {
    const { outcome, events } = await call(
      async function* () {
        yield { kind: 'chunk', chunk: 'first' }
        throw new AgentError('Reset', { failureType: 'connection_lost', retryable: true })
      },
      { mode: 'streaming' },
    )
    expect(events.at(-1)).toMatchObject({
      type: 'agent_tool_error',
      partial_output: ['first'],
      chunks_received: 1,
      retryable: true,
    })
    expect(outcome.result.structured).toMatchObject({ partial: ['first'], chunksReceived: 1 })
    expect(outcome.result.errorMessage).toContain('Partial output: ["first"]')
  })
})

describe('a conversation', () => {
  const feedback: Answering = ({ index, input }) => ({
    kind: 'end',
    state: index === 2 ? 'completed' : 'open',
    output: { output: `${String(input)}!` },
  })

  it('A conversation with an agent sends the output back until the agent is done, and reports both directions', async () => {
    const { outcome, events } = await call(feedback, { mode: 'conversational' })
    const turns = events.filter((event) => event.type === 'agent_tool_turn')
    expect(
      turns.map((event) => [event.turn, event.direction, event.input ?? event.output]),
    ).toEqual([
      [0, 'outbound', 'hello'],
      [0, 'inbound', { output: 'hello!' }],
      [1, 'outbound', 'hello!'],
      [1, 'inbound', { output: 'hello!!' }],
      [2, 'outbound', 'hello!!'],
      [2, 'inbound', { output: 'hello!!!' }],
    ])
    expect(outcome.result.structured).toEqual({ output: 'hello!!!' })
    expect(events.at(-1)).toMatchObject({ type: 'agent_tool_completed', total_turns: 3 })
  })

  it('A conversation with an agent ends after maxTurns with the last answer', async () => {
    const { outcome, events } = await call(feedback, { mode: 'conversational', maxTurns: 2 })
    expect(outcome.result).toMatchObject({ success: true, structured: { output: 'hello!!' } })
    expect(events.at(-1)).toMatchObject({ type: 'agent_tool_completed', total_turns: 2 })
  })

  it('A conversation with an agent reports the failed turn, and keeps the answer of the turn before', async () => {
    const breaking: Answering = (turn) => {
      if (turn.index === 1) throw new Error('Gone')
      return feedback(turn)
    }
    const { outcome, events } = await call(breaking, { mode: 'conversational' })
    expect(outcome.result.errorMessage).toContain('Turn 2 failed: The agent failed: Gone')
    expect(outcome.result.structured).toMatchObject({ partial: { output: 'hello!' } })
    expect(events.at(-1)).toMatchObject({
      type: 'agent_tool_error',
      partial_output: { output: 'hello!' },
      total_turns: 1,
    })
  })

  it('A conversation with an agent sends the text that reply returns, and ends if it returns none', async () => {
    const seen: unknown[] = []
    const { events } = await call(feedback, {
      mode: 'conversational',
      reply: ({ index, text }) => {
        seen.push(text)
        return index === 0 ? 'again' : undefined
      },
    })
    expect(seen).toEqual(['{"output":"hello!"}', '{"output":"again!"}'])
    expect(events.at(-1)).toMatchObject({ type: 'agent_tool_completed', total_turns: 2 })
  })

  it('A conversation with an agent fails when reply throws', async () => {
    const { events } = await call(feedback, {
      mode: 'conversational',
      reply: () => {
        throw new Error('No idea')
      },
    })
    expect(events.at(-1)).toMatchObject({
      type: 'agent_tool_error',
      failure_type: 'configuration',
      error: 'The reply to turn 0 failed: No idea',
    })
  })
})

describe('[CALL-Y4] a question of the agent', () => {
  const asks: Answering = ({ index, input }) =>
    index === 0
      ? { kind: 'end', state: 'input_required', output: null, question: 'Which year?' }
      : `In ${String(input)}`

  it('A question of the agent is sent to the reviewer, and its answer to the agent', async () => {
    const asked: string[] = []
    const { outcome, types } = await call(
      asks,
      {},
      {
        reviewer: {
          async decide({ description }) {
            asked.push(description)
            return { action: 'EDIT', input: '1685' }
          },
        },
      },
    )
    expect(asked).toEqual(['Which year?'])
    expect(outcome.result.output).toBe('In 1685')
    expect(types).toEqual(['invoked', 'completed'])
  })

  it('A question of the agent fails the call without a reviewer', async () => {
    const { outcome, events } = await call(asks)
    expect(outcome.result.errorMessage).toBe(
      'Agent "researcher" did not answer: The agent asked a question without a reviewer: Which year?',
    )
    expect(events.at(-1)).toMatchObject({ failure_type: 'input_required', retryable: false })
  })

  it('A question of the agent ends the run early if the reviewer decides so, after its own end', async () => {
    const { outcome, events } = await call(
      asks,
      {},
      {
        reviewer: { decide: async () => ({ action: 'EXIT_EARLY' }) },
      },
    )
    expect(outcome.end).toBe('exit_early')
    expect(events.at(-1)).toMatchObject({ type: 'agent_tool_terminated', reason: 'cancelled' })
  })

  it('[CALL-Y1] A question of the agent may take any time, because the timers are paused', async () => {
    const clock = fakeClock()
    const decision = Promise.withResolvers<{ action: 'EDIT'; input: string }>()
    const calling = call(
      async ({ requestAnswer }) => {
        const answer = await requestAnswer('Which year?')
        return answer.answered ? answer.value : 'none'
      },
      { timeoutMs: 100, idleTimeoutMs: 100 },
      { clock, reviewer: { decide: () => decision.promise } },
    )
    await pass(clock, 60_000)
    decision.resolve({ action: 'EDIT', input: '1685' })
    expect((await calling).outcome.result.output).toBe('1685')
  })
})

describe('limits', () => {
  it('[CALL-Y1] Limits of an agent call end a request that takes too long', async () => {
    const clock = fakeClock()
    const calling = call(hang, { timeoutMs: 1_000 }, { clock })
    await pass(clock, 999)
    await pass(clock, 1)
    const { outcome, events } = await calling
    expect(events.at(-1)).toMatchObject({
      type: 'agent_tool_terminated',
      reason: 'timeout',
      retryable: true,
      latency_ms: 1_000,
    })
    expect(outcome.result.errorMessage).toContain('it took longer than 1000 ms')
  })

  it('[CALL-Y1] Limits of an agent call come from the connector if the tool has none', async () => {
    const clock = fakeClock()
    const connector = { ...localConnector({ answer: hang }, 'tutti://slow'), timeoutMs: 60_000 }
    const calling = call(hang, {}, { clock, connector })
    await pass(clock, 60_000)
    expect((await calling).outcome.result.errorMessage).toContain('it took longer than 60000 ms')
  })

  it('[CALL-Y1] Limits of an agent call apply to each turn of a conversation separately', async () => {
    const clock = fakeClock()
    const calling = call(
      async ({ index }) => {
        await new Promise<void>((resolve) => clock.after(900, resolve))
        return { kind: 'end', state: index === 1 ? 'completed' : 'open', output: index }
      },
      { mode: 'conversational', timeoutMs: 1_000 },
      { clock },
    )
    await pass(clock, 900)
    await pass(clock, 900)
    expect((await calling).outcome.result.output).toBe('1')
  })

  it('[CALL-Y1] Limits of an agent call end a silent stream, and restart with every byte', async () => {
    const clock = fakeClock()
    const next = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const calling = call(
      async function* (request) {
        await next[0]?.promise
        yield { kind: 'chunk', chunk: 'late' }
        await hang(request)
      },
      { mode: 'streaming', idleTimeoutMs: 1_000 },
      { clock },
    )
    await pass(clock, 900)
    next[0]?.resolve()
    await pass(clock, 900)
    await pass(clock, 99)
    await pass(clock, 1)
    const { events, types } = await calling
    expect(types).toEqual(['invoked', 'progress', 'terminated'])
    expect(events.at(-1)).toMatchObject({ reason: 'idle_timeout', partial_output: ['late'] })
  })

  it('[CALL-Y2] Limits of an agent call allow the exact cost, and report a higher cost as a breach', async () => {
    const costing = (...costs: readonly number[]): Answering =>
      async function* () {
        for (const costUsd of costs) yield { kind: 'chunk', chunk: costUsd, usage: { costUsd } }
        return 'done'
      }
    const exact = await call(costing(0.25, 0.25), { mode: 'streaming', maxCostUsd: 0.5 })
    expect(exact.events.at(-1)).toMatchObject({ type: 'agent_tool_completed', total_cost: 0.5 })
    const over = await call(costing(0.25, 0.5, 0.25), { mode: 'streaming', maxCostUsd: 0.5 })
    expect(over.types).toEqual(['invoked', 'progress', 'progress', 'terminated'])
    expect(over.events.at(-1)).toMatchObject({
      reason: 'budget_exceeded',
      accumulated_cost_usd: 0.75,
      retryable: false,
      partial_output: [0.25, 0.5],
    })
  })

  it('[CALL-Y2] Limits of an agent call include the cost of the last answer', async () => {
    const { events } = await call(
      () => ({ kind: 'end', state: 'completed', output: 'x', usage: { totalCostUsd: 2 } }),
      { maxCostUsd: 1 },
    )
    expect(events.at(-1)).toMatchObject({ reason: 'budget_exceeded', cost_usd: 2 })
  })

  it('[CALL-Y2] Token limits of an agent call count input and output', async () => {
    const { events } = await call(
      async function* () {
        yield { kind: 'usage', usage: { inputTokens: 60, outputTokens: 41 } }
        return 'x'
      },
      { maxTokens: 100 },
    )
    expect(events.at(-1)).toMatchObject({
      reason: 'budget_exceeded',
      input_tokens: 60,
      output_tokens: 41,
    })
  })

  it('[CALL-Y2] Limits of an agent call include the remaining budget of the caller, which is sent to the agent', async () => {
    let left: unknown
    const { events } = await call(
      async function* ({ remaining }) {
        left = remaining()
        yield { kind: 'usage', usage: { costUsd: 0.3 } }
        return 'x'
      },
      { maxCostUsd: 1, timeoutMs: 5_000 },
      { remaining: () => ({ timeMs: 2_000, costUsd: 0.3, tokens: Infinity }) },
    )
    expect(left).toEqual({ timeMs: 2_000, costUsd: 0.3, tokens: Infinity })
    expect(events.at(-1)).toMatchObject({ reason: 'budget_exceeded' })
  })
})

describe('a cancel', () => {
  it('A cancel of an agent call ends the call when its agent has stopped, with one end', async () => {
    const controller = new AbortController()
    const stopped: string[] = []
    const begun = Promise.withResolvers<void>()
    const calling = call(
      (request) => {
        begun.resolve()
        return hang(request).catch((error: unknown) => {
          stopped.push('stopped')
          throw error
        })
      },
      {},
      { signal: controller.signal },
    )
    await begun.promise
    controller.abort()
    const { outcome, types, events } = await calling
    expect(outcome.end).toBe('cancelled')
    expect(types).toEqual(['invoked', 'terminated'])
    expect(events.at(-1)).toMatchObject({ reason: 'cancelled' })
    expect(stopped).toEqual(['stopped'])
  })

  it.each([
    ['timeout', new TuttiError('TASK_TIMEOUT', 'late')],
    ['budget_exceeded', new TuttiError('BUDGET_EXCEEDED', 'spent')],
  ] as const)(
    'A cancel of an agent call by the caller has the reason: %s',
    async (reason, error) => {
      const controller = new AbortController()
      const calling = call(hang, {}, { signal: controller.signal })
      await new Promise((resolve) => setTimeout(resolve, 0))
      controller.abort(error)
      expect((await calling).events.at(-1)).toMatchObject({ reason })
    },
  )

  it('A cancel of an agent call before its begin sends no request', async () => {
    const { types } = await call(() => 'never', {}, { signal: AbortSignal.abort() })
    expect(types).toEqual([])
  })

  it('[CALL-Y3] A cancel of an agent call is sent to the agent while the connection is open, for at most 4 s', async () => {
    const clock = fakeClock()
    const order: string[] = []
    const connector: AgentConnector = {
      uri: 'x://agent',
      protocol: 'a2a',
      connect: async ({ signal }) => {
        signal.addEventListener('abort', () => order.push('let go'))
        return {
          protocol: 'tasks',
          // oxlint-disable-next-line require-yield -- it never yields
          async *send() {
            await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
          },
          cancel: (bound) => {
            order.push('cancel')
            bound.addEventListener('abort', () => order.push('given up'))
            return new Promise(() => undefined)
          },
        }
      },
    }
    const calling = call(hang, { timeoutMs: 10 }, { clock, connector })
    await pass(clock, 10)
    expect(order).toEqual(['cancel'])
    await pass(clock, 3_999)
    expect(order).toEqual(['cancel'])
    await pass(clock, 1)
    const { events } = await calling
    expect(order).toEqual(['cancel', 'given up', 'let go'])
    expect(events[0]).toMatchObject({ protocol: 'tasks' })
  })
})

describe('retries', () => {
  const failing = (
    times: number,
    options: { retryable: boolean; retryAfterMs?: number },
  ): Answering => {
    let count = 0
    return () => {
      count += 1
      if (count > times) return `answer ${count}`
      throw new AgentError('Busy', { failureType: 'http_error', ...options })
    }
  }

  it('[CALL-C1] Retries of an agent call follow temporary failures, each with separate events', async () => {
    const { outcome, events } = await call(failing(2, { retryable: true }), {
      retries: 2,
      retryDelayMs: 0,
    })
    expect(outcome.result.output).toBe('answer 3')
    expect(events.map(({ type, retry_index }) => [type, retry_index])).toEqual([
      ['agent_tool_invoked', 0],
      ['agent_tool_error', 0],
      ['agent_tool_invoked', 1],
      ['agent_tool_error', 1],
      ['agent_tool_invoked', 2],
      ['agent_tool_completed', 2],
    ])
  })

  it('[CALL-C1] Retries of an agent call do not follow permanent failures, and do not exceed the maximum', async () => {
    const final = await call(failing(1, { retryable: false }), { retries: 3 })
    expect(final.types).toEqual(['invoked', 'error'])
    const often = await call(failing(9, { retryable: true }), { retries: 1, retryDelayMs: 0 })
    expect(often.types).toEqual(['invoked', 'error', 'invoked', 'error'])
  })

  it('[CALL-C1] Retries of an agent call wait as long as the agent requests', async () => {
    const clock = fakeClock()
    const calling = call(
      failing(1, { retryable: true, retryAfterMs: 7_000 }),
      { retries: 1 },
      { clock },
    )
    await pass(clock, 6_999)
    await pass(clock, 1)
    expect((await calling).outcome.result.output).toBe('answer 2')
  })

  it('[CALL-C2] Retries of an agent call share the limits of the call', async () => {
    let count = 0
    const { types } = await call(
      async function* () {
        count += 1
        yield { kind: 'usage', usage: { costUsd: 0.6 } }
        if (count === 1)
          throw new AgentError('Busy', { failureType: 'http_error', retryable: true })
        return 'x'
      },
      { retries: 1, retryDelayMs: 0, maxCostUsd: 1 },
    )
    expect(types).toEqual(['invoked', 'error', 'invoked', 'terminated'])
  })
})

describe('an agent tool with schemas', () => {
  const agent = localConnector({ answer: ({ input }) => ({ got: input }) }, 'tutti://x')
  const base = { name: 'x', description: 'x', connector: agent } as const

  it('An agent tool with schemas sends the text that is created from its input', async () => {
    const tool = defineAgentTool({
      ...base,
      input: Type.Object({ city: Type.String() }),
      request: ({ city }) => city.toUpperCase(),
    })
    const called = { id: 'c', name: 'x', arguments: '{"city":"Bonn"}' }
    expect((await runTool(tool, called)).result.structured).toEqual({ got: 'BONN' })
  })

  it.each([
    ['fits', 'hello', true],
    ['does not fit', 7, false],
  ])(
    'An agent tool with schemas checks an answer that %s, also without an input schema',
    async (_what, got, fits) => {
      const tool = defineAgentTool({
        ...base,
        connector: localConnector({ answer: () => JSON.stringify({ got }) }, 'tutti://x'),
        output: Type.Object({ got: Type.String() }),
        outputCheck: 'strict',
      })
      const { result } = await runTool(tool, { id: 'c', name: 'x', arguments: '{"input":"hi"}' })
      expect(result.success).toBe(fits)
      if (fits) expect(result.structured).toEqual({ got })
    },
  )
})

describe('defineAgentTool', () => {
  it('defineAgentTool reports every invalid setting', () => {
    const connector = localConnector({ answer: () => 'x' }, 'tutti://x')
    expect(() =>
      defineAgentTool({
        name: 'x',
        description: 'x',
        connector,
        timeoutMs: 0,
        maxTurns: 0,
        retries: -1,
        maxCostUsd: NaN,
      }),
    ).toThrow(
      'Cannot define agent tool "x": timeoutMs must be > 0, got 0; maxCostUsd must be > 0, got NaN; ' +
        'maxTurns must be an integer >= 1, got 0; retries must be an integer >= 0, got -1',
    )
  })
})
