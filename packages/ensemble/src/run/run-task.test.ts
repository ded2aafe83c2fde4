import { defineTextTool } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import { isSettled } from '../../test/recorded-run.ts'
import { timedModel } from '../../test/timed-model.ts'
import { fakeClock, scriptedModel } from '../../test/testing.ts'
import { eventsOf, nextTurn, watchRun } from '../../test/watch-run.ts'
import { agent } from '../definition/agent.ts'
import { ensemble } from '../ensemble.ts'
import { task } from '../definition/define-task.ts'

import type { RunJournal } from '../ports/run-journal.ts'
import type { RunStep } from '../ports/run-step.ts'
import type { RunEvent } from '@tutti/protocol'

const look = defineTextTool({ name: 'look', description: 'Looks', execute: (text) => text })
const lookFirst = { toolCalls: [{ name: 'look', arguments: { input: 'x' } }] }

describe('[ENS-T1] the events of a task', () => {
  it('The events of a task are its start, its input, those of the loop, then task_completed once', async () => {
    const work = task({ name: 'work', description: 'Do it', tools: [look] })
    const team = ensemble({ name: 'team', tasks: [work], model: scriptedModel([lookFirst, 'ok']) })
    const { events, ended } = watchRun(team)
    await ended
    expect(events.map(({ type }) => type)).toEqual([
      'ensemble_started',
      'task_started',
      'task_input',
      'llm_iteration_started',
      'llm_iteration_completed',
      'metrics_snapshot',
      'tool_called',
      'llm_iteration_started',
      'token',
      'llm_iteration_completed',
      'metrics_snapshot',
      'task_completed',
      'ensemble_completed',
      'run_result',
    ])
  })

  it('The events of a task end with one task_failed if it fails', async () => {
    const work = task({ name: 'work', description: 'Do it' })
    const team = ensemble({ name: 'team', tasks: [work], model: scriptedModel([new Error('No')]) })
    const { events, ended } = watchRun(team)
    await ended
    expect(events.map(({ type }) => type).slice(1, -2)).toEqual([
      'task_started',
      'task_input',
      'llm_iteration_started',
      'llm_iteration_failed',
      'task_failed',
    ])
  })

  it('The events of a task have the identity of the task, its usage and its output', async () => {
    const clock = fakeClock()
    const work = task({
      name: 'work',
      description: 'Write about {topic}',
      agent: agent({ role: 'Writer', goal: 'Write' }),
      model: timedModel(clock, 1_200, 'A page'),
    })
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [work] }), {
      clock,
      inputs: { topic: 'jazz' },
    })
    await clock.advance(5_000)
    const result = await ended
    const identity = {
      taskIndex: 1,
      taskName: 'work',
      taskDescription: 'Write about jazz',
      agentRole: 'Writer',
      attempt: 1,
    }
    expect(eventsOf(events, 'task_started')).toEqual([
      {
        type: 'task_started',
        ...identity,
        totalTasks: 1,
        startedAt: '2026-01-01T00:00:00.000Z',
      },
    ])
    expect(eventsOf(events, 'task_completed')).toEqual([
      {
        type: 'task_completed',
        ...identity,
        totalTasks: 1,
        completedAt: '2026-01-01T00:00:01.200Z',
        durationMs: 1_200,
        tokenCount: 5,
        toolCallCount: 0,
        output: 'A page',
        inputTokens: 3,
        outputTokens: 2,
        iterationLimitReached: false,
        finishReason: 'unknown',
      },
    ])
    expect(result.tasks).toEqual([
      {
        taskName: 'work',
        attempt: 1,
        output: 'A page',
        inputTokens: 3,
        outputTokens: 2,
        toolCallCount: 0,
        durationMs: 1_200,
        finishReason: 'unknown',
      },
    ])
  })

  it('The events of a task report an answer that the limit of model turns forced', async () => {
    const work = task({ name: 'work', description: 'Do it', tools: [look], maxIterations: 1 })
    const team = ensemble({ name: 'team', tasks: [work], model: scriptedModel([lookFirst, 'ok']) })
    const { events, ended } = watchRun(team)
    expect((await ended).output).toBe('ok')
    expect(eventsOf(events, 'task_completed')[0]?.iterationLimitReached).toBe(true)
  })
})

