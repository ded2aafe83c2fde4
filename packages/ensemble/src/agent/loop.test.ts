import { defineTextTool, defineTool, ToolResult, Type } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import { fakeClock, scriptedModel, type FakeClock, type ScriptedReply } from '../../test/testing.ts'
import { createTestScope } from '../../test/task-scope.ts'
import { eventsOf, expectWireEvents } from '../../test/watch-run.ts'
import { runAgentLoop, type TaskAnswer } from './loop.ts'
import { FINAL_ANSWER_REQUEST } from './prompt.ts'
import { MAX_REASONING_BYTES } from './turn-reasoning.ts'
import { MAX_TOOL_TEXT_LENGTH } from './tool-events.ts'

import type { ChatModel } from '../model/chat-model.ts'
import type { TaskDefinition } from '../definition/task.ts'
import type { Usage } from '../usage/usage.ts'
import type { AgentTool, ToolContext } from '@tutti/core'
import type { RunEvent } from '@tutti/protocol'

let clock: FakeClock
let events: RunEvent[]

beforeEach(() => {
  clock = fakeClock()
  events = []
})

interface Settings extends Pick<TaskDefinition, 'maxIterations'> {
  readonly tools?: readonly AgentTool[]
  readonly signal?: AbortSignal
  readonly maxToolOutputLength?: number
}

/** Runs one loop and checks its events at the end. */
async function run(
  model: ChatModel,
  { tools = [], signal, maxToolOutputLength = -1, ...limits }: Settings = {},
): Promise<TaskAnswer & Usage> {
  const agent = { role: 'Worker', goal: 'Work', tools: [] }
  const made = createTestScope({
    task: { name: 'work', description: 'Do the work', agent, tools, ...limits },
    ensemble: { model, maxToolOutputLength, modelRetries: 0 },
    run: { clock },
    ...(signal === undefined ? {} : { signal }),
  })
  const { scope } = made
  try {
    const result = await runAgentLoop(made.loop)
    return { ...result, ...scope.totals.usage() }
  } finally {
    events.push(...made.events)
    expectWireEvents(events)
  }
}

const echo = defineTextTool({ name: 'echo', description: 'Echoes', execute: (text) => text })
const wait = defineTextTool({
  name: 'wait',
  description: 'Waits the given number of milliseconds',
  async execute(ms, { signal }) {
    await sleep(clock, Number(ms), signal)
    return `waited ${ms}`
  },
})

function calls(
  ...list: readonly (readonly [name: string, input: string | object])[]
): ScriptedReply {
  return {
    toolCalls: list.map(([name, input]) => ({
      name,
      arguments: typeof input === 'string' ? { input } : input,
    })),
  }
}

function createCircle(): object {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}

function listTypes(): readonly string[] {
  return events.map(({ type }) => type)
}

