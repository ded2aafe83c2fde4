/** Tests A2A agents as tools (limits, events, turns and questions) with servers of the SDK. */
import { runTool, type RunToolOptions, type ToolCallOutcome } from '@tutti/core'
import type { TimedAgentReport } from '@tutti/core/internal'
import { defineAgentTool, type AgentToolSettings } from '@tutti/agent-call/internal'
import { fakeClock, scriptedReviewer } from '@tutti/testing'
import { expect, test } from 'vitest'

import { a2aConnector } from '../src/a2a/a2a-connector.ts'
import { rawAgent, task } from './a2a-raw-agent.ts'
import { sdkAgent, VARIANTS, type Work } from './a2a-sdk-agent.ts'
import { hurriedClock } from './a2a-hurried-call.ts'

/** Result of one tool call. */
interface Called {
  readonly outcome: ToolCallOutcome
  readonly reports: readonly TimedAgentReport[]
  readonly types: readonly string[]
  readonly last: TimedAgentReport | undefined
}

const ENDS = ['agent_tool_completed', 'agent_tool_terminated', 'agent_tool_error']

async function call(
  url: string,
  settings: Partial<AgentToolSettings>,
  options: RunToolOptions = {},
): Promise<Called> {
  const connector = a2aConnector({ url })
  const tool = defineAgentTool({ name: 'foreign', description: 'Asks', connector, ...settings })
  const reports: TimedAgentReport[] = []
  const outcome = await runTool(
    tool,
    { id: 'call-1', name: 'foreign', arguments: '{"input":"go"}' },
    {
      clock: hurriedClock,
      ...options,
      onAgentReport: (_call, report) => {
        reports.push(report)
        options.onAgentReport?.(_call, report)
      },
    },
  )
  const types = reports.map(({ type }) => type)
  expect(types.filter((type) => ENDS.includes(type))).toHaveLength(1)
  return { outcome, reports, types, last: reports.at(-1) }
}

/** Options with a fake clock, so that no timer fires. */
const steady: RunToolOptions = { clock: fakeClock() }

/** Runs until it is cancelled. */
async function endless(work: Work): Promise<void> {
  work.task('TASK_STATE_WORKING')
  work.artifact('a', [{ text: 'so far' }])
  await new Promise((resolve) => {
    work.cancelled.addEventListener('abort', resolve)
  })
}

test.each(VARIANTS)(
  'A call of an A2A agent reports a stream as events, then exactly one end ($version $binding)',
  async (variant) => {
    const agent = await sdkAgent(
      (work) => {
        work.task()
        work.artifact('a', [{ text: 'one' }])
        work.status('TASK_STATE_WORKING', undefined, { cost_usd: 0.25 })
        work.status('TASK_STATE_COMPLETED')
      },
      { variant },
    )
    const { reports, types, last, outcome } = await call(agent.url, { mode: 'streaming' }, steady)
    expect(types).toEqual([
      'agent_tool_invoked',
      ...Array.from({ length: 4 }, () => 'agent_tool_progress'),
      'agent_tool_completed',
    ])
    expect(reports[0]).toMatchObject({
      protocol: 'a2a',
      mode: 'streaming',
      agent_uri: `${agent.url}/`,
    })
    expect(reports.slice(1, -1).map((one) => 'chunk_index' in one && one.chunk_index)).toEqual([
      0, 1, 2, 3,
    ])
    expect(last).toMatchObject({ output: 'one', total_cost: 0.25 })
    expect(outcome).toMatchObject({ result: { success: true, output: 'one' } })
  },
)

test.each(VARIANTS)(
  'A call of an A2A agent ends, with its task, when the cost limit is exceeded ($version $binding)',
  async (variant) => {
    const agent = await sdkAgent(
      async (work) => {
        work.task('TASK_STATE_WORKING')
        work.artifact('a', [{ text: 'so far' }])
        work.status('TASK_STATE_WORKING', undefined, { cost_usd: 0.75 })
        await new Promise((resolve) => {
          work.cancelled.addEventListener('abort', resolve)
        })
      },
      { variant },
    )
    const settings = { mode: 'streaming', maxCostUsd: 0.5 } as const
    const { last } = await call(agent.url, settings, steady)
    expect(last).toMatchObject({
      type: 'agent_tool_terminated',
      reason: 'budget_exceeded',
      accumulated_cost_usd: 0.75,
      partial_output: 'so far',
    })
    expect(agent.cancelled).toHaveLength(1)
  },
)

test.each(['streaming', 'sync'] as const)(
  'A call of an A2A agent ends, with its task, after the idle timeout in mode %s',
  async (mode) => {
    const clock = fakeClock()
    const agent = await sdkAgent(endless)
    const working = agent.requested('SendStreamingMessage')
    const calling = call(agent.url, { mode, idleTimeoutMs: 5_000, timeoutMs: Infinity }, { clock })
    await working
    await expect
      .poll(async () => {
        await clock.advance(1_000)
        return agent.cancelled.length
      })
      .toBe(1)
    const { last } = await calling
    expect(last).toMatchObject({
      type: 'agent_tool_terminated',
      reason: 'idle_timeout',
      partial_output: 'so far',
      retryable: true,
    })
  },
)