describe('[ENS-T2] task_completed and its step', () => {
  /** Returns a journal whose commits of completed tasks stay open until the test settles them. */
  function slowJournal(): {
    readonly journal: RunJournal
    readonly events: RunEvent[]
    readonly commits: { step: RunStep; resolve(): void; reject(error: Error): void }[]
  } {
    const events: RunEvent[] = []
    const commits: ReturnType<typeof slowJournal>['commits'] = []
    return {
      events,
      commits,
      journal: {
        emit(event) {
          events.push(event)
        },
        commit(step, event) {
          if (event !== undefined) events.push(event)
          if (step.kind !== 'task_completed') return Promise.resolve()
          return new Promise((resolve, reject) => {
            commits.push({ step, resolve, reject })
          })
        },
      },
    }
  }

  const first = task({ name: 'first', description: 'Do it' })
  const second = task({ name: 'second', description: 'Go on', context: [first] })
  const team = ensemble({ name: 'team', tasks: [first, second], model: scriptedModel(() => 'ok') })

  it('task_completed and its step are committed together, and the next task starts and the run ends only when both are durable', async () => {
    const { journal, events, commits } = slowJournal()
    const running = team.run({}, { journal })
    await nextTurn()
    expect(events.at(-1)).toMatchObject({ type: 'task_completed', taskName: 'first', output: 'ok' })
    expect(commits).toHaveLength(1)
    expect(commits[0]?.step).toMatchObject({ taskName: 'first', attempt: 1, output: 'ok' })
    commits[0]?.resolve()
    await nextTurn()
    expect(commits[1]?.step).toMatchObject({ taskName: 'second', attempt: 1 })
    expect(await isSettled(running)).toBe(false)
    commits[1]?.resolve()
    expect(await running).toMatchObject({ status: 'COMPLETED' })
  })

  it('The completion of the last task is recorded with the end of the run', async () => {
    const { journal, events, commits } = slowJournal()
    const running = team.run({}, { journal })
    await nextTurn()
    commits[0]?.resolve()
    await nextTurn()
    expect(events.slice(-3).map(({ type }) => type)).toEqual([
      'task_completed',
      'ensemble_completed',
      'run_result',
    ])
    const reason = new Error('Fenced off')
    commits[1]?.reject(reason)
    await expect(running).rejects.toBe(reason)
  })

  it('task_completed and its step fail the task if the commit is rejected, and dependent tasks do not start', async () => {
    const { journal, events, commits } = slowJournal()
    const running = team.run({}, { journal })
    await nextTurn()
    commits[0]?.reject(new Error('Fenced off'))
    expect(await running).toMatchObject({
      status: 'FAILED',
      tasks: [],
      error: { code: 'TASK_FAILED', message: 'Fenced off' },
    })
    expect(eventsOf(events, 'task_started')).toHaveLength(1)
  })

  it('task_completed and its step go to the journal instead of onEvent', async () => {
    const { journal, commits, events } = slowJournal()
    const listened: RunEvent[] = []
    const running = team.run({}, { journal, onEvent: (event) => listened.push(event) })
    await nextTurn()
    commits[0]?.resolve()
    await nextTurn()
    commits[1]?.resolve()
    await running
    expect(listened).toEqual([])
    expect(events.at(-1)?.type).toBe('run_result')
  })
})

describe('[ENS-T3] task_input', () => {
  it('task_input shows the input of the agent: rendered texts, tools and context', async () => {
    const model = scriptedModel(['It began in New Orleans.', 'A page'])
    const research = task({ name: 'research', description: 'Research {topic}' })
    const write = task({
      name: 'write',
      description: 'Write about {topic}',
      expectedOutput: '{pages} pages',
      agent: agent({ role: 'Writer', goal: 'Write', background: 'Ten books', tools: [look] }),
      context: [research],
    })
    const { events, ended } = watchRun(
      ensemble({ name: 'team', tasks: [research, write], model }),
      {
        inputs: { topic: 'jazz', pages: '3' },
      },
    )
    await ended
    expect(eventsOf(events, 'task_input')).toMatchObject([
      {
        taskName: 'research',
        agentGoal: 'Research jazz',
        agentBackground: null,
        toolNames: [],
        assembledContext: '',
      },
      {
        taskName: 'write',
        taskDescription: 'Write about jazz',
        expectedOutput: '3 pages',
        agentGoal: 'Write',
        agentBackground: 'Ten books',
        toolNames: ['look'],
        assembledContext: '### Researcher: Research jazz\nIt began in New Orleans.\n---',
      },
    ])
  })

  it('task_input cuts a context of more than 8,000 characters, which the model receives in full', async () => {
    const long = 'long '.repeat(4_000).trim()
    const model = scriptedModel([long, 'short'])
    const first = task({ name: 'first', description: 'Do it' })
    const second = task({ name: 'second', description: 'Go on', context: [first] })
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [first, second], model }))
    await ended
    const shown = eventsOf(events, 'task_input')[1]?.assembledContext ?? ''
    expect(shown).toMatch(/\n\[truncated: \d+ characters in full\]$/)
    expect(shown.indexOf('\n[truncated')).toBe(8_000)
    expect(model.requests[1]?.messages[1]?.content).toContain(long)
  })
})

describe('[ENS-T4] task_failed', () => {
  it('task_failed has the reason, a code and the duration of the task', async () => {
    const clock = fakeClock()
    const work = task({
      name: 'work',
      description: 'Do it',
      model: timedModel(clock, 300, new Error('Overloaded')),
    })
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [work] }), {
      clock,
      logger: silentLogger,
    })
    await clock.advance(1_000)
    const result = await ended
    expect(eventsOf(events, 'task_failed')).toEqual([
      {
        type: 'task_failed',
        taskIndex: 1,
        taskName: 'work',
        taskDescription: 'Do it',
        agentRole: 'Agent',
        attempt: 1,
        failedAt: '2026-01-01T00:00:00.300Z',
        reason: 'Overloaded',
        durationMs: 300,
        code: 'MODEL_FAILED',
        inputTokens: 0,
        outputTokens: 0,
        toolCallCount: 0,
        costUsd: 0,
        willRetry: false,
      },
    ])
    expect(result.error).toMatchObject({ code: 'MODEL_FAILED', message: 'Overloaded' })
  })
})
