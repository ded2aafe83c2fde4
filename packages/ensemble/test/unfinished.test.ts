/** Tests of answers that end early: refused, blocked, or cut at the output limit. */
import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { agent, ensemble, modelCatalog, task } from '../src/index.ts'
import { CONTINUE_REQUEST } from '../src/agent/unfinished.ts'
import { interruptEverywhere } from './interrupt-everywhere.ts'
import { requestCalls, createThinker, createWorldTool } from './scenario-parts.ts'
import { fakeClock, scriptedModel, type ScriptEntry } from './testing.ts'
import { eventsOf, watchRun } from './watch-run.ts'

import type { ChatModel } from '../src/adapter.ts'
import type { EnsembleDefinition, TaskDefinition } from '../src/index.ts'

const usage = { inputTokens: 10, outputTokens: 3_000 }
const refused = { text: '', finishReason: 'refusal', refusal: 'I cannot help with that.' } as const
const blocked = { text: 'Once', finishReason: 'content_filter' } as const

/** Runs one task on a scripted model. */
async function run(
  script: readonly ScriptEntry[],
  settings: Partial<TaskDefinition> = {},
  team: Partial<EnsembleDefinition> = {},
) {
  const model = scriptedModel(script)
  const work = task({ name: 'work', description: 'Do the work', ...settings })
  const { events, ended } = watchRun(ensemble({ name: 'team', model, tasks: [work], ...team }), {
    clock: fakeClock(),
  })
  return { events, result: await ended, requests: model.requests }
}

describe.each([
  { reply: refused, code: 'MODEL_REFUSED', option: 'refusal' },
  { reply: blocked, code: 'CONTENT_FILTERED', option: 'contentFilter' },
] as const)('[ENS-L25] an answer with $reply.finishReason', ({ reply, code, option }) => {
  it('An unfinished answer fails the task, with the reason in its events', async () => {
    const { events, result, requests } = await run([reply], { retries: 2 })
    const { finishReason } = reply
    expect(result).toMatchObject({ status: 'FAILED', error: { code, retryable: false } })
    expect(result.error?.details).toMatchObject({ finishReason, text: reply.text })
    expect(eventsOf(events, 'llm_iteration_completed')).toMatchObject([{ finishReason }])
    expect(eventsOf(events, 'task_failed')).toMatchObject([
      { code, finishReason, willRetry: false },
    ])
    expect(requests).toHaveLength(1)
  })

  it('An unfinished answer is not corrected when the task has an output schema', async () => {
    const output = Type.Object({ size: Type.Number() })
    const { result, requests } = await run([reply], { output })
    expect(result.error?.code).toBe(code)
    expect(requests).toHaveLength(1)
  })

  it('An unfinished answer makes the next fallback model answer, with the same messages', async () => {
    const second = scriptedModel(['done'], { name: 'second' })
    const { events, result, requests } = await run([reply], { fallbackModels: [second] })
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'done' })
    expect(result.tasks[0]?.finishReason).toBe('stop')
    expect(second.requests[0]?.messages).toEqual(requests[0]?.messages)
    expect(eventsOf(events, 'llm_iteration_completed')).toMatchObject([
      { iterationIndex: 0, model: 'scripted:model', finishReason: reply.finishReason },
      { iterationIndex: 1, model: 'scripted:second', finishReason: 'stop' },
    ])
  })

  it('An unfinished answer calls no fallback model if the agent has the option fail', async () => {
    const second = scriptedModel(['done'])
    const strict = agent({ role: 'Worker', goal: 'Work', onUnfinished: { [option]: 'fail' } })
    const { result } = await run([reply], { agent: strict, fallbackModels: [second] })
    expect(result.error?.code).toBe(code)
    expect(second.requests).toHaveLength(0)
  })
})

describe("[ENS-L25] the provider's explanation of a refusal", () => {
  it("The provider's explanation of a refusal is in the error and in both events", async () => {
    const { events, result } = await run([refused])
    const { refusal } = refused
    expect(result.error?.message).toContain(refusal)
    expect(result.error?.details).toMatchObject({ refusal })
    expect(eventsOf(events, 'llm_iteration_completed')).toMatchObject([{ refusal }])
    expect(eventsOf(events, 'task_failed')).toMatchObject([{ refusal }])
  })
})