describe('[ENS-L1] a model call', () => {
  it('A model call emits its start, its tokens and its end, followed by the running totals', async () => {
    const result = await run(scriptedModel(['All together now']))
    expect(result).toMatchObject({ output: 'All together now', iterationLimitReached: false })
    expect(listTypes()).toEqual([
      'llm_iteration_started',
      'token',
      'token',
      'token',
      'llm_iteration_completed',
      'metrics_snapshot',
    ])
    for (const event of events) expect(event).toMatchObject({ taskName: 'work', attempt: 2 })
    expect(events[0]).toMatchObject({
      iterationIndex: 0,
      model: 'scripted:model',
      totalMessageCount: 2,
      messages: [
        { role: 'system', content: expect.stringMatching(/^You are Worker\./), toolCalls: null },
        { role: 'user', content: expect.stringContaining('## Task\nDo the work'), toolName: null },
      ],
    })
    expect(events[4]).toMatchObject({
      iterationIndex: 0,
      responseType: 'FINAL_ANSWER',
      responseText: 'All together now',
      model: 'scripted:model',
    })
    expect(events[4]).not.toHaveProperty('toolRequests')
  })

  it('A model call emits its reasoning before its tokens, and the whole reasoning with its end', async () => {
    const usage = { inputTokens: 9, outputTokens: 8, reasoningTokens: 5 }
    const model = scriptedModel([{ reasoning: 'Let me see.', text: 'Yes', usage }])
    expect(await run(model)).toMatchObject({ output: 'Yes' })
    expect(listTypes()).toEqual([
      'llm_iteration_started',
      'reasoning',
      'reasoning',
      'reasoning',
      'token',
      'llm_iteration_completed',
      'metrics_snapshot',
    ])
    const pieces = eventsOf(events, 'reasoning')
    expect(pieces.map(({ text }) => text)).toEqual(['Let', ' me', ' see.'])
    expect(pieces[0]).toMatchObject({ taskName: 'work', attempt: 2, iterationIndex: 0 })
    expect(events.at(-2)).toMatchObject({
      responseText: 'Yes',
      outputTokens: 8,
      reasoningTokens: 5,
      reasoning: 'Let me see.',
    })
    expect(events.at(-1)).toMatchObject({ outputTokens: 8, reasoningTokens: 5 })
    expect(events.at(-2)).not.toHaveProperty('reasoningTruncated')
  })

  it('A model call emits reasoning up to a limit, and says that the rest is missing', async () => {
    const reasoning = `${'x'.repeat(MAX_REASONING_BYTES - 1)} ääh`
    await run(scriptedModel([{ reasoning, text: 'Yes' }]))
    const shown = eventsOf(events, 'reasoning')
    const whole = shown.map(({ text }) => text).join('')
    expect(whole).toBe(`${'x'.repeat(MAX_REASONING_BYTES - 1)} `)
    expect(eventsOf(events, 'llm_iteration_completed')[0]).toMatchObject({
      reasoning: whole,
      reasoningTruncated: true,
    })
  })

  it('A model call emits the same for every turn, counted from 0, with the tool calls in between', async () => {
    await run(scriptedModel([calls(['echo', 'hi']), 'done']), { tools: [echo] })
    expect(listTypes()).toEqual([
      'llm_iteration_started',
      'llm_iteration_completed',
      'metrics_snapshot',
      'tool_called',
      'llm_iteration_started',
      'token',
      'llm_iteration_completed',
      'metrics_snapshot',
    ])
    const indexes = events.map((event) => ('iterationIndex' in event ? event.iterationIndex : null))
    expect(indexes).toEqual([0, 0, null, 0, 1, 1, 1, null])
    expect(events[1]).toMatchObject({
      responseType: 'TOOL_CALLS',
      toolRequests: [{ name: 'echo', arguments: '{"input":"hi"}' }],
    })
    expect(events[1]).not.toHaveProperty('responseText')
    expect(events[4]).toMatchObject({
      totalMessageCount: 4,
      messages: [
        {},
        {},
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ name: 'echo', arguments: '{"input":"hi"}' }],
          toolName: null,
        },
        { role: 'tool', content: 'hi', toolCalls: null, toolName: 'echo' },
      ],
    })
  })

  it('A model call emits the latency of the model', async () => {
    const running = run(scriptedModel(['one two'], { clock, delayMs: 40 }))
    await clock.advance(1_000)
    await running
    expect(eventsOf(events, 'llm_iteration_completed')[0]?.latencyMs).toBe(80)
  })
})

it('[ENS-L6] The tokens of a call concatenate to the text of its answer, also with tool calls', async () => {
  const text = 'Let me look,  then\nanswer. '
  await run(scriptedModel([{ ...calls(['echo', 'x']), text }, 'Done now']), { tools: [echo] })
  const tokens = eventsOf(events, 'token')
  const texts = [0, 1].map((index) =>
    tokens.map(({ iterationIndex, token }) => (iterationIndex === index ? token : '')).join(''),
  )
  expect(texts).toEqual([text, 'Done now'])
  expect(
    eventsOf(events, 'llm_iteration_completed').map(({ responseText }) => responseText),
  ).toEqual(texts)
})

