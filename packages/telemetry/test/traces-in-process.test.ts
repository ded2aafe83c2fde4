/** Runs in process, traced to a real collector: the complete tree of spans of each run. */
import { defineTool, systemClock, TuttiError, Type, type Clock } from '@tutti/core'
import {
  agent,
  ensemble,
  modelCatalog,
  task,
  type Ensemble,
  type RunOptions,
} from '@tutti/ensemble'
import { scriptedModel, scriptedReviewer } from '@tutti/testing'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'

import { traceRuns, type TraceRunsOptions } from '../src/index.ts'
import { startCollector, type SentSpan } from './collector.ts'
import { expectWholeTrace, spanNamed, treeOf } from './span-tree.ts'

import type { ToolContext } from '@tutti/core'
import type { TraceContext } from '@tutti/core/internal'

const collector = await startCollector()

beforeEach(() => {
  collector.spans.length = 0
  collector.bodies.length = 0
})

afterAll(async () => {
  await collector[Symbol.asyncDispose]()
})

const CALLER = 'b7ad6b7169203331'
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`

interface Traced {
  readonly inputs?: Readonly<Record<string, string>>
  readonly options?: RunOptions
  readonly tracing?: Partial<TraceRunsOptions>
  readonly asked?: TraceContext & { readonly runId?: string }
}

/** Executes a run to its end, and returns the spans that the collector received. */
async function traced(team: Ensemble, how: Traced = {}): Promise<readonly SentSpan[]> {
  const { inputs = {}, options = {}, tracing: more = {}, asked = {} } = how
  const tracing = traceRuns({ processor: collector.processor(), ...more })
  const result = await team.run(inputs, { ...options, ...tracing.run(asked) })
  await tracing.shutdown()
  expect(result.status).toBeDefined()
  return [...collector.spans]
}

function tool(name: string, execute: (context: ToolContext) => unknown) {
  return defineTool({
    name,
    description: `Does ${name}`,
    input: Type.Object({ what: Type.Optional(Type.String()) }),
    // NOTE: the type of a context depends only on edited inputs, and none is edited here.
    execute: async (_, context) => String(await execute(context as ToolContext)),
  })
}

function calls(...names: readonly string[]) {
  return { toolCalls: names.map((name) => ({ name, arguments: { what: 'x' } })) }
}

/** A clock whose delays are all 0. */
const HURRIED: Clock = {
  now: () => systemClock.now(),
  elapsed: () => systemClock.elapsed(),
  after: (_, callback) => systemClock.after(0, callback),
}

const look = tool('look', () => 'seen')

describe('a run', () => {
  it('A traced run is a tree of the run, tasks, model calls and tool calls', async () => {
    const model = scriptedModel([calls('look', 'look'), 'Found', 'Written'], {
      provider: 'anthropic',
      name: 'claude',
    })
    const find = task({ name: 'find', description: 'Find {topic}', tools: [look] })
    const write = task({ name: 'write', description: 'Write', context: [find] })
    const team = ensemble({ name: 'pair', tasks: [find, write], model })
    const spans = await traced(team, { inputs: { topic: 'tides' }, asked: { runId: 'run-7' } })
    const role = find.agent.role
    expect(treeOf(spans)).toEqual([
      'invoke_workflow pair',
      `  invoke_agent ${role}`,
      '    chat claude',
      '    execute_tool look',
      '    execute_tool look',
      '    chat claude',
      `  invoke_agent ${write.agent.role}`,
      '    chat claude',
    ])
    expectWholeTrace(spans)
    const run = spanNamed(spans, 'invoke_workflow pair')
    expect(run.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'pair',
      'tutti.run.id': 'run-7',
      'tutti.run.status': 'COMPLETED',
      'tutti.run.tasks': 2,
      'tutti.tool_calls': 2,
    })
    const chat = spans.find(({ name }) => name === 'chat claude')
    expect(chat).toMatchObject({ kind: 3, isError: false })
    expect(chat?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude',
      'gen_ai.response.finish_reasons': ['tool_call'],
      'tutti.task.name': 'find',
      'tutti.task.attempt': 1,
      'tutti.iteration': 0,
    })
    expect(Number(chat?.attributes['gen_ai.usage.input_tokens'])).toBeGreaterThan(0)
    expect(Number(chat?.attributes['gen_ai.usage.output_tokens'])).toBeGreaterThan(0)
    const toolSpans = spans.filter(({ name }) => name === 'execute_tool look')
    expect(toolSpans.map(({ attributes }) => attributes['gen_ai.tool.call.id'])).toEqual([
      'call-1',
      'call-2',
    ])
    expect(toolSpans[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'look',
      'gen_ai.tool.type': 'function',
    })
    const last = spans.find(({ attributes }) => attributes['tutti.task.name'] === 'write')
    expect(last?.attributes['gen_ai.response.time_to_first_chunk']).toBeGreaterThanOrEqual(0)
    expect(last?.events.map(({ name }) => name)).toEqual(['gen_ai.first_chunk'])
  })

  it('A traced run is part of the trace of its caller', async () => {
    const team = ensemble({
      name: 'one',
      tasks: [task({ description: 'Go' })],
      model: scriptedModel(['Done']),
    })
    const asked = { traceparent: TRACEPARENT, tracestate: 'vendor=1,other=2' }
    const spans = await traced(team, { asked })
    expectWholeTrace(spans, CALLER)
    expect(spans.map(({ traceId }) => traceId)).toEqual(spans.map(() => TRACE))
    expect(spans.map(({ traceState }) => traceState)).toEqual(spans.map(() => 'vendor=1,other=2'))
  })

  it('A traced run passes its trace on even if it is not recorded', async () => {
    const seen: (string | undefined)[] = []
    const spy = tool('spy', ({ traceparent, tracestate }) => seen.push(traceparent, tracestate))
    const model = scriptedModel([calls('spy'), 'Done'])
    const team = ensemble({
      name: 'one',
      tasks: [task({ description: 'Go', tools: [spy] })],
      model,
    })
    const asked = { traceparent: `00-${TRACE}-${CALLER}-00`, tracestate: 'vendor=1' }
    expect(await traced(team, { asked })).toEqual([])
    expect(seen).toEqual([
      expect.stringMatching(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`)),
      'vendor=1',
    ])
  })

  it('A traced run passes the context of its span to each tool call', async () => {
    const seen: string[] = []
    const spy = tool('spy', ({ traceparent }) => seen.push(String(traceparent)))
    const whole = tool('whole', async ({ callTool, traceparent }) => {
      seen.push(String(traceparent))
      await callTool(spy, {}, { step: 'first' })
      return 'done'
    })
    const model = scriptedModel([calls('spy', 'spy'), calls('whole'), 'Done'])
    const team = ensemble({
      name: 'one',
      tasks: [task({ description: 'Go', tools: [spy, whole] })],
      model,
    })
    const spans = await traced(team)
    const ids = spans
      .filter(({ name }) => name.startsWith('execute_tool'))
      .map(({ spanId }) => spanId)
    expect(seen.map((traceparent) => traceparent.slice(36, 52)).toSorted()).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(4)
  })
})

