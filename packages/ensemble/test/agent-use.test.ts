/** Tests that the usage of agents counts once, also after a resume, and the grace period of local agents. */
import { defineTextTool, defineTool, runTool, Type } from '@tutti/core'
import { defineAgentTool, localConnector, type AgentUpdate } from '@tutti/agent-call/internal'
import { runStateAfter } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { ensemble, priceList, task, type Ensemble } from '../src/index.ts'
import { joinRuns, startRecorded } from './recorded-run.ts'
import { fakeClock, scriptedModel, type ScriptEntry } from './testing.ts'
import { eventsOf, watchRun } from './watch-run.ts'

import type { AgentTool } from '@tutti/core'

const USAGE = { inputTokens: 1, outputTokens: 1 }
const ASKS = { text: '', toolCalls: [{ name: 'ask', arguments: { input: 'x' } }], usage: USAGE }
const DONE = { text: 'Done', usage: USAGE }
const prices = priceList({ 'scripted:model': { inputPerMillion: 1_000_000, outputPerMillion: 0 } })

function asking(tool: AgentTool, script: readonly ScriptEntry[]): Ensemble {
  const only = task({ name: 'only', description: 'Ask', tools: [tool] })
  return ensemble({ name: 'team', tasks: [only], model: scriptedModel(script) })
}

function createAgentTool(answer: () => AsyncGenerator<AgentUpdate>): AgentTool {
  return defineAgentTool({
    name: 'ask',
    description: 'Asks',
    mode: 'streaming',
    idempotent: true,
    idleTimeoutMs: Infinity,
    connector: localConnector({ answer }, 'tutti://agent'),
  })
}

const piece = (): AgentUpdate => ({
  kind: 'chunk',
  chunk: 'piece',
  usage: { costUsd: 1, inputTokens: 2, outputTokens: 3 },
})

describe('[ENS-B6] a run that is interrupted while its agent works', () => {
  async function cut(): Promise<ReturnType<typeof startRecorded>> {
    const reported = Promise.withResolvers<void>()
    const tool = createAgentTool(async function* () {
      yield piece()
      yield piece()
      reported.resolve()
      await new Promise(() => undefined)
    })
    const first = startRecorded(asking(tool, [ASKS]), { prices })
    await reported.promise
    first.release()
    return first
  }
  const again = createAgentTool(async function* () {
    yield piece()
    yield { kind: 'end', state: 'completed', output: 'ok' }
  })

  it('A run that is interrupted while its agent works counts usage before and after the interruption once, in totals and in its task', async () => {
    const first = await cut()
    const second = startRecorded(asking(again, [DONE]), { from: first, prices })
    expect(await second.handle.result).toMatchObject({ status: 'COMPLETED' })
    const { events } = joinRuns(first, second)
    // Two model calls and three chunks.
    expect(runStateAfter(events).totals).toMatchObject({ totalTokens: 19, costUsd: 5 })
    expect(eventsOf(events, 'task_completed')).toMatchObject([{ inputTokens: 8, costUsd: 5 }])
  })

  it('A run that is interrupted while its agent works has less budget by the usage before the interruption', async () => {
    const first = await cut()
    const second = startRecorded(asking(again, [DONE]), {
      from: first,
      prices,
      budget: { maxCostUsd: 3 },
    })
    expect(await second.handle.result).toMatchObject({ status: 'FAILED' })
  })
})

// NOTE: tools are third-party code and can report anything.
const INVALID = [NaN, -5, Infinity, -Infinity, '7', null, {}] as readonly number[]

it('[ENS-B6] Invalid amounts do not increase a budget', async () => {
  const tool = defineTextTool({
    name: 'ask',
    description: 'Asks',
    execute: (_, { reportAgent, remaining }) => {
      for (const cost of INVALID) {
        const fields = { retry_index: 0, chunk_index: 0, chunk: 1, accumulated_cost_usd: 0 }
        reportAgent({ type: 'agent_tool_progress', ...fields, cost_usd: cost, input_tokens: cost })
      }
      return JSON.stringify(remaining())
    },
  })
  const run = watchRun(asking(tool, [ASKS, DONE]), {
    prices,
    budget: { maxCostUsd: 3, maxTokens: 10 },
  })
  await run.ended
  const [called] = eventsOf(run.events, 'tool_called')
  expect(JSON.parse(called?.toolResult ?? '')).toMatchObject({ costUsd: 2, tokens: 8 })
})

it('A call of an ensemble as a tool ends only when the ensemble has abandoned its own work', async () => {
  const clock = fakeClock()
  const begun = Promise.withResolvers<void>()
  const stuck = defineTool({
    name: 'ask',
    description: 'Never stops',
    input: Type.Object({ input: Type.String() }),
    timeoutMs: Infinity,
    execute: () => {
      begun.resolve()
      return new Promise<string>(() => undefined)
    },
  })
  const tool = asking(stuck, [ASKS]).asTool()
  expect(tool.graceMs).toBe(Infinity)
  const controller = new AbortController()
  const ending = runTool(
    tool,
    { id: 'c', name: tool.name, arguments: '{}' },
    { clock, signal: controller.signal },
  )
  await begun.promise
  controller.abort()
  await clock.advance(5_000)
  expect((await ending).end).toBe('cancelled')
})