describe('[ENS-L2] the tools of one turn', () => {
  it('The tools of one turn run concurrently', async () => {
    const model = scriptedModel([calls(['wait', '300'], ['wait', '100'], ['wait', '200']), 'done'])
    const running = run(model, { tools: [wait] })
    await clock.advance(300)
    expect(await running).toMatchObject({ output: 'done', toolCallCount: 3 })
    expect(clock.elapsed()).toBe(300)
    expect(eventsOf(events, 'tool_called').map(({ durationMs }) => durationMs)).toEqual([
      100, 200, 300,
    ])
  })

  it('The tools of one turn return their results to the model in the order of the calls', async () => {
    const model = scriptedModel([calls(['wait', '300'], ['echo', 'now'], ['wait', '200']), 'done'])
    const running = run(model, { tools: [wait, echo] })
    await clock.advance(1_000)
    await running
    expect(model.requests[1]?.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: '',
        toolCalls: [
          { id: 'call-1', name: 'wait', arguments: '{"input":"300"}' },
          { id: 'call-2', name: 'echo', arguments: '{"input":"now"}' },
          { id: 'call-3', name: 'wait', arguments: '{"input":"200"}' },
        ],
      },
      { role: 'tool', toolCallId: 'call-1', toolName: 'wait', content: 'waited 300' },
      { role: 'tool', toolCallId: 'call-2', toolName: 'echo', content: 'now' },
      { role: 'tool', toolCallId: 'call-3', toolName: 'wait', content: 'waited 200' },
    ])
  })
})

it('[ENS-L3] The model receives every failure of a tool, and the loop continues', async () => {
  const boom = defineTextTool({
    name: 'boom',
    description: 'Throws',
    execute: () => Promise.reject(new Error('No network')),
  })
  const hang = defineTextTool({
    name: 'hang',
    description: 'Never ends',
    timeoutMs: 700,
    execute: () => new Promise(() => undefined),
  })
  const model = scriptedModel([
    calls(['boom', ''], ['hang', ''], ['nope', ''], ['echo', { text: 5 }], ['echo', 'fine']),
    'done anyway',
  ])
  const running = run(model, { tools: [boom, hang, echo] })
  await clock.advance(1_000)
  expect(await running).toMatchObject({ output: 'done anyway', toolCallCount: 5 })
  const received = model.requests[1]?.messages.slice(3).map(({ content }) => content)
  expect(received).toEqual([
    'Error: No network',
    'Error: Tool "hang" timed out after 700 ms',
    'Error: Unknown tool "nope". Available: [boom, hang, echo]',
    'Error: Invalid input for "echo": /input is required',
    'fine',
  ])
  const outcomes = eventsOf(events, 'tool_called').map(({ toolCallId, outcome, toolResult }) => [
    toolCallId,
    outcome,
    toolResult,
  ])
  expect(outcomes).toHaveLength(5)
  expect(outcomes).toContainEqual(['call-1', 'FAILURE', 'Error: No network'])
  expect(outcomes).toContainEqual(['call-5', 'SUCCESS', 'fine'])
})

describe('[ENS-L4] maxIterations', () => {
  it('maxIterations counts model turns; one more call without tools asks for the answer', async () => {
    const model = scriptedModel(({ toolChoice }) =>
      toolChoice === 'none' ? 'My best guess' : calls(['echo', 'again']),
    )
    const result = await run(model, { tools: [echo], maxIterations: 3 })
    expect(result).toMatchObject({
      output: 'My best guess',
      toolCallCount: 3,
      iterationLimitReached: true,
    })
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      'auto',
      'auto',
      'auto',
      'none',
    ])
    expect(model.requests[3]?.tools).toHaveLength(1)
    expect(model.requests[3]?.messages.at(-1)).toEqual({
      role: 'user',
      content: FINAL_ANSWER_REQUEST,
    })
    expect(eventsOf(events, 'llm_iteration_completed').at(-1)).toMatchObject({
      iterationIndex: 3,
      responseType: 'FINAL_ANSWER',
    })
  })

  it('maxIterations is not reached by an answer in the last allowed turn', async () => {
    const model = scriptedModel([calls(['echo', 'x']), 'in time'])
    expect(await run(model, { tools: [echo], maxIterations: 2 })).toMatchObject({
      output: 'in time',
      iterationLimitReached: false,
    })
    expect(model.requests).toHaveLength(2)
  })

  it('maxIterations ends the loop without calling tools that the last call requests', async () => {
    const model = scriptedModel(() => ({ ...calls(['echo', 'again']), text: 'Still looking' }))
    const result = await run(model, { tools: [echo], maxIterations: 1 })
    expect(result).toMatchObject({ output: 'Still looking', toolCallCount: 1 })
    expect(model.requests).toHaveLength(2)
    expect(eventsOf(events, 'llm_iteration_completed').at(-1)).not.toHaveProperty('toolRequests')
  })
})