describe('simultaneous calls', () => {
  it('Simultaneous calls have spans side by side', async () => {
    const both = Promise.withResolvers<void>()
    let arrived = 0
    const meet = tool('meet', async () => {
      arrived += 1
      if (arrived === 2) both.resolve()
      await both.promise
      return 'met'
    })
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Met' : calls('meet'),
    )
    const tasks = ['a', 'b'].map((name) => task({ name, description: name, tools: [meet] }))
    const spans = await traced(ensemble({ name: 'both', tasks, model, workflow: 'PARALLEL' }))
    expectWholeTrace(spans)
    const [a, b] = spans.filter(({ name }) => name.startsWith('invoke_agent'))
    expect(a?.parentSpanId).toBe(spanNamed(spans, 'invoke_workflow both').spanId)
    expect(b?.parentSpanId).toBe(a?.parentSpanId)
    const meetings = spans.filter(({ name }) => name === 'execute_tool meet')
    expect(new Set(meetings.map((span) => span.parentSpanId))).toEqual(
      new Set([a?.spanId, b?.spanId]),
    )
    expect(meetings).toHaveLength(2)
  })
})

describe('failures', () => {
  it('Failures have a span for each retried model call and each attempt', async () => {
    const busy = new TuttiError('MODEL_FAILED', 'Busy with secret-token', {
      retryable: true,
      details: { retryAfterMs: 0 },
    })
    const model = scriptedModel([busy, busy, 'not json', 'not json', '{"n":1}'])
    const counted = task({
      name: 'count',
      description: 'Count',
      output: Type.Object({ n: Type.Number() }),
      outputRetries: 0,
      retries: 2,
    })
    const team = ensemble({ name: 'one', tasks: [counted], model, modelRetries: 3 })
    const redact = (text: string): string => text.replaceAll('secret-token', '[redacted]')
    const spans = await traced(team, { options: { clock: HURRIED }, tracing: { redact } })
    const role = counted.agent.role
    expect(treeOf(spans)).toEqual([
      'invoke_workflow one',
      `  invoke_agent ${role} !OUTPUT_INVALID`,
      '    chat model !MODEL_FAILED',
      '    chat model !MODEL_FAILED',
      '    chat model',
      `  invoke_agent ${role} !OUTPUT_INVALID`,
      '    chat model',
      `  invoke_agent ${role}`,
      '    chat model',
    ])
    expectWholeTrace(spans)
    const [first, second] = spans.filter(({ error }) => error?.startsWith('Busy') === true)
    expect(first?.error).toBe('Busy with [redacted]')
    expect(first?.attributes['tutti.retry_in_ms']).toBeGreaterThanOrEqual(0)
    expect([first, second].map((span) => span?.attributes['tutti.model.try'])).toEqual([1, 2])
  })

  it('Failures report that a tool failed, but not its message', async () => {
    const broken = tool('broken', () => {
      throw new Error('private words')
    })
    const model = scriptedModel([calls('broken', 'unknown'), 'Done'])
    const team = ensemble({
      name: 'one',
      tasks: [task({ description: 'Go', tools: [broken] })],
      model,
    })
    const spans = await traced(team)
    const { attributes, isError, error } = spanNamed(spans, 'execute_tool broken')
    expect([isError, error, attributes['error.type']]).toEqual([true, undefined, 'TOOL_FAILED'])
    expect(spanNamed(spans, 'execute_tool unknown').isError).toBe(true)
    expect(collector.bodies.join('')).not.toContain('private words')
  })

  it('An exceeded budget ends all spans', async () => {
    const model = scriptedModel([calls('look'), calls('look'), 'Done'])
    const team = ensemble({
      name: 'one',
      tasks: [task({ description: 'Go', tools: [look] })],
      model,
      budget: { maxToolCalls: 1 },
    })
    const spans = await traced(team)
    expectWholeTrace(spans)
    const run = spanNamed(spans, 'invoke_workflow one')
    expect(run).toMatchObject({ isError: true })
    expect(run.attributes['error.type']).toBe('BUDGET_EXCEEDED')
    expect(run.error).toContain('maxToolCalls')
  })

  it('A cancel ends the spans that it interrupts, and is not an error of the run', async () => {
    const controller = new AbortController()
    const slow = tool('slow', ({ signal }) => {
      controller.abort()
      expect(signal.aborted).toBe(true)
      return 'stopped'
    })
    const hung = scriptedModel(({ messages }) => {
      if (messages.at(-1)?.role === 'tool') throw new Error('not reached')
      return calls('slow')
    })
    const team = ensemble({
      name: 'one',
      tasks: [
        task({ description: 'Go', tools: [slow] }),
        task({ name: 'next', description: 'Next' }),
      ],
      model: hung,
    })
    const spans = await traced(team, { options: { signal: controller.signal } })
    expectWholeTrace(spans)
    const run = spanNamed(spans, 'invoke_workflow one')
    expect(run).toMatchObject({ isError: false })
    expect(run.attributes).toMatchObject({
      'tutti.run.status': 'CANCELLED',
      'tutti.code': 'CANCELLED',
    })
    expect(run.events.map(({ name }) => name)).toEqual([
      'tutti.run.started',
      'tutti.run.cancelling',
      'tutti.task.skipped',
    ])
  })

  it('An interrupted model call ends with its task', async () => {
    const controller = new AbortController()
    const model = {
      provider: 'p',
      name: 'hung',
      // oxlint-disable-next-line require-yield -- it never yields
      async *stream(
        _: unknown,
        { signal }: { readonly signal: AbortSignal },
      ): AsyncGenerator<never> {
        controller.abort()
        signal.throwIfAborted()
      },
    }
    const team = ensemble({ name: 'one', tasks: [task({ description: 'Go' })], model })
    const spans = await traced(team, { options: { signal: controller.signal } })
    expectWholeTrace(spans)
    expect(spanNamed(spans, 'chat hung').attributes['tutti.code']).toBe('CANCELLED')
  })
})

