/** Tests of agents whose last answer is empty. */
import { defineTextTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { EMPTY_ANSWER_REQUEST } from '../src/agent/unfinished.ts'
import { ensemble, task, type EnsembleDefinition, type TaskDefinition } from '../src/index.ts'
import { interruptEverywhere } from './interrupt-everywhere.ts'
import { createThinker, createWorldTool, requestCalls } from './scenario-parts.ts'
import { fakeClock, scriptedModel, scriptedReviewer, type ScriptEntry } from './testing.ts'
import { eventsOf, watchRun } from './watch-run.ts'

const log = defineTextTool({ name: 'log', description: 'Logs', execute: () => 'logged' })

const LOGS = { text: 'Here is the full answer', toolCalls: [{ name: 'log', arguments: {} }] }
const logging = { ...LOGS, toolCalls: [{ name: 'log', arguments: { input: 'x' } }] }

/** Runs one task on a scripted model. */
async function run(
  script: readonly ScriptEntry[],
  settings: Partial<TaskDefinition> = {},
  team: Partial<EnsembleDefinition> = {},
) {
  const model = scriptedModel(script)
  const work = task({ name: 'work', description: 'Do the work', tools: [log], ...settings })
  const clock = fakeClock()
  const { events, ended } = watchRun(ensemble({ name: 'team', model, tasks: [work], ...team }), {
    clock,
    reviewer: scriptedReviewer([{ action: 'EDIT', text: '' }]),
  })
  await clock.advance(60_000)
  return { events, result: await ended, requests: model.requests }
}

const EMPTY: readonly (readonly [string, ScriptEntry])[] = [
  ['no text', ''],
  ['blank text', ' \n\t '],
  ['only reasoning', { text: '', reasoning: 'I think I am done.' }],
  ['the finish reason of tool calls, and no call', { text: '', finishReason: 'tool_calls' }],
  ['an unknown finish reason', { text: '', finishReason: 'unknown' }],
]

describe.each(EMPTY)('[ENS-L32] an answer with %s', (_, empty) => {
  it('An empty answer is requested once more, and the next answer is the output', async () => {
    const { events, result, requests } = await run([empty, 'The answer'])
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'The answer' })
    expect(requests).toHaveLength(2)
    expect(requests[1]?.messages.slice(requests[0]?.messages.length)).toEqual([
      { role: 'user', content: EMPTY_ANSWER_REQUEST },
    ])
    expect(eventsOf(events, 'llm_iteration_completed')).toHaveLength(2)
  })

  it('An empty answer fails the task with OUTPUT_EMPTY if it is empty again', async () => {
    const { events, result, requests } = await run([empty, empty])
    expect(result).toMatchObject({
      status: 'FAILED',
      error: {
        code: 'OUTPUT_EMPTY',
        retryable: true,
        message:
          'The last answer of task "work" by scripted:model was empty, also when it was requested again',
        details: { model: 'scripted:model' },
      },
    })
    expect(requests).toHaveLength(2)
    expect(eventsOf(events, 'task_failed')).toMatchObject([{ code: 'OUTPUT_EMPTY' }])
  })

  it('An empty answer is the output of a task that allows it', async () => {
    const { result, requests } = await run([empty], { allowEmptyOutput: true })
    expect(result.status).toBe('COMPLETED')
    expect(result.output?.trim()).toBe('')
    expect(requests).toHaveLength(1)
  })

  it('An empty answer is requested once more also from a task with a schema, and does not count as a correction', async () => {
    const output = Type.Object({ size: Type.Number() })
    const good = await run([empty, '{"size":1}'], { output, outputRetries: 0 })
    expect(good.result).toMatchObject({ status: 'COMPLETED', output: '{"size":1}' })
    const bad = await run([empty, empty], { output })
    expect(bad.result).toMatchObject({ error: { code: 'OUTPUT_EMPTY' } })
    const allowed = await run([empty, empty], { output, outputRetries: 1, allowEmptyOutput: true })
    expect(allowed.result).toMatchObject({ error: { code: 'OUTPUT_INVALID' } })
  })
})

