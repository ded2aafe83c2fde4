/** Tests of tasks with structured output: corrections, their limit, and the output for others. */
import { defineTextTool, toStandardSchema, Type } from '@tutti/core'
import { beforeEach, describe, expect, it } from 'vitest'

import { FINAL_ANSWER_REQUEST } from '../src/agent/prompt.ts'
import {
  createCorrectionRequest,
  renderOutputInstructions,
} from '../src/output/structured-output.ts'
import { ensemble, task } from '../src/index.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, listFailures, watchRun } from './watch-run.ts'

import type { ChatModel, ModelRequest } from '../src/adapter.ts'
import type { TaskDefinition } from '../src/index.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

const Person = Type.Object(
  { name: Type.String(), age: Type.Integer(), tags: Type.Array(Type.String(), { default: [] }) },
  { title: 'A Person' },
)
const ada = { name: 'Ada', age: 36, tags: [] }
const look = defineTextTool({ name: 'look', description: 'Looks', execute: () => 'seen' })
const looking = { toolCalls: [{ name: 'look', arguments: { input: '' } }] }

/** Runs one task that finds a person, and a second task that has it as context. */
async function run(
  model: ChatModel,
  settings: Partial<Omit<TaskDefinition, 'handler' | 'output'>> = {},
) {
  const find = task({ ...settings, name: 'find', description: 'Find a person', output: Person })
  const tell = task({
    name: 'tell',
    description: 'Tell',
    context: [find],
    handler: ({ context }) => context[0]?.output ?? '',
  })
  const { events, ended } = watchRun(ensemble({ name: 'team', model, tasks: [find, tell] }), {
    clock,
  })
  await clock.advance(60_000)
  return { events, result: await ended, find }
}

function readLast(request: ModelRequest | undefined): string | undefined {
  return request?.messages.at(-1)?.content
}

describe('[ENS-L18] an answer that matches its schema', () => {
  it('An answer that matches its schema is a value for the caller, and JSON text for later tasks and readers', async () => {
    const model = scriptedModel(['Here you are:\n```json\n{"name": "Ada", "age": 36, "x": 1}\n```'])
    const { events, result, find } = await run(model)
    expect(result.outputOf(find)).toEqual(ada)
    expect(result.tasks[0]).toMatchObject({ output: JSON.stringify(ada), structured: ada })
    expect(result.output).toBe(JSON.stringify(ada))
    expect(eventsOf(events, 'task_completed')[0]).toMatchObject({
      output: JSON.stringify(ada),
      structuredOutput: ada,
    })
  })

  it('[ENS-L22] An answer that matches its schema is requested at the end of the prompt with the schema of its author', async () => {
    const model = scriptedModel(['{"name":"Ada","age":36}'])
    await run(model)
    const content = readLast(model.requests[0])
    expect(content?.endsWith(`\n\n## Output Format\n${renderOutputInstructions(Person)}`)).toBe(
      true,
    )
  })

  it('An answer that matches its schema can follow tool calls, whose text is not the answer', async () => {
    const model = scriptedModel([{ ...looking, text: 'not an answer' }, '{"name":"Ada","age":36}'])
    const { result, find } = await run(model, { tools: [look] })
    expect(result.outputOf(find)).toEqual(ada)
    expect(model.requests).toHaveLength(2)
  })

  it('An answer that matches its schema is converted by a library that implements Standard Schema', async () => {
    const shouting = toStandardSchema(Person)
    const schema = {
      '~standard': {
        ...shouting['~standard'],
        validate: async (value: unknown) => {
          const read = await shouting['~standard'].validate(value)
          return read.issues === undefined
            ? { value: { ...read.value, name: read.value.name.toUpperCase() } }
            : read
        },
      },
    }
    const find = task({ description: 'Find', output: schema })
    const model = scriptedModel(['{"name":"Ada","age":36}'])
    const { ended } = watchRun(ensemble({ name: 'team', model, tasks: [find] }), { clock })
    const result = await ended
    expect(result.outputOf(find)).toEqual({ ...ada, name: 'ADA' })
    expect(result.output).toBe(JSON.stringify({ ...ada, name: 'ADA' }))
  })
})