describe('parts of a tool call', () => {
  it('Parts of a tool call are children of the call, at any depth', async () => {
    const inner = tool('inner', () => 'in')
    const middle = tool('middle', async ({ callTool }) => {
      await callTool(inner, {}, { step: 'one' })
      await callTool(inner, {}, { step: 'two' })
      return 'mid'
    })
    const outer = tool('outer', async ({ callTool }) => {
      await Promise.all([
        callTool(middle, {}, { step: 'left' }),
        callTool(inner, {}, { step: 'right' }),
      ])
      return 'out'
    })
    const model = scriptedModel([calls('outer'), 'Done'])
    const team = ensemble({
      name: 'one',
      tasks: [task({ description: 'Go', tools: [outer] })],
      model,
    })
    const spans = await traced(team)
    expectWholeTrace(spans)
    const under = (name: string): readonly string[] => {
      const { spanId } = spanNamed(spans, name)
      return spans
        .filter((span) => span.parentSpanId === spanId)
        .map((span) => span.name)
        .toSorted()
    }
    expect(under('execute_tool outer')).toEqual(['execute_tool inner', 'execute_tool middle'])
    expect(under('execute_tool middle')).toEqual(['execute_tool inner', 'execute_tool inner'])
  })

  it('Parts of a tool call are the requests to an agent', async () => {
    const inner = ensemble({
      name: 'inner',
      tasks: [task({ description: 'Answer {input}' })],
      model: scriptedModel(['42']),
    })
    // A call of a copy is a separate run, like a call of another agent.
    const ask = { ...inner.asTool({ name: 'ask' }) }
    const model = scriptedModel([
      { toolCalls: [{ name: 'ask', arguments: { input: 'x' } }] },
      'Done',
    ])
    const team = ensemble({
      name: 'outer',
      tasks: [task({ name: 'go', description: 'Go', tools: [ask] })],
      model,
    })
    const spans = await traced(team)
    expectWholeTrace(spans)
    const call = spanNamed(spans, 'execute_tool ask')
    expect(spanNamed(spans, 'invoke_agent ask')).toMatchObject({
      parentSpanId: call.spanId,
      kind: 3,
      isError: false,
    })
    expect(spanNamed(spans, 'invoke_agent ask').attributes).toMatchObject({
      'tutti.agent.protocol': 'local',
      'tutti.agent.try': 1,
    })
  })
})