describe('[ENS-L32] text that a model writes with its last tool calls', () => {
  it('Text that a model writes with its last tool calls stays in the conversation when the answer after it is empty', async () => {
    const { result, requests } = await run([logging, '', 'Here is the full answer, again'])
    expect(result).toMatchObject({ output: 'Here is the full answer, again' })
    const assistant = requests[2]?.messages.filter(({ role }) => role === 'assistant')
    expect(assistant).toMatchObject([{ content: 'Here is the full answer' }])
  })

  it.each([
    ['the second answer is empty too', ''],
    ['the provider rejects the second request', new Error('400 messages: bad')],
  ])(
    'Text that a model writes with its last tool calls is in the error and in the events when %s',
    async (_, last) => {
      const team = { modelRetries: 0 }
      const { events, result } = await run([LOGS, '', last], {}, team)
      expect(result).toMatchObject({
        status: 'FAILED',
        error: {
          code: 'OUTPUT_EMPTY',
          message: expect.stringContaining('Here is the full answer'),
          details: { textWithCalls: 'Here is the full answer' },
        },
      })
      expect(eventsOf(events, 'llm_iteration_completed')[0]).toMatchObject({
        responseText: 'Here is the full answer',
      })
    },
  )

  it('Text that a model writes with its last tool calls is in the error when the script of a scripted model ends', async () => {
    const { result } = await run([LOGS, ''])
    expect(result.error).toMatchObject({
      code: 'OUTPUT_EMPTY',
      details: { textWithCalls: 'Here is the full answer' },
    })
  })
})

describe('[ENS-L32] the request after an empty answer', () => {
  it('The request after an empty answer is made once per attempt, also if the model calls tools in between', async () => {
    const { result, requests } = await run(['', logging, ''])
    expect(result.error?.code).toBe('OUTPUT_EMPTY')
    expect(requests).toHaveLength(3)
  })

  it('The request after an empty answer is made in each attempt of a task with retries', async () => {
    const { result, requests } = await run(['', '', '', 'done'], { retries: 1 })
    expect(result).toMatchObject({ output: 'done', tasks: [{ attempt: 2 }] })
    expect(requests).toHaveLength(4)
  })

  it('[ENS-L4] The request after an empty answer does not count as a turn, and follows a request for the final answer', async () => {
    const { result, requests } = await run([logging, '', 'done'], { maxIterations: 1 })
    expect(result).toMatchObject({ output: 'done' })
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'none', 'none'])
    const users = requests[2]?.messages.filter(({ role }) => role === 'user') ?? []
    expect(users.slice(1).map(({ content }) => content === EMPTY_ANSWER_REQUEST)).toEqual([
      false,
      true,
    ])
    const open = await run(['', logging, 'done'], { maxIterations: 2 })
    expect(open.result).toMatchObject({ output: 'done' })
    expect(open.requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'auto'])
  })

  it('The request after an empty answer is not made for an answer whose earlier part has text', async () => {
    const { result, requests } = await run([{ text: 'First half', finishReason: 'length' }, ''])
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'First half' })
    expect(requests).toHaveLength(2)
  })

  it('The request after an empty answer can be answered with a text that is cut, which is continued', async () => {
    const { result } = await run(['', { text: 'one ', finishReason: 'length' }, 'two'])
    expect(result).toMatchObject({ output: 'one two' })
  })

  it('The request after an empty answer follows a cut answer without text that is empty when it is repeated', async () => {
    const { result, requests } = await run([{ text: '', finishReason: 'length' }, '', ''])
    expect(result.error?.code).toBe('OUTPUT_EMPTY')
    expect(requests).toHaveLength(3)
  })

  it('The request after an empty answer is a call of the budget like any other', async () => {
    const { result } = await run(['', ''], { budget: { maxModelCalls: 1 } })
    expect(result.error?.code).toBe('BUDGET_EXCEEDED')
  })
})

describe('[ENS-L33] an empty text that no model wrote is an output', () => {
  it('An empty text of a handler is an output', async () => {
    const { result } = await run([], { handler: () => '', tools: [] })
    expect(result).toMatchObject({ status: 'COMPLETED', output: '' })
  })

  it('An empty text of a tool as a handler is an output', async () => {
    const silent = defineTextTool({ name: 'silent', description: 'd', execute: () => '' })
    const { result } = await run([], { handler: silent, tools: [] })
    expect(result).toMatchObject({ status: 'COMPLETED', output: '' })
  })

  it('An empty text of a reviewer who edits the output is an output', async () => {
    const { result } = await run(['done'], { review: true })
    expect(result).toMatchObject({ status: 'COMPLETED', output: '' })
  })
})

it(
  '[ENS-E6] [ENS-E16] [ENS-L32] A run that is interrupted anywhere requests an empty answer once more, once',
  { timeout: 60_000 },
  async () => {
    const { result } = await interruptEverywhere({
      open(process) {
        const model = createThinker(process, ({ turn, last }) => {
          if (turn === 0) return requestCalls(['t', 'look', 'here'])
          return last === EMPTY_ANSWER_REQUEST ? 'found' : ''
        })
        const tools = [createWorldTool(process, 'look')]
        return {
          team: ensemble({
            name: 'quiet',
            model,
            tasks: [task({ name: 'only', description: 'Look', tools })],
          }),
        }
      },
    })
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'found' })
  },
)
