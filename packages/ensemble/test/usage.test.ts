/** Tests of what budgets, totals and events make of the usage that providers and agents report. */
import { defineTextTool, defineTool, Type } from '@tutti/core'
import { defineAgentTool, localConnector } from '@tutti/agent-call/internal'
import { describe, expect, it } from 'vitest'

import type { ChatModel } from '../src/adapter.ts'
import { ensemble, priceList, task, type Ensemble } from '../src/index.ts'
import { startRecorded } from './recorded-run.ts'
import { scriptedModel } from './testing.ts'
import { eventsOf, watchRun } from './watch-run.ts'

import type { AgentTool } from '@tutti/core'
import type { AgentReport } from '@tutti/core/internal'
import type { RunEvent } from '@tutti/protocol'

const MAX = Number.MAX_SAFE_INTEGER

const echo = defineTextTool({ name: 'echo', description: 'Echoes', execute: () => 'ECHO' })

/** Returns a model that calls `echo` in every turn and reports `usage` as the usage of each call. */
function reporting(usage: unknown): ChatModel {
  const scripted = scriptedModel(
    () => ({ toolCalls: [{ name: 'echo', arguments: { input: 'x' } }] }),
    { provider: 'test', name: 'odd' },
  )
  return {
    ...scripted,
    async *stream(...args) {
      for await (const chunk of scripted.stream(...args)) {
        if (chunk.type !== 'reply') yield chunk
        // NOTE: adapters are third-party code and can report anything.
        else yield { ...chunk, reply: { ...chunk.reply, usage: usage as never } }
      }
    },
  }
}

function team(model: ChatModel, tools: readonly AgentTool[] = [echo]): Ensemble {
  return ensemble({
    name: 'team',
    model,
    tasks: [task({ name: 'a', description: 'Do it', tools })],
  })
}

/** Lists every number under a key about tokens or cost in events. */
function listAmounts(events: readonly RunEvent[]): readonly unknown[] {
  const amounts: unknown[] = []
  JSON.stringify(events, (key, value: unknown) => {
    if (/tokens|cost/i.test(key) && typeof value !== 'object') amounts.push(value)
    return value
  })
  return amounts
}

const prices = priceList({ 'test:odd': { inputPerMillion: 10, outputPerMillion: 20 } })

const ODD_USAGES: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['null', null],
  ['an empty object', {}],
  ['only the input', { inputTokens: 60 }],
  ['only the output', { outputTokens: 60 }],
  ['NaN', { inputTokens: NaN, outputTokens: NaN }],
  ['Infinity', { inputTokens: Infinity, outputTokens: Infinity }],
  ['negative counts', { inputTokens: -100, outputTokens: -100 }],
  ['fractions', { inputTokens: 0.4, outputTokens: 1.6 }],
  ['1e308', { inputTokens: 1e308, outputTokens: 1e308 }],
  ['2^53 + 1', { inputTokens: 2 ** 53 + 2, outputTokens: 5 }],
  ['the largest counts', { inputTokens: MAX, outputTokens: MAX }],
  ['text', { inputTokens: '5', outputTokens: '6' }],
  ['text that is not a number', { inputTokens: 'many', outputTokens: 'few' }],
  ['zeros', { inputTokens: 0, outputTokens: 0, totalTokens: 0 }],
  ['a sum alone', { inputTokens: NaN, outputTokens: NaN, totalTokens: 30 }],
  ['a list', [1, 2]],
]

describe.each(ODD_USAGES)('a provider that reports %s', (_, usage) => {
  it.each([{ maxTokens: 250 }, { maxCostUsd: 0.003 }])(
    '[ENS-B3] [ENS-B7] A provider with incomplete counts is stopped by the budget %j',
    async (budget) => {
      const run = watchRun(team(reporting(usage)), { budget, prices })
      expect(await run.ended).toMatchObject({
        status: 'FAILED',
        error: { code: 'BUDGET_EXCEEDED' },
      })
      // Without estimates the run ends at the iteration limit, after 26 calls.
      expect(eventsOf(run.events, 'llm_iteration_completed').length).toBeLessThan(20)
    },
  )

  it('[ENS-B8] A provider with incomplete counts gives whole, known or unknown amounts in events, results and steps', async () => {
    const run = startRecorded(team(reporting(usage)), { budget: { maxModelCalls: 3 }, prices })
    const result = await run.handle.result
    const { totalTokens } = result.metrics
    expect(Number.isSafeInteger(totalTokens) && totalTokens >= -1).toBe(true)
    const amounts = listAmounts(run.events)
    expect(amounts.length).toBeGreaterThan(0)
    for (const amount of amounts) {
      expect(Number.isFinite(Number(amount)) && Number(amount) >= -1 && amount !== '').toBe(true)
    }
    // Steps are stored as JSON, which turns NaN and Infinity into null.
    expect(JSON.parse(JSON.stringify(run.steps))).toEqual(run.steps)
  })
})

describe('[ENS-B3] a budget of 250 tokens', () => {
  async function countCalls(usage: unknown): Promise<number> {
    const run = watchRun(team(reporting(usage)), { budget: { maxTokens: 250 } })
    expect(await run.ended).toMatchObject({ error: { code: 'BUDGET_EXCEEDED' } })
    return eventsOf(run.events, 'llm_iteration_completed').length
  }

  it('A budget of 250 tokens stops a provider that reports only sums of 100 after three calls, as with both counts', async () => {
    const sum = { inputTokens: undefined, outputTokens: undefined, totalTokens: 100 }
    expect(await countCalls(sum)).toBe(3)
    expect(await countCalls({ inputTokens: 90, outputTokens: 10 })).toBe(3)
  })

  it('A budget of 250 tokens stops a provider that reports zeros like one that reports nothing', async () => {
    const none = await countCalls(undefined)
    expect(await countCalls({ inputTokens: 0, outputTokens: 0, totalTokens: 0 })).toBe(none)
    expect(none).toBeLessThan(10)
  })
})