describe('a delegation', () => {
  it('A delegation is a child of the task that delegates', async () => {
    const hand = {
      toolCalls: [
        { name: 'delegate_task', arguments: { agentRole: 'Scout', taskDescription: 'Look' } },
      ],
    }
    const refused = {
      toolCalls: [
        { name: 'delegate_task', arguments: { agentRole: 'Nobody', taskDescription: 'Look' } },
      ],
    }
    const model = scriptedModel([refused, hand, 'Clear', 'Thanks', 'Own'])
    const lead = agent({ role: 'Lead', goal: 'Lead', allowDelegation: true })
    const scout = agent({ role: 'Scout', goal: 'Scout' })
    const team = ensemble({
      name: 'team',
      tasks: [
        task({ name: 'lead', description: 'Lead', agent: lead }),
        task({ name: 'scout', description: 'Scout', agent: scout }),
      ],
      model,
    })
    const spans = await traced(team)
    expectWholeTrace(spans)
    const delegation = spanNamed(spans, 'delegate Scout')
    const leading = spanNamed(spans, 'invoke_agent Lead')
    expect(delegation.parentSpanId).toBe(leading.spanId)
    expect(leading.events.map(({ name }) => name)).toEqual(['tutti.delegation.refused'])
    const worker = spans.find(({ parentSpanId }) => parentSpanId === delegation.spanId)
    expect(worker).toMatchObject({ name: 'invoke_agent Scout' })
    expect(worker?.attributes['tutti.task.name']).toBe('lead/Scout')
  })
})