describe('[ENS-L26] a text that is cut', () => {
  it('A text that is cut is continued and joined, and the extra calls do not count as iterations', async () => {
    const { events, result, requests } = await run(
      [
        { text: 'Once upon', finishReason: 'length' },
        { text: ' a time', finishReason: 'length' },
        ' there was jazz.',
      ],
      { maxIterations: 1 },
    )
    expect(result.output).toBe('Once upon a time there was jazz.')
    expect(result.tasks[0]?.finishReason).toBe('stop')
    expect(requests[2]?.messages.slice(-4)).toEqual([
      { role: 'assistant', content: 'Once upon', toolCalls: [] },
      { role: 'user', content: CONTINUE_REQUEST },
      { role: 'assistant', content: ' a time', toolCalls: [] },
      { role: 'user', content: CONTINUE_REQUEST },
    ])
    expect(eventsOf(events, 'llm_iteration_completed')).toMatchObject([
      { iterationIndex: 0, finishReason: 'length' },
      { iterationIndex: 1, finishReason: 'length' },
      { iterationIndex: 2, finishReason: 'stop' },
    ])
    expect(eventsOf(events, 'task_completed')).toMatchObject([
      { finishReason: 'stop', iterationLimitReached: false },
    ])
  })

  it('A text that is cut fails with the text so far after maxExtraCalls', async () => {
    const part = { text: 'na', finishReason: 'length' } as const
    const { result, requests } = await run([part, part, part], {
      onUnfinished: { maxExtraCalls: 2 },
    })
    expect(result.error).toMatchObject({
      code: 'OUTPUT_TRUNCATED',
      message: 'The answer of scripted:model was cut at its output limit, after 2 extra calls',
      details: { finishReason: 'length', text: 'nanana' },
    })
    expect(requests).toHaveLength(3)
  })

  it('A text that is cut is requested again with a higher limit, accepted, or failed, depending on the option', async () => {
    const part = { text: 'Once', finishReason: 'length', usage } as const
    const again = await run([part, 'Once, whole.'], {}, { onUnfinished: { length: 'retry' } })
    expect(again.result.output).toBe('Once, whole.')
    expect(again.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([undefined, 6_000])
    expect(again.requests[1]?.messages).toEqual(again.requests[0]?.messages)
    const accepted = await run([part], { onUnfinished: { length: 'accept' } })
    expect(accepted.result).toMatchObject({ status: 'COMPLETED', output: 'Once' })
    expect(accepted.result.tasks[0]?.finishReason).toBe('length')
    const failed = await run([part], { onUnfinished: { length: 'fail' } })
    expect(failed.result.error?.code).toBe('OUTPUT_TRUNCATED')
  })
})

it('[ENS-L31] The output limit of a task applies to each call, and a cut answer fails the task', async () => {
  const cut = { text: 'Once upon', finishReason: 'length', usage } as const
  const { events, result, requests } = await run([cut], { maxOutputTokens: 3_000 })
  expect(requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([3_000])
  expect(result.error?.code).toBe('OUTPUT_TRUNCATED')
  expect(eventsOf(events, 'task_failed')).toMatchObject([{ finishReason: 'length' }])
  const own = { maxOutputTokens: 3_000, onUnfinished: { length: 'retry' } } as const
  const again = await run([cut, 'done'], own)
  expect(again.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([3_000, 6_000])
  expect(again.result.output).toBe('done')
})

describe('[ENS-L26] a tool call that is cut', () => {
  const search = defineTool({
    name: 'search',
    description: 'Searches',
    input: Type.Object({ query: Type.String() }),
    execute: ({ query }) => `found ${query}`,
  })
  const half = { toolCalls: [{ name: 'search', arguments: '{"query": "ja' }] }

  it('A tool call that is cut is not made and not reported to the model, and is requested again with a higher limit', async () => {
    const { events, result, requests } = await run(
      [
        { ...half, finishReason: 'length', usage },
        { toolCalls: [{ name: 'search', arguments: { query: 'jazz' } }] },
        'Done',
      ],
      { tools: [search] },
    )
    expect(result.output).toBe('Done')
    expect(requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([
      undefined,
      6_000,
      6_000,
    ])
    expect(requests[1]?.messages).toEqual(requests[0]?.messages)
    expect(eventsOf(events, 'tool_called')).toMatchObject([{ outcome: 'SUCCESS' }])
    expect(eventsOf(events, 'llm_iteration_completed')[0]).not.toHaveProperty('toolRequests')
  })

  it('A tool call that is cut fails with OUTPUT_TRUNCATED if the provider rejects the higher limit', async () => {
    const { result } = await run(
      [{ ...half, finishReason: 'length' }, new Error('max_tokens is too large')],
      { tools: [search] },
    )
    expect(result.error).toMatchObject({
      code: 'OUTPUT_TRUNCATED',
      message: 'The tool call of scripted:model was cut at its output limit, after 1 extra calls',
      cause: { message: 'max_tokens is too large' },
    })
  })
})

it('[ENS-L26] Cut structured output is requested again without a correction', async () => {
  const output = Type.Object({ size: Type.Number() })
  const { result, requests } = await run(
    [{ text: '{"si', finishReason: 'length' }, '{"size": 3}'],
    {
      output,
    },
  )
  expect(result.tasks[0]?.structured).toEqual({ size: 3 })
  expect(requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([undefined, 2_048])
  expect(requests[1]?.messages).toEqual(requests[0]?.messages)
})

describe('[ENS-L27] extra calls', () => {
  it('Extra calls count for the budget', async () => {
    const part = { text: 'na', finishReason: 'length' } as const
    const { result } = await run([part, part, part], { budget: { maxModelCalls: 2 } })
    expect(result.error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
    expect(result.metrics.totalTokens).toBeGreaterThan(0)
  })

  it('Extra calls are not repeated after an interruption at any write', async () => {
    const { result } = await interruptEverywhere({
      open: (process) => {
        const shy = createThinker(process, () => refused, { name: 'shy' })
        const steady = createThinker(process, ({ turn, last }) => {
          if (turn === 0) return requestCalls(['c1', 'search', 'x'])
          return last === CONTINUE_REQUEST
            ? ' of two parts'
            : { text: `An answer (${last})`, finishReason: 'length' }
        })
        const write = task({
          name: 'write',
          description: 'Write',
          tools: [createWorldTool(process, 'search')],
          fallbackModels: [steady],
        })
        return {
          team: ensemble({ name: 'team', tasks: [write], model: shy }),
          options: { models: modelCatalog({ shy, steady }) },
        }
      },
    })
    expect(result.output).toBe('An answer (search:x) of two parts')
  })
})

describe('[ENS-L28] token counts', () => {
  it('Token counts include cached tokens in events and results', async () => {
    const cached = { inputTokens: 10, outputTokens: 1, cachedInputTokens: 8 }
    const { events, result } = await run([{ text: 'done', usage: cached }])
    expect(result.tasks[0]).toMatchObject({ cachedInputTokens: 8, finishReason: 'stop' })
    for (const type of ['llm_iteration_completed', 'metrics_snapshot', 'task_completed'] as const) {
      expect(eventsOf(events, type)).toMatchObject([{ cachedInputTokens: 8 }])
    }
  })

  it('Token counts are -1 in every event if the provider does not report them', async () => {
    const scripted = scriptedModel(['done'])
    const silent: ChatModel = {
      ...scripted,
      async *stream() {
        yield { type: 'reply', reply: { text: 'done', toolCalls: [] } }
      },
    }
    const { events } = await run([], { model: silent })
    for (const type of ['llm_iteration_completed', 'metrics_snapshot', 'task_completed'] as const) {
      expect(eventsOf(events, type)).toMatchObject([{ inputTokens: -1, outputTokens: -1 }])
    }
  })
})