it('[ENS-L28] An answer without counts has the tokens that budgets count in its event', async () => {
  const run = watchRun(team(reporting({ inputTokens: -1, outputTokens: 7 })), {
    budget: { maxModelCalls: 1 },
  })
  await run.ended
  const [answer] = eventsOf(run.events, 'llm_iteration_completed')
  expect(answer).toMatchObject({ inputTokens: -1, outputTokens: 7 })
  expect(answer?.countedTokens).toBeGreaterThan(7)
})

it('[ENS-E6] A resumed run counts the estimates of the process before it, also for cost', async () => {
  const first = startRecorded(team(reporting(undefined)), { budget: { maxModelCalls: 4 }, prices })
  await first.handle.result
  const turns = first.steps.filter((step) => step.kind === 'model_turn')
  const counted = turns.map((turn) => turn.counted)
  expect(counted).toHaveLength(4)
  const tokens = counted.reduce((sum, use) => sum + (use?.tokens ?? 0), 0)
  const costUsd = counted.reduce((sum, use) => sum + (use?.costUsd ?? 0), 0)
  const last = first.steps.findLastIndex((step) => step.kind === 'model_turn')
  const cut = { events: first.events, steps: first.steps.slice(0, last + 1) }
  for (const budget of [{ maxTokens: tokens }, { maxCostUsd: costUsd }]) {
    const second = startRecorded(team(reporting(undefined)), { from: cut, budget, prices })
    expect(await second.handle.result).toMatchObject({ error: { code: 'BUDGET_EXCEEDED' } })
    expect(eventsOf(second.events, 'llm_iteration_started')).toEqual([])
  }
})

describe('[ENS-B6] [ENS-B8] an agent', () => {
  const ask = { toolCalls: [{ name: 'ask', arguments: { input: 'x' } }] }

  it.each<readonly [string, unknown, unknown, object]>([
    ['numbers', 2, 0.5, { tokens: 2, costUsd: 0.5 }],
    ['fractions', 1.6, 0.25, { tokens: 2, costUsd: 0.25 }],
    ['negative numbers', -3, -3, { tokens: 0, costUsd: 0 }],
    ['NaN', NaN, NaN, { tokens: 0, costUsd: 0 }],
    ['Infinity', Infinity, Infinity, { tokens: 0, costUsd: 0 }],
    ['text', '5', '5', { tokens: 0, costUsd: 0 }],
    ['1e308', 1e308, 1e308, { tokens: 0, costUsd: MAX }],
  ])('An agent that reports %s has whole, known amounts', async (_, count, cost, expected) => {
    // NOTE: tools are third-party code and can report anything.
    const amounts = { input_tokens: count, cost_usd: cost } as Pick<
      Extract<AgentReport, { type: 'agent_tool_progress' }>,
      'input_tokens' | 'cost_usd'
    >
    const tool = defineTool({
      name: 'ask',
      description: 'Asks',
      input: Type.Object({ input: Type.String() }),
      execute(_input, { reportAgent }) {
        const fields = { retry_index: 0, chunk_index: 0, chunk: 1, accumulated_cost_usd: 0 }
        reportAgent({ type: 'agent_tool_progress', ...fields, ...amounts })
        reportAgent({ type: 'agent_tool_progress', ...fields })
        return 'ok'
      },
    })
    const run = startRecorded(team(scriptedModel([ask, 'Done']), [tool]))
    expect(await run.handle.result).toMatchObject({ status: 'COMPLETED' })
    const used = run.steps.filter((step) => step.kind === 'agent_used')
    expect({
      tokens: used.reduce(
        (sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens,
        0,
      ),
      costUsd: used.reduce((sum, { costUsd }) => sum + costUsd, 0),
    }).toEqual(expected)
  })

  it('An agent that reports the largest numbers again and again never makes a total inexact', async () => {
    const tool = defineAgentTool({
      name: 'ask',
      description: 'Asks',
      mode: 'streaming',
      connector: localConnector(
        {
          async *answer() {
            for (let at = 0; at < 3; at += 1) {
              const usage = { costUsd: 1e308, inputTokens: MAX, outputTokens: MAX }
              yield { kind: 'chunk', chunk: at, usage } as const
            }
            yield { kind: 'end', state: 'completed', output: 'ok' } as const
          },
        },
        'tutti://agent',
      ),
    })
    const run = watchRun(team(scriptedModel([ask, 'Done']), [tool]))
    expect(await run.ended).toMatchObject({
      status: 'COMPLETED',
      metrics: { totalTokens: MAX, costEstimate: { outputCost: MAX } },
    })
  })

  it('An agent that is an ensemble whose provider reports nothing uses up the budget of its caller', async () => {
    const inner = ensemble({
      name: 'inner',
      model: {
        ...reporting(undefined),
        async *stream() {
          yield { type: 'reply', reply: { text: 'x'.repeat(4_000), toolCalls: [] } }
        },
      },
      tasks: [task({ description: 'Answer' })],
    })
    const outer = team(
      scriptedModel(() => ({ toolCalls: [{ name: 'inner', arguments: {} }] })),
      [inner.asTool({ name: 'inner' })],
    )
    const run = watchRun(outer, { budget: { maxTokens: 2_500 } })
    expect(await run.ended).toMatchObject({ error: { code: 'BUDGET_EXCEEDED' } })
    expect(eventsOf(run.events, 'tool_called').length).toBeLessThan(4)
  })
})