describe('[ENS-L18] an answer that does not match its schema', () => {
  it('An answer that does not match its schema is sent back with every problem, and the model corrects it', async () => {
    const wrong = '{"age":"old","tags":3}'
    const model = scriptedModel([wrong, 'I mean Ada', '{"name":"Ada","age":36}'])
    const { events, result, find } = await run(model)
    expect(result.outputOf(find)).toEqual(ada)
    expect(model.requests[1]?.messages.at(-2)).toMatchObject({ role: 'assistant', content: wrong })
    const first = readLast(model.requests[1])
    for (const path of ['/name', '/age', '/tags']) expect(first).toContain(path)
    expect(first).toContain('This is correction 1 of 3.')
    expect(readLast(model.requests[2])).toBe(
      createCorrectionRequest('Answer has no JSON, got "I mean Ada"', {
        attempt: 2,
        maxAttempts: 3,
      }),
    )
    expect(eventsOf(events, 'llm_iteration_completed').map((one) => one.iterationIndex)).toEqual([
      0, 1, 2,
    ])
  })

  it.each([
    [0, 1],
    [2, 3],
  ])(
    'An answer that does not match its schema with outputRetries %i fails the task after %i answers',
    async (outputRetries, count) => {
      const model = scriptedModel(() => 'never JSON')
      const { events, result } = await run(model, { outputRetries })
      expect(model.requests).toHaveLength(count)
      expect(result.error).toMatchObject({
        code: 'OUTPUT_INVALID',
        message: expect.stringContaining(`after ${outputRetries} corrections`),
        details: { problem: 'Answer has no JSON, got "never JSON"', answer: 'never JSON' },
      })
      expect(listFailures(events)).toMatchObject([{ code: 'OUTPUT_INVALID' }])
      expect(eventsOf(events, 'task_skipped')).toMatchObject([{ taskName: 'tell' }])
    },
  )

  it('[ENS-T5] An answer that does not match after the last correction lets the task be retried in a new conversation', async () => {
    const model = scriptedModel(['bad', 'worse', '{"name":"Ada","age":36}'])
    const { result } = await run(model, { outputRetries: 1, retries: 1 })
    expect(result.tasks[0]).toMatchObject({ attempt: 2, structured: ada })
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([2, 4, 2])
  })

  it('[ENS-L4] An answer that does not match at the iteration limit is corrected without tools', async () => {
    const model = scriptedModel([looking, 'bad', 'worse', '{"name":"Ada","age":36}'])
    const { events, result } = await run(model, { tools: [look], maxIterations: 1 })
    expect(result.tasks[0]).toMatchObject({ structured: ada })
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      'auto',
      'none',
      'none',
      'none',
    ])
    const texts = model.requests[3]?.messages.flatMap(({ role, content }) =>
      role === 'user' ? [content] : [],
    )
    expect(texts?.slice(1)).toEqual([
      FINAL_ANSWER_REQUEST,
      expect.stringContaining('This is correction 1 of 3.'),
      expect.stringContaining('This is correction 2 of 3.'),
    ])
    expect(eventsOf(events, 'task_completed')[0]).toMatchObject({ iterationLimitReached: true })
  })

  it('An answer that does not match its schema can be followed by tool calls before the corrected answer', async () => {
    const model = scriptedModel(['bad', looking, '{"name":"Ada","age":36}'])
    const { result } = await run(model, { tools: [look] })
    expect(result.metrics.totalToolCalls).toBe(1)
    expect(result.tasks[0]).toMatchObject({ structured: ada })
  })
})

describe('[ENS-L18] the output format', () => {
  it('The output format is sent on every call to a model that enforces it', async () => {
    const model = scriptedModel([looking, '{"name":"Ada","age":36}'])
    await run({ ...model, structuredOutput: true }, { tools: [look] })
    expect(model.requests.map(({ output }) => output)).toEqual([
      { name: 'a_person', schema: Person },
      { name: 'a_person', schema: Person },
    ])
  })

  it('The output format is not sent to other models, nor for tasks without a schema', async () => {
    const other = scriptedModel(['{"name":"Ada","age":36}'])
    await run(other)
    expect(other.requests[0]).not.toHaveProperty('output')
    const native = scriptedModel(['text'])
    const plain = task({ description: 'Say' })
    const model = { ...native, structuredOutput: true }
    await watchRun(ensemble({ name: 'team', model, tasks: [plain] }), { clock }).ended
    expect(native.requests[0]).not.toHaveProperty('output')
  })
})

it('[ENS-L18] A schema that produces something other than JSON fails with CONFIG_INVALID and is not retried', async () => {
  const shouting = toStandardSchema(Person)
  const schema = {
    '~standard': { ...shouting['~standard'], validate: () => ({ value: new Date(0) }) },
  }
  const find = task({ name: 'find', description: 'Find', output: schema, retries: 3 })
  const model = scriptedModel(() => '{"name":"Ada","age":36}')
  const { ended } = watchRun(ensemble({ name: 'team', model, tasks: [find] }), { clock })
  await clock.advance(60_000)
  expect((await ended).error).toMatchObject({ code: 'CONFIG_INVALID' })
  expect(model.requests).toHaveLength(1)
})

it('[ENS-L18] A correction after the limit shows no calls that were not made, also not in provider content', async () => {
  const requests: ModelRequest[] = []
  const providerContent = { provider: 'test', content: ['a call'] }
  const call = { id: 'c1', name: 'look', arguments: '{"input":""}' }
  const model: ChatModel = {
    provider: 'test',
    name: 'eager',
    async *stream(request) {
      requests.push(structuredClone(request))
      const text = requests.length < 3 ? 'not yet' : JSON.stringify(ada)
      yield { type: 'reply', reply: { text, toolCalls: [call], providerContent } }
    },
  }
  const { result } = await run(model, { tools: [look], maxIterations: 1 })
  expect(result.status).toBe('COMPLETED')
  const texts = requests[2]?.messages.filter(({ role }) => role === 'assistant')
  expect(texts).toEqual([
    { role: 'assistant', content: 'not yet', toolCalls: [call], providerContent },
    { role: 'assistant', content: 'not yet', toolCalls: [] },
  ])
})
