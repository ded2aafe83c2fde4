/** Tests of outputs that the request of a fork gives to tasks. */
import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { agent, ensemble, inMemoryReflectionStore, task, type Ensemble } from '../src/index.ts'
import { readGivenResults, type GivenResults, type RunStep } from '../src/internal.ts'
import {
  interruptEverywhere,
  runInProcesses,
  type Process,
  type Scenario,
} from './interrupt-everywhere.ts'
import { createThinker, createWorldReviewer, readContext } from './scenario-parts.ts'
import { scriptedModel } from './testing.ts'
import { eventsOf } from './watch-run.ts'

import type { ReviewAnswer } from '../src/index.ts'

const NOW = '2026-01-01T00:00:00.000Z'

const FORKED: RunStep = { kind: 'run_forked', runMs: 0, startedAt: 0 }

/** Returns the log of a fork at the begin of a run that begins with these outputs. */
function give(results: Readonly<Record<string, string>>): NonNullable<Scenario['earlier']> {
  const given = Object.entries(results).map(
    ([taskName, output]) => ({ kind: 'result_given', taskName, output, runMs: 0 }) as const,
  )
  return { events: [], steps: [FORKED, ...given] }
}

/** Opens a chain of tasks that each repeat their context. */
function chain(process: Process, { review = false } = {}): ReturnType<Scenario['open']> {
  const model = createThinker(process, ({ prompt, messages }) => {
    const feedback = messages.map(({ content }) => content).join()
    return feedback.includes('Longer') ? 'longer' : `<${readContext(prompt)}>`
  })
  return {
    team: ensemble({
      name: 'chain',
      model,
      tasks: [
        task({ name: 'find', description: 'Find' }),
        task({
          name: 'write',
          description: 'Write',
          context: ['find'],
          reflection: true,
          review,
        }),
        task({ name: 'print', description: 'Print', context: ['write'] }),
      ],
    }),
    options: { reflections: inMemoryReflectionStore() },
  }
}

/** Returns the problems of outputs for a task with text, a task with a schema, and what a manager delegates. */
async function findProblems(team: Ensemble, results: GivenResults, steps: readonly RunStep[] = []) {
  const { problems } = await readGivenResults(team, results, steps)
  return problems.map(({ path, message }) => `${path} ${message}`)
}

describe('[ENS-E27] a given output', () => {
  it('A given output replaces the answer of an agent without a call, also after any interruption', async () => {
    const { events, result, steps } = await interruptEverywhere({
      open: (process) => chain(process),
      earlier: give({ write: 'given' }),
    })
    expect(result.output).toBe('<given>')
    const turns = eventsOf(events, 'llm_iteration_started').map(({ taskName }) => taskName)
    expect(turns).toEqual(['find', 'print'])
    const completed = eventsOf(events, 'task_completed')
    expect(completed.map(({ taskName, outputGiven }) => [taskName, outputGiven])).toEqual([
      ['find', undefined],
      ['write', true],
      ['print', undefined],
    ])
    expect(completed[1]).toMatchObject({ inputTokens: 0, outputTokens: 0, toolCallCount: 0 })
    expect(steps.filter((step) => step.kind === 'model_turn')).toHaveLength(2)
  })

  it('A given output is reviewed, and revised by the agent when it is rejected', async () => {
    const decide = ({ attempt }: { readonly attempt: number }): ReviewAnswer =>
      attempt === 1 ? { action: 'REJECT', feedback: 'Longer' } : { action: 'CONTINUE' }
    const { events, result, world } = await interruptEverywhere({
      open: (process) => ({
        team: chain(process, { review: true }).team,
        options: {
          reflections: inMemoryReflectionStore(),
          reviewer: createWorldReviewer(process, decide),
        },
      }),
      earlier: give({ write: 'given' }),
    })
    expect(result.output).toBe('<longer>')
    expect(world.asked).toHaveLength(2)
    expect(eventsOf(events, 'review_requested')).toMatchObject([
      { taskOutput: 'given', attempt: 1 },
      { taskOutput: 'longer', attempt: 2 },
    ])
    const last = eventsOf(events, 'task_completed').find(({ taskName }) => taskName === 'write')
    expect(last).not.toHaveProperty('outputGiven')
  })

  it('A given output ends the attempt that the run had begun, and its open review, also after any interruption', async () => {
    const open: Scenario['open'] = (process) => ({
      team: chain(process, { review: true }).team,
      options: {
        reflections: inMemoryReflectionStore(),
        reviewer: createWorldReviewer(process, () => ({ action: 'CONTINUE' })),
      },
    })
    const { events, steps } = await runInProcesses({ open }, [])
    const openedAt = events.findIndex(({ type }) => type === 'review_requested')
    const opened = steps.findIndex(({ kind }) => kind === 'gate_opened')
    const forked = { type: 'run_forked', forkedAt: NOW, parentRunId: 'a', at: openedAt } as const
    const given = give({ write: 'given' }).steps
    const end = await interruptEverywhere({
      open,
      earlier: {
        events: [...events.slice(0, openedAt + 1), forked],
        steps: [...steps.slice(0, opened + 1), ...given],
      },
    })
    expect(end.result.output).toBe('<given>')
    expect(eventsOf(end.events, 'task_attempt_failed')).toMatchObject([
      { taskName: 'write', attempt: 1, code: 'INTERRUPTED' },
    ])
    expect(eventsOf(end.events, 'review_withdrawn')).toHaveLength(1)
    expect(eventsOf(end.events, 'review_requested')).toMatchObject([
      { attempt: 1, taskOutput: '<<>>' },
      { attempt: 2, taskOutput: 'given' },
    ])
  })

  it('A given output is checked by the guardrails of its task', async () => {
    const { result } = await interruptEverywhere({
      open: () => ({
        team: ensemble({
          name: 'guarded',
          tasks: [
            task({
              name: 'write',
              description: 'Write',
              handler: () => 'never',
              guardrails: { output: [({ output }) => (output === 'bad' ? 'Too bad' : true)] },
            }),
          ],
        }),
      }),
      earlier: give({ write: 'bad' }),
    })
    expect(result).toMatchObject({ status: 'FAILED', error: { code: 'GUARDRAIL_VIOLATION' } })
  })

  it('A given output replaces the output of a handler and of a manager', async () => {
    const { result, world } = await interruptEverywhere({
      open: (process) => ({
        team: ensemble({
          name: 'managed',
          workflow: 'HIERARCHICAL',
          model: createThinker(process, () => 'never'),
          tasks: [
            task({ name: 'find', description: 'Find', agent: agent({ role: 'A', goal: 'B' }) }),
          ],
        }),
      }),
      earlier: give({ Manager: 'done' }),
    })
    expect([result.status, result.output, world.calls]).toEqual(['COMPLETED', 'done', []])
    const handled = await interruptEverywhere({
      open: () => ({
        team: ensemble({
          name: 'handled',
          tasks: [task({ name: 'find', description: 'Find', handler: () => 'never' })],
        }),
      }),
      earlier: give({ find: 'done' }),
    })
    expect(handled.result.output).toBe('done')
  })
})