describe('[ENS-L5] an abort', () => {
  it('An abort of the agent loop ends a streaming model call with CANCELLED and emits nothing more', async () => {
    const controller = new AbortController()
    const running = run(scriptedModel(['one two three'], { clock, delayMs: 50 }), {
      signal: controller.signal,
    }).catch((error: unknown) => error)
    await clock.advance(100)
    controller.abort()
    expect(await running).toMatchObject({ code: 'CANCELLED' })
    expect(listTypes()).toEqual(['llm_iteration_started', 'token', 'token'])
    await clock.advance(1_000)
    expect(listTypes()).toHaveLength(3)
  })

  it('An abort of the agent loop ends the loop with CANCELLED once running tools have stopped, without another model call', async () => {
    const controller = new AbortController()
    const model = scriptedModel([calls(['wait', '500'], ['wait', '900']), 'never'])
    const running = run(model, { tools: [wait], signal: controller.signal }).catch(
      (error: unknown) => error,
    )
    await clock.advance(600)
    controller.abort()
    expect(await running).toMatchObject({ code: 'CANCELLED' })
    expect(model.requests).toHaveLength(1)
    expect(eventsOf(events, 'llm_iteration_started')).toHaveLength(1)
    expect(
      eventsOf(events, 'tool_called').map(({ outcome, durationMs }) => [outcome, durationMs]),
    ).toEqual([
      ['SUCCESS', 500],
      ['FAILURE', 600],
    ])
  })
})

describe('[ENS-L7] a tool output longer than maxToolOutputLength', () => {
  it('A tool output longer than maxToolOutputLength is cut for the model with a note, and is whole in the event', async () => {
    const long = 'x'.repeat(50)
    const model = scriptedModel([calls(['echo', long], ['echo', 'short']), 'done'])
    await run(model, { tools: [echo], maxToolOutputLength: 10 })
    expect(model.requests[1]?.messages.slice(3).map(({ content }) => content)).toEqual([
      'xxxxxxxxxx\n[truncated: 50 characters in full]',
      'short',
    ])
    expect(eventsOf(events, 'tool_called').map(({ toolResult }) => toolResult)).toEqual([
      long,
      'short',
    ])
  })

  it('A tool output longer than maxToolOutputLength is also cut in the event beyond the limit of events, as are arguments and values', async () => {
    const long = 'x'.repeat(MAX_TOOL_TEXT_LENGTH)
    const big = defineTool({
      name: 'big',
      description: 'Returns a long text',
      input: Type.Object({ text: Type.String() }),
      output: Type.Object({ text: Type.String() }),
      execute: (input) => input,
    })
    const model = scriptedModel([
      {
        toolCalls: [
          { name: 'big', arguments: { text: long } },
          { name: 'echo', arguments: { input: long } },
        ],
      },
      'done',
    ])
    await run(model, { tools: [big, echo] })
    const [bigCall, echoCall] = ['big', 'echo'].map((name) =>
      eventsOf(events, 'tool_called').find(({ toolName }) => toolName === name),
    )
    const note = `\n[truncated: ${MAX_TOOL_TEXT_LENGTH + 11} characters in full]`
    expect(bigCall?.toolResult?.endsWith(note)).toBe(true)
    expect(bigCall?.toolResult).toHaveLength(MAX_TOOL_TEXT_LENGTH + note.length)
    expect(bigCall?.toolArguments?.endsWith(note)).toBe(true)
    expect(bigCall?.structuredResult).toBeNull()
    expect(echoCall?.toolResult).toBe(long)
    expect(model.requests[1]?.messages.at(-1)?.content).toBe(long)
  })

  it('A tool output longer than maxToolOutputLength is not cut when the limit is negative', async () => {
    const long = 'x'.repeat(50_000)
    const model = scriptedModel([calls(['echo', long]), 'done'])
    await run(model, { tools: [echo] })
    expect(model.requests[1]?.messages.at(-1)?.content).toBe(long)
  })
})

