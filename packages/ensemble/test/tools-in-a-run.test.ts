/** Tests of tools in a run: approval, early exit, steps, progress, metrics and limits. */
import { createToolMetrics, defineTextTool, ToolResult, type AgentTool } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import { ensemble, task, type Ensemble } from '../src/index.ts'
import { readPhasesAfter } from './task-phases.ts'
import { fakeClock, scriptedModel, scriptedReviewer, type FakeClock } from './testing.ts'
import { eventsOf, watchRun } from './watch-run.ts'

type Definition = Parameters<typeof defineTextTool>[0]

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

describe('[ENS-L13] the steps, progress and file changes of a tool call', () => {
  it('The steps, progress and file changes of a tool call are emitted before the event of the call itself', async () => {
    const inner = text('inner', () => ToolResult.failure('No'))
    const outer = text('outer', async (_, context) => {
      context.reportProgress({ message: 'half', fraction: 0.5 })
      await context.callTool(inner, 'x', { step: 'first' })
      context.reportProgress({ message: 'odd', fraction: 7 })
      context.reportFileChange({
        path: 'a.txt',
        changeType: 'CREATED',
        linesAdded: 3,
        linesRemoved: 0,
      })
      return 'out'
    })
    const run = watchRun(team([outer], calling('outer')), { clock })
    expect((await run.ended).metrics.totalToolCalls).toBe(1)
    const emitted = run.events.filter(({ type }) =>
      ['tool_called', 'tool_progress', 'file_changed'].includes(type),
    )
    const where = { agentRole: 'Worker', taskName: 'work', taskIndex: 1, attempt: 1 }
    expect(emitted).toMatchObject([
      { type: 'tool_progress', ...where, toolName: 'outer', message: 'half', fraction: 0.5 },
      {
        type: 'tool_called',
        ...where,
        toolCallId: 'call-1/first',
        parentToolCallId: 'call-1',
        toolName: 'inner',
        toolArguments: '"x"',
        toolResult: 'Error: No',
        outcome: 'FAILURE',
      },
      { type: 'tool_progress', message: 'odd' },
      { type: 'file_changed', agentRole: 'Worker', filePath: 'a.txt', linesAdded: 3 },
      { type: 'tool_called', ...where, toolCallId: 'call-1', toolName: 'outer' },
    ])
    expect(emitted[2]).not.toHaveProperty('fraction')
    expect(emitted[4]).not.toHaveProperty('parentToolCallId')
  })
})

describe('the approval of a tool call', () => {
  const pay = text('pay', () => 'Paid', { requireApproval: true })

  it('[ENS-G1] The approval of a tool call is requested from the reviewer of the run, with its task and run', async () => {
    const reviewer = scriptedReviewer(['CONTINUE'])
    const run = watchRun(team([pay], calling('pay')), { clock, reviewer, runId: 'run-7' })
    expect((await run.ended).status).toBe('COMPLETED')
    expect(reviewer.reviews).toMatchObject([
      {
        runId: 'run-7',
        timing: 'DURING_EXECUTION',
        taskName: 'work',
        taskDescription: expect.stringContaining('Call tool: pay'),
        approval: { toolName: 'pay', agentRole: 'Worker', taskName: 'work', runId: 'run-7' },
      },
    ])
    expect(eventsOf(run.events, 'review_requested')).toMatchObject([
      { toolName: 'pay', toolCallId: 'call-1', toolInput: { input: '' }, taskName: 'work' },
    ])
  })

  it('[ENS-L14] The approval of a tool call fails the task without calling the tool if there is no reviewer', async () => {
    const run = watchRun(team([pay], calling('pay')), { clock })
    expect(await run.ended).toMatchObject({
      status: 'FAILED',
      error: {
        code: 'TOOL_CONFIGURATION',
        message: 'Tool "pay" requires approval, but no reviewer is configured',
      },
    })
    expect(eventsOf(run.events, 'task_failed')).toMatchObject([{ code: 'TOOL_CONFIGURATION' }])
  })

  it('[ENS-L14] The approval of a tool call lets the other calls of the turn end first, with their events', async () => {
    const slow = text('slow', async () => {
      await sleep(clock, 300)
      return 'slept'
    })
    const model = scriptedModel([
      { toolCalls: ['pay', 'slow'].map((name) => ({ name, arguments: { input: '' } })) },
    ])
    const run = watchRun(team([pay, slow], model), { clock })
    await clock.advance(300)
    expect(await run.ended).toMatchObject({ status: 'FAILED', durationMs: 300 })
    expect(eventsOf(run.events, 'tool_called').map(({ toolName }) => toolName)).toEqual([
      'pay',
      'slow',
    ])
  })

  it.each([
    ['EXIT_EARLY', 'EXIT_EARLY', 'USER_EXIT_EARLY'] as const,
    ['no answer', 'never', 'TIMEOUT'] as const,
  ])(
    '[ENS-E14] The approval of a tool call ends the run with the completed tasks on %s',
    async (_, answer, exitReason) => {
      const tasks = [
        task({ name: 'before', description: 'Begin', model: scriptedModel(['begun']) }),
        task({ name: 'work', description: 'Work', tools: [pay], model: calling('pay') }),
        task({ name: 'after', description: 'End', model: scriptedModel(['never']) }),
      ]
      const run = watchRun(ensemble({ name: 'team', tasks }), {
        clock,
        reviewer: scriptedReviewer([answer]),
      })
      await clock.advance(300_000)
      const result = await run.ended
      expect(result).toMatchObject({ status: 'COMPLETED', output: 'begun' })
      expect(result).not.toHaveProperty('error')
      expect(Object.fromEntries(readPhasesAfter(run.events))).toEqual({
        before: 'completed',
        work: 'failed',
        after: 'skipped',
      })
      expect(eventsOf(run.events, 'task_failed')).toMatchObject([{ code: 'EXIT_EARLY' }])
      expect(eventsOf(run.events, 'ensemble_completed')).toMatchObject([{ exitReason }])
    },
  )

  it('[ENS-E14] The approval of a tool call lets concurrent work finish on an early exit, and a concurrent failure still fails the run', async () => {
    const slow = text('slow', async () => {
      await sleep(clock, 300)
      return 'slept'
    })
    const around = (model: ReturnType<typeof scriptedModel>): Ensemble =>
      ensemble({
        name: 'team',
        workflow: 'PARALLEL',
        errorStrategy: 'CONTINUE_ON_ERROR',
        tasks: [
          task({ name: 'asks', description: 'Ask', tools: [pay], model: calling('pay') }),
          task({ name: 'other', description: 'Go on', tools: [slow], model }),
          task({
            name: 'last',
            description: 'End',
            context: ['other'],
            model: scriptedModel(['never']),
          }),
        ],
      })
    const reviewer = scriptedReviewer(['EXIT_EARLY'])
    const good = watchRun(around(calling('slow')), { clock, reviewer })
    const bad = watchRun(around(scriptedModel([])), { clock, reviewer })
    await clock.advance(1_000)
    expect(await good.ended).toMatchObject({ status: 'COMPLETED', output: 'done' })
    expect(Object.fromEntries(readPhasesAfter(good.events))).toEqual({
      asks: 'failed',
      other: 'completed',
      last: 'skipped',
    })
    expect(await bad.ended).toMatchObject({ status: 'FAILED', error: { code: 'MODEL_FAILED' } })
  })
})