describe('reviews and directives', () => {
  it('Reviews have a span from the question to the answer', async () => {
    const risky = defineTool({
      name: 'risky',
      description: 'Risks',
      input: Type.Object({ what: Type.Optional(Type.String()) }),
      requireApproval: true,
      execute: () => 'done',
    })
    const model = scriptedModel([calls('risky'), 'First', 'Second'])
    const reviewed = task({
      name: 'go',
      description: 'Go',
      tools: [risky],
      beforeReview: true,
      review: { maxRevisions: 1 },
    })
    const reviewer = scriptedReviewer([
      { action: 'CONTINUE', decidedBy: 'ada' },
      'CONTINUE',
      { action: 'REJECT', feedback: 'Again' },
      'CONTINUE',
    ])
    const team = ensemble({ name: 'one', tasks: [reviewed], model })
    const spans = await traced(team, { options: { reviewer } })
    expectWholeTrace(spans)
    const role = reviewed.agent.role
    expect(treeOf(spans)).toEqual([
      'invoke_workflow one',
      '  review before task',
      `  invoke_agent ${role} !REVIEW_REJECTED`,
      '    chat model',
      '    execute_tool risky',
      '      review during task',
      '    chat model',
      '    review after task',
      `  invoke_agent ${role}`,
      '    chat model',
      '    review after task',
    ])
    const before = spanNamed(spans, 'review before task')
    expect(before.attributes['tutti.review.decided_by']).toBe('ada')
    expect(
      spans
        .filter(({ name }) => name === 'review after task')
        .map(({ attributes }) => attributes['tutti.review.decision']),
    ).toEqual(['REJECT', 'CONTINUE'])
  })

  it('A review without an answer ends its span at its timeout', async () => {
    const reviewed = task({
      name: 'go',
      description: 'Go',
      review: { timeoutMs: 10, onTimeout: 'CONTINUE' },
    })
    const team = ensemble({ name: 'one', tasks: [reviewed], model: scriptedModel(['First']) })
    const spans = await traced(team, { options: { reviewer: scriptedReviewer(['never']) } })
    expectWholeTrace(spans)
    const review = spanNamed(spans, 'review after task')
    expect(review.attributes).toMatchObject({
      'tutti.review.timed_out': true,
      'tutti.review.decision': 'CONTINUE',
    })
    expect(review.endMs - review.startMs).toBeGreaterThanOrEqual(10)
  })

  it('Directives mark when they reached the task', async () => {
    const tracing = traceRuns({ processor: collector.processor() })
    const steered = tool('steer', () => {
      handle.inject('Be brief with private words')
      handle.switchModel('other')
      return 'steered'
    })
    const models = modelCatalog({ other: scriptedModel(['Done'], { name: 'second' }) })
    const team = ensemble({
      name: 'one',
      tasks: [task({ name: 'go', description: 'Go', tools: [steered] })],
      model: scriptedModel([calls('steer')]),
    })
    const handle = team.start({}, { ...tracing.run(), models })
    await handle.result
    await tracing.shutdown()
    expectWholeTrace(collector.spans)
    expect(
      spanNamed(collector.spans, 'invoke_workflow one').events.map(({ name }) => name),
    ).toEqual(['tutti.run.started', 'tutti.directive.active', 'tutti.model.switched'])
    const going = collector.spans.find(({ name }) => name.startsWith('invoke_agent'))
    expect(going?.events.map(({ name }) => name)).toEqual(['tutti.directive.delivered'])
    expect(collector.bodies.join('')).not.toContain('private words')
    expect(spanNamed(collector.spans, 'chat other').attributes['tutti.model']).toBe('other')
  })
})