it('[ENS-L8] llm_iteration_started shows the last 20 messages and their total number', async () => {
  const model = scriptedModel(({ messages }) =>
    messages.length < 30 ? calls(['echo', `${messages.length}`]) : 'done',
  )
  await run(model, { tools: [echo] })
  const started = eventsOf(events, 'llm_iteration_started')
  expect(started.map(({ totalMessageCount }) => totalMessageCount)).toEqual(
    model.requests.map(({ messages }) => messages.length),
  )
  expect(started.at(-1)?.totalMessageCount).toBe(30)
  expect(started.at(-1)?.messages).toHaveLength(20)
  expect(started.at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', content: '28' })
})

describe('[ENS-L9] the token counts', () => {
  const usage = { inputTokens: 100, outputTokens: 10 }

  it('The token counts of all calls are summed, and each snapshot has the totals so far', async () => {
    const model = scriptedModel(
      [
        { ...calls(['wait', '30']), usage },
        { text: 'done', usage },
      ],
      { clock, delayMs: 5 },
    )
    const running = run(model, { tools: [wait] })
    await clock.advance(100)
    expect(await running).toMatchObject({ inputTokens: 200, outputTokens: 20 })
    expect(eventsOf(events, 'metrics_snapshot')).toMatchObject([
      { inputTokens: 100, outputTokens: 10, iterationCount: 1, llmLatencyMs: 0 },
      {
        inputTokens: 200,
        outputTokens: 20,
        iterationCount: 2,
        llmLatencyMs: 5,
        toolExecutionTimeMs: 30,
      },
    ])
  })

  it('The token counts are -1 if one call does not report them, also in its own event', async () => {
    const model = scriptedModel([{ ...calls(['echo', 'x']), usage }, 'done'])
    const silent: ChatModel = {
      ...model,
      async *stream(request, options) {
        for await (const chunk of model.stream(request, options)) {
          if (chunk.type === 'reply' && chunk.reply.text === 'done') {
            yield { type: 'reply', reply: { text: 'done', toolCalls: [] } }
          } else yield chunk
        }
      },
    }
    const result = await run(silent, { tools: [echo] })
    expect(result).toMatchObject({ inputTokens: -1, outputTokens: -1 })
    expect(eventsOf(events, 'llm_iteration_completed').at(-1)).toMatchObject({
      inputTokens: -1,
      outputTokens: -1,
    })
    expect(eventsOf(events, 'metrics_snapshot').at(-1)).toMatchObject({
      inputTokens: -1,
      outputTokens: -1,
    })
  })
})

describe('[ENS-L10] a failed model call', () => {
  it('A failed model call ends the loop with MODEL_FAILED and emits llm_iteration_failed instead of llm_iteration_completed', async () => {
    const model = scriptedModel([calls(['echo', 'x']), new Error('Overloaded')])
    await expect(run(model, { tools: [echo] })).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: 'Overloaded',
    })
    expect(listTypes().slice(-2)).toEqual(['llm_iteration_started', 'llm_iteration_failed'])
    expect(eventsOf(events, 'llm_iteration_completed')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({
      taskName: 'work',
      attempt: 2,
      iterationIndex: 1,
      model: 'scripted:model',
      reason: 'Overloaded',
      code: 'MODEL_FAILED',
    })
    expect(events.at(-1)).not.toHaveProperty('retryInMs')
    expect(events.at(-1)).not.toHaveProperty('nextModel')
  })

  it('A stream that ends without a reply counts as a failed model call', async () => {
    const empty: ChatModel = {
      provider: 'test',
      name: 'empty',
      async *stream() {
        yield { type: 'text', text: 'I was about to' }
      },
    }
    await expect(run(empty)).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: 'Model stream ended without a reply',
    })
    expect(listTypes()).toEqual(['llm_iteration_started', 'token', 'llm_iteration_failed'])
  })
})