describe('the problems of given outputs', () => {
  const team = ensemble({
    name: 'team',
    model: scriptedModel(() => 'never'),
    tasks: [
      task({ name: 'find', description: 'Find', handler: () => '' }),
      task({ name: 'count', description: 'Count', output: Type.Object({ count: Type.Number() }) }),
    ],
  })

  it('The problems of given outputs name every output that does not fit', async () => {
    const results = { find: { a: 1 }, count: '{"count": "many"}', cuont: 'x', 'a/b': 'y' }
    expect(await findProblems(team, results)).toEqual([
      '/find must be text, because the task has no output schema',
      expect.stringContaining('/count does not match the output schema: '),
      expect.stringContaining(
        "/cuont Unknown task 'cuont'. Available: [find, count]. Did you mean 'count'?",
      ),
      expect.stringContaining("/a~1b Unknown task 'a/b'"),
    ])
    expect(await findProblems(team, { find: ' ' })).toEqual([
      '/find must be text that is not blank',
    ])
  })

  it('The problems of given outputs do not exist for a text or a value that matches the schema', async () => {
    const read = await readGivenResults(team, { find: 'x', count: { count: 2 } }, [])
    expect(read).toEqual({
      problems: [],
      steps: [
        { kind: 'result_given', taskName: 'find', output: 'x', runMs: 0 },
        {
          kind: 'result_given',
          taskName: 'count',
          output: '{"count":2}',
          structured: { count: 2 },
          runMs: 0,
        },
      ],
    })
    const text = await readGivenResults(team, { count: 'It is {"count": 3}' }, [])
    expect(text.steps).toMatchObject([{ structured: { count: 3 } }])
  })

  it('The problems of given outputs name tasks that have ended, delegate, or are delegated by a manager', async () => {
    const of = { taskName: 'find', attempt: 1, runMs: 0, taskMs: 0 }
    const error = { code: 'TASK_FAILED', message: 'No', retryable: false } as const
    const used = { inputTokens: 0, outputTokens: 0, toolCallCount: 0 }
    const begun = { workerRole: 'A', taskDescription: 'B', workerTask: 'a', workerTaskIndex: 2 }
    const ends: readonly (readonly [RunStep, string])[] = [
      [
        { kind: 'task_completed', ...of, output: 'x', used, durationMs: 1 },
        '/find task "find" is completed in the copied part',
      ],
      [
        { kind: 'task_failed', ...of, error, used, willRetry: false },
        '/find task "find" failed or was skipped in the copied part; fork the run before that',
      ],
      [
        { kind: 'delegation_begun', ...of, callKey: 'k', delegationId: 'd', ...begun },
        '/find task "find" waits for delegated work in the copied part; fork the run before or after that',
      ],
    ]
    for (const [step, problem] of ends) {
      expect(await findProblems(team, { find: 'x' }, [step])).toEqual([problem])
    }
    const retried: RunStep = { kind: 'task_failed', ...of, error, used, willRetry: true }
    expect(await findProblems(team, { find: 'x' }, [retried])).toEqual([])
    const managed = ensemble({
      name: 'managed',
      workflow: 'HIERARCHICAL',
      model: scriptedModel(() => 'never'),
      tasks: [task({ name: 'find', description: 'Find', agent: agent({ role: 'A', goal: 'B' }) })],
    })
    expect(await findProblems(managed, { find: 'x', Manager: 'y' })).toEqual([
      '/find task "find" runs only when a manager delegates it; give the output of the manager',
    ])
  })

  it('The problems of given outputs are described up to a number', async () => {
    const names = Array.from({ length: 30 }, (_, index) => [`task ${index}`, 'x'])
    expect(await findProblems(team, Object.fromEntries(names))).toHaveLength(20)
  })
})