describe('content', () => {
  const story = (): Ensemble =>
    ensemble({
      name: 'one',
      tasks: [
        task({
          name: 'go',
          description: 'Find private-input',
          tools: [tool('look', () => 'private-result secret')],
        }),
      ],
      model: scriptedModel([
        { toolCalls: [{ name: 'look', arguments: { what: 'private-argument' } }] },
        'private-answer',
      ]),
    })

  it('Content of messages is in no span', async () => {
    await traced(story())
    expect(collector.bodies.join('')).not.toContain('private')
  })

  it('Content of messages is recorded in the form of the conventions if it is enabled, without secrets', async () => {
    const redact = (text: string): string => text.replaceAll('secret', '***')
    const spans = await traced(story(), { tracing: { captureContent: true, redact } })
    const [first, second] = spans.filter(({ name }) => name === 'chat model')
    const json = (value: unknown): unknown => JSON.parse(String(value))
    expect(json(first?.attributes['gen_ai.system_instructions'])).toMatchObject([{ type: 'text' }])
    expect(json(first?.attributes['gen_ai.output.messages'])).toEqual([
      {
        role: 'assistant',
        parts: [
          {
            type: 'tool_call',
            id: 'call-1',
            name: 'look',
            arguments: '{"what":"private-argument"}',
          },
        ],
        finish_reason: 'tool_call',
      },
    ])
    expect(json(second?.attributes['gen_ai.input.messages'])).toMatchObject([
      {
        role: 'user',
        parts: [{ type: 'text', content: expect.stringContaining('private-input') }],
      },
      { role: 'assistant', parts: [{ type: 'tool_call', name: 'look' }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', response: 'private-result ***' }] },
    ])
    expect(spanNamed(spans, 'execute_tool look').attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"what":"private-argument"}',
      'gen_ai.tool.call.result': 'private-result ***',
    })
    expect(collector.bodies.join('')).not.toContain('secret')
  })

  it('Recorded content includes the reasoning of a model only if it is enabled, and its tokens in any case', async () => {
    const usage = { inputTokens: 9, outputTokens: 8, reasoningTokens: 5 }
    const team = () =>
      ensemble({
        name: 'one',
        tasks: [task({ description: 'Go' })],
        model: scriptedModel([{ reasoning: 'private-thought', text: '', usage }, 'Done']),
      })
    const plain = (await traced(team())).find(({ name }) => name === 'chat model')
    expect(plain?.attributes).toMatchObject({
      'gen_ai.usage.output_tokens': 8,
      'gen_ai.usage.reasoning.output_tokens': 5,
    })
    expect(plain?.events.map(({ name }) => name)).toEqual(['gen_ai.first_chunk'])
    expect(collector.bodies.join('')).not.toContain('private-thought')
    const spans = await traced(team(), { tracing: { captureContent: true } })
    const shown = spans.find(({ attributes }) => 'gen_ai.output.messages' in attributes)
    const messages: unknown = JSON.parse(String(shown?.attributes['gen_ai.output.messages']))
    const parts = [{ type: 'reasoning', content: 'private-thought' }]
    expect(messages).toEqual([{ role: 'assistant', parts, finish_reason: 'stop' }])
  })

  it('Content of messages is truncated to the maximum length of an attribute', async () => {
    const long = 'x'.repeat(20_000)
    const team = ensemble({
      name: 'one',
      tasks: [task({ description: 'Go', tools: [tool('look', () => long)] })],
      model: scriptedModel([...Array.from({ length: 10 }, () => calls('look')), 'Done']),
    })
    const spans = await traced(team, { tracing: { captureContent: true } })
    const lengths = spans.flatMap(({ attributes }) =>
      Object.values(attributes).map((value) => String(value).length),
    )
    expect(Math.max(...lengths)).toBeLessThan(70_000)
    const messages = spans.flatMap(({ attributes }) => attributes['gen_ai.input.messages'] ?? [])
    expect(messages.length).toBeGreaterThan(10)
    for (const text of messages) expect(Array.isArray(JSON.parse(text as string))).toBe(true)
  })
})