describe('[ENS-L11] a tool call', () => {
  it('A tool call receives its run, task and agent, and a key of run, task, attempt, turn and call', async () => {
    const contexts: ToolContext[] = []
    const look = defineTextTool({
      name: 'look',
      description: 'Looks',
      execute(_, context) {
        contexts.push(context)
        return ''
      },
    })
    const model = scriptedModel([calls(['look', ''], ['look', '']), calls(['look', '']), 'done'])
    await run(model, { tools: [look] })
    expect(contexts[0]).toMatchObject({ runId: 'run-1', taskName: 'work', agentRole: 'Worker' })
    expect(contexts.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
      'run-1/work/2/0/call-1',
      'run-1/work/2/0/call-2',
      'run-1/work/2/1/call-3',
    ])
  })

  it.each([
    ['a date is text', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a field without a value is absent', { a: undefined, b: [1, undefined] }, { b: [1, null] }],
    ['a bigint is a number', 10n, 10],
    ['a long bigint is its digits', { id: 725653563933458432n }, { id: '725653563933458432' }],
    ['a circular object is null', createCircle(), null],
    ['a function is null', () => 1, null],
  ])('A tool call has its value as JSON in its event: %s', async (_rule, value, shown) => {
    const odd = defineTextTool({
      name: 'odd',
      description: 'Returns an odd value',
      execute: () => ToolResult.success('odd', value),
    })
    await run(scriptedModel([calls(['odd', '']), 'done']), { tools: [odd] })
    expect(eventsOf(events, 'tool_called')).toMatchObject([
      { toolResult: 'odd', structuredResult: shown },
    ])
  })

  it('A tool call emits one event with its value and with the arguments as the model wrote them', async () => {
    const add = defineTool({
      name: 'add',
      description: 'Adds',
      input: Type.Object({ a: Type.Number(), b: Type.Number() }),
      output: Type.Object({ sum: Type.Number() }),
      execute: ({ a, b }) => ({ sum: a + b }),
    })
    const model = scriptedModel([
      { toolCalls: [{ id: 'x', name: 'add', arguments: '{ "a": 1, "b": 2 }' }] },
      'done',
    ])
    await run(model, { tools: [add] })
    expect(eventsOf(events, 'tool_called')).toEqual([
      {
        type: 'tool_called',
        agentRole: 'Worker',
        taskIndex: 1,
        taskName: 'work',
        attempt: 2,
        iterationIndex: 0,
        toolCallId: 'x',
        toolName: 'add',
        durationMs: 0,
        outcome: 'SUCCESS',
        toolArguments: '{ "a": 1, "b": 2 }',
        toolResult: '{"sum":3}',
        structuredResult: { sum: 3 },
        completedAt: new Date(clock.now()).toISOString(),
      },
    ])
  })
})

it('[ENS-L11] Two calls of a turn with the same id get separate keys and results', async () => {
  const keys: string[] = []
  const note = defineTextTool({
    name: 'note',
    description: 'Notes',
    execute(text, { idempotencyKey }) {
      keys.push(idempotencyKey)
      return `noted ${text}`
    },
  })
  const toolCalls = ['a', 'b', 'c'].map((input) => ({
    id: 'x',
    name: 'note',
    arguments: { input },
  }))
  const model = scriptedModel([{ toolCalls }, 'done'])
  await run(model, { tools: [note] })
  expect(keys).toEqual(['run-1/work/2/0/x', 'run-1/work/2/0/x#2', 'run-1/work/2/0/x#3'])
  expect(model.requests[1]?.messages.slice(2)).toMatchObject([
    { role: 'assistant', toolCalls: [{ id: 'x' }, { id: 'x#2' }, { id: 'x#3' }] },
    { role: 'tool', toolCallId: 'x', content: 'noted a' },
    { role: 'tool', toolCallId: 'x#2', content: 'noted b' },
    { role: 'tool', toolCallId: 'x#3', content: 'noted c' },
  ])
  const ids = eventsOf(events, 'tool_called').map(({ toolCallId }) => toolCallId)
  expect(new Set(ids).size).toBe(3)
})

it('[ENS-L2] Provider content is sent back with the turn that returned it', async () => {
  const content = { signature: 'abc' }
  const script = scriptedModel([calls(['echo', 'x']), 'done'])
  const thinking: ChatModel = {
    ...script,
    async *stream(request, options) {
      for await (const chunk of script.stream(request, options)) {
        if (chunk.type !== 'reply') yield chunk
        else {
          const reply = { ...chunk.reply, providerContent: { provider: 'test', content } }
          yield { type: 'reply', reply }
        }
      }
    },
  }
  await run(thinking, { tools: [echo] })
  expect(script.requests[1]?.messages[2]).toMatchObject({
    role: 'assistant',
    providerContent: { provider: 'test', content },
  })
})

it('[ENS-L12] Every model call receives the tools with the descriptions of their authors', async () => {
  const model = scriptedModel([calls(['echo', 'x']), 'done'])
  await run(model, { tools: [echo, wait] })
  for (const { tools } of model.requests) {
    expect(tools).toEqual([
      { name: 'echo', description: 'Echoes', inputSchema: echo.inputSchema },
      {
        name: 'wait',
        description: 'Waits the given number of milliseconds',
        inputSchema: wait.inputSchema,
      },
    ])
    expect(tools[0]?.inputSchema).toBe(echo.inputSchema)
  }
})