test.each([true, false])(
  'A call of an A2A agent cancels the task when the caller aborts (streaming: %s)',
  async (streaming) => {
    const agent = await sdkAgent(endless, { streaming })
    const controller = new AbortController()
    const { last } = await call(
      agent.url,
      { mode: 'streaming' },
      {
        ...steady,
        signal: controller.signal,
        onAgentReport: (_call, { type }) => {
          if (type === 'agent_tool_progress') controller.abort()
        },
      },
    )
    expect(last).toMatchObject({ type: 'agent_tool_terminated', reason: 'cancelled' })
    expect(agent.cancelled).toHaveLength(1)
  },
)

test('A call of an A2A agent applies no HTTP timeout to a silence of more than 300 s', async () => {
  const clock = fakeClock()
  const agent = await rawAgent(() => undefined)
  const settings = { timeoutMs: Infinity, idleTimeoutMs: 4_000_000 }
  const calling = call(agent.url, settings, { clock })
  const { event } = await agent.requested('SendStreamingMessage')
  await clock.advance(3_600_000)
  event(task('COMPLETED', { artifacts: [{ artifactId: 'a', parts: [{ text: 'at last' }] }] }))
  expect((await calling).outcome).toMatchObject({ result: { output: 'at last' } })
})

/** Asks two questions before it completes. */
function curious(work: Work): void {
  work.task()
  const history = work.context.task?.history.length ?? 0
  if (work.context.task === undefined) work.status('TASK_STATE_INPUT_REQUIRED', 'Which colour?')
  else if (work.text === 'blue') work.status('TASK_STATE_INPUT_REQUIRED', 'How large?')
  else {
    work.artifact('a', [{ text: `${work.text}, after ${history > 0 ? 'questions' : 'nothing'}` }])
    work.status('TASK_STATE_COMPLETED')
  }
}

test.each(VARIANTS)(
  'A call of an A2A agent answers the questions of a conversation with `reply` ($version $binding)',
  async (variant) => {
    const agent = await sdkAgent(curious, { variant })
    const asked: unknown[] = []
    const { outcome, types } = await call(
      agent.url,
      {
        mode: 'conversational',
        reply: ({ question, index }) => {
          asked.push(question)
          return ['blue', 'large'][index]
        },
      },
      steady,
    )
    expect(asked).toEqual(['Which colour?', 'How large?'])
    expect(outcome).toMatchObject({ result: { output: 'large, after questions' } })
    expect(types.filter((type) => type === 'agent_tool_turn')).toHaveLength(6)
  },
)

test('A call of an A2A agent sends a question to the reviewer and the answer to the same task', async () => {
  const agent = await sdkAgent((work) => {
    work.task()
    if (work.context.task === undefined) work.status('TASK_STATE_INPUT_REQUIRED', 'Which colour?')
    else {
      work.artifact('a', [{ text: `It is ${work.text}` }])
      work.status('TASK_STATE_COMPLETED')
    }
  })
  const reviewer = scriptedReviewer([{ action: 'EDIT', input: 'green' }])
  const { outcome } = await call(agent.url, {}, { ...steady, reviewer })
  expect(outcome).toMatchObject({ result: { output: 'It is green' } })
})

test('A call of an A2A agent fails with the question and cancels the task when there is no reviewer', async () => {
  const agent = await sdkAgent(curious)
  const { last, outcome } = await call(agent.url, {}, steady)
  expect(last).toMatchObject({ type: 'agent_tool_error', failure_type: 'input_required' })
  expect(JSON.stringify(outcome)).toContain('Which colour?')
  expect(agent.cancelled).toHaveLength(1)
})

const failures: readonly (readonly [string, (work: Work) => void, object])[] = [
  [
    'fails',
    (work) => work.status('TASK_STATE_FAILED', 'No paper'),
    { failure_type: 'agent_failed', error: 'The agent failed: No paper' },
  ],
  [
    'rejects the task',
    (work) => work.status('TASK_STATE_REJECTED', 'Not mine'),
    { failure_type: 'agent_failed', error: 'The agent rejected the task: Not mine' },
  ],
  [
    'asks for credentials',
    (work) => work.status('TASK_STATE_AUTH_REQUIRED', 'Log in first'),
    { failure_type: 'configuration', error: 'The agent asks for credentials: Log in first' },
  ],
]

test.each(failures)(
  'A call of an A2A agent emits one error event when the agent %s',
  async (_title, execute, expected) => {
    const agent = await sdkAgent((work) => {
      work.task('TASK_STATE_WORKING')
      execute(work)
    })
    const { last } = await call(agent.url, {}, steady)
    expect(last).toMatchObject({ type: 'agent_tool_error', ...expected, retryable: false })
  },
)

test('A call of an A2A agent retries a busy agent after the delay that it requests', async () => {
  const waits: number[] = []
  const clock = {
    ...hurriedClock,
    after: (delayMs: number, callback: () => void) => {
      if (delayMs === 9_000) waits.push(delayMs)
      return delayMs === 9_000 ? hurriedClock.after(delayMs, callback) : () => undefined
    },
  }
  const agent = await rawAgent(({ index, json, event }) => {
    if (index === 0) json({}, 429, { 'retry-after': '9' })
    else event(task('COMPLETED'))
  })
  const connector = a2aConnector({ url: agent.url })
  const tool = defineAgentTool({ name: 'busy', description: 'Asks', connector, retries: 1 })
  const reports: string[] = []
  await runTool(
    tool,
    { id: 'call-1', name: 'busy', arguments: '{"input":"go"}' },
    { clock, onAgentReport: (_call, { type }) => reports.push(type) },
  )
  expect(waits).toEqual([9_000])
  expect(reports).toEqual([
    'agent_tool_invoked',
    'agent_tool_error',
    'agent_tool_invoked',
    'agent_tool_completed',
  ])
})