describe('[ENS-L15] maxConcurrentToolCalls', () => {
  it('maxConcurrentToolCalls limits the calls of all tasks of a run together', async () => {
    let running = 0
    let most = 0
    const slow = text('slow', async () => {
      running += 1
      most = Math.max(most, running)
      await sleep(clock, 100)
      running -= 1
      return 'ok'
    })
    const tasks = ['a', 'b', 'c'].map((name) =>
      task({ name, description: 'Do it', tools: [slow], model: calling('slow', 4) }),
    )
    const definition = { name: 'team', tasks, workflow: 'PARALLEL' } as const
    const run = watchRun(ensemble({ ...definition, maxConcurrentToolCalls: 2 }), { clock })
    await clock.advance(10_000)
    expect(await run.ended).toMatchObject({ status: 'COMPLETED', durationMs: 600 })
    expect(most).toBe(2)
  })

  it('[ENS-W8] maxConcurrentToolCalls must be an integer of at least 1', () => {
    const tasks = [task({ description: 'Do it', model: scriptedModel([]) })]
    expect(() => ensemble({ name: 'team', tasks, maxConcurrentToolCalls: 0 })).toThrow(
      'maxConcurrentToolCalls must be an integer >= 1, got 0',
    )
    expect(ensemble({ name: 'team', tasks }).maxConcurrentToolCalls).toBe(16)
  })
})

it('Tool calls are counted by tool and agent role', async () => {
  const toolMetrics = createToolMetrics()
  const run = watchRun(team([text('work', () => 'ok')], calling('work', 3)), { clock, toolMetrics })
  await run.ended
  expect(toolMetrics.snapshot()).toMatchObject([
    { toolName: 'work', agentRole: 'Worker', success: 3, failure: 0, error: 0 },
  ])
})

function text(
  name: string,
  execute: Definition['execute'],
  settings: Partial<Definition> = {},
): AgentTool {
  return defineTextTool({ name, description: name, execute, ...settings })
}

function team(tools: readonly AgentTool[], model: ReturnType<typeof scriptedModel>): Ensemble {
  const agent = { role: 'Worker', goal: 'Work', tools: [] }
  return ensemble({
    name: 'team',
    tasks: [task({ name: 'work', description: 'Work', agent, tools, model })],
  })
}

function calling(name: string, count = 1): ReturnType<typeof scriptedModel> {
  return scriptedModel([
    { toolCalls: Array.from({ length: count }, () => ({ name, arguments: { input: '' } })) },
    'done',
  ])
}
