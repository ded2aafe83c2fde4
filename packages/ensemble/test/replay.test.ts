/** Tests of runs that replay a recorded run, in both modes. */
import { Type, defineTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import {
  agent,
  ensemble,
  inMemoryStore,
  task,
  type Ensemble,
  type RunOptions,
} from '../src/index.ts'
import type { RunStep } from '../src/internal.ts'
import { runToEnd, startRecorded } from './recorded-run.ts'
import { scriptedModel } from './testing.ts'

import type { ReplayMode } from '@tutti/protocol/internal'

const LOOK = Type.Object({ n: Type.Integer() })

/** A tool that counts its calls, and has another result for each. */
function createTool(calls: string[]) {
  return defineTool({
    name: 'look',
    description: 'Looks',
    input: LOOK,
    execute({ n }) {
      calls.push(`look ${n}`)
      return `seen ${calls.length}`
    },
  })
}

/** An agent that looks twice in the same way and then answers; a handler after it. */
function createTeam({ prompt = 'Watch' } = {}) {
  const calls: string[] = []
  const model = scriptedModel(({ messages }) => {
    calls.push('model')
    const results = messages.filter(({ role }) => role === 'tool')
    if (results.length === 2) return results.map(({ content }) => content).join(', ')
    return { toolCalls: [{ name: 'look', arguments: { n: 1 } }] }
  })
  const team = ensemble({
    name: 'watchers',
    model,
    tasks: [
      task({ name: 'watch', description: prompt, tools: [createTool(calls)] }),
      task({
        name: 'count',
        description: 'Count',
        context: ['watch'],
        handler: ({ context }) => {
          calls.push('handler')
          return `counted ${context[0]?.output}`
        },
      }),
      task({
        name: 'report',
        description: 'Report',
        context: ['count'],
        tools: [createTool(calls)],
      }),
    ],
  })
  return { team, calls }
}

async function record(team: Ensemble, options: Pick<RunOptions, 'memories'> = {}) {
  const run = startRecorded(team, options)
  const result = await runToEnd(run)
  expect(result.status).toBe('COMPLETED')
  return { result, steps: run.steps }
}

/** Replays recorded steps. A replay begins with a step `run_forked` after them. */
async function replay(
  team: Ensemble,
  mode: ReplayMode,
  { steps, ...options }: Pick<RunOptions, 'memories'> & { readonly steps: readonly RunStep[] },
) {
  const forked: RunStep = { kind: 'run_forked', runMs: 0, startedAt: 0 }
  const resume = { steps: [...steps, forked], replay: mode }
  const run = startRecorded(team, { ...options, resume })
  return { result: await runToEnd(run), events: run.events, steps: [...resume.steps, ...run.steps] }
}

function outputsOf({ tasks }: { readonly tasks: readonly { readonly output: string }[] }) {
  return tasks.map(({ output }) => output)
}

describe('a frozen replay', () => {
  it('[ENS-E25] A frozen replay has the outputs of the recorded run, makes no call and costs nothing', async () => {
    const { result, steps } = await record(createTeam().team)
    const { team, calls } = createTeam()
    const again = await replay(team, 'frozen', { steps })
    expect(outputsOf(again.result)).toEqual(outputsOf(result))
    expect([calls, again.result.metrics.totalToolCalls]).toEqual([[], 0])
    const types = again.events.map(({ type }) => type)
    expect(types.filter((type) => /^(?:ensemble|task)_(?:started|completed)$/.test(type))).toEqual([
      'ensemble_started',
      ...[1, 2, 3].flatMap(() => ['task_started', 'task_completed']),
      'ensemble_completed',
    ])
  })

  it('[ENS-E25] A frozen replay of a manager has the outputs of its workers', async () => {
    const open = () => {
      const calls: string[] = []
      const model = scriptedModel(({ messages }) => {
        calls.push('model')
        const last = messages.at(-1)
        if (last?.role === 'tool') return `all: ${last.content}`
        return messages.some(({ content }) => content.includes('Write a line'))
          ? 'a line'
          : {
              toolCalls: [
                {
                  name: 'delegate_task',
                  arguments: { agentRole: 'Writer', taskDescription: 'Write a line' },
                },
              ],
            }
      })
      const writer = agent({ role: 'Writer', goal: 'Write' })
      const tasks = [task({ name: 'write', description: 'Write', agent: writer })]
      return {
        calls,
        team: ensemble({
          name: 'managed',
          workflow: 'HIERARCHICAL',
          managerModel: model,
          model,
          tasks,
        }),
      }
    }
    const { result, steps } = await record(open().team)
    const { team, calls } = open()
    const again = await replay(team, 'frozen', { steps })
    expect([again.result.status, calls]).toEqual(['COMPLETED', []])
    expect(again.result.output).toBe(result.output)
  })

  it('[ENS-H14] [ENS-E25] [ENS-E26] A replay hands off again, and a frozen one checks the prompts of the next agent', async () => {
    const open = (instructions = 'Bill') => {
      const calls: string[] = []
      const model = scriptedModel(({ messages }) => {
        calls.push(messages[0]?.content ?? '')
        return messages.length === 2
          ? { toolCalls: [{ name: 'transfer_to_Billing', arguments: {} }] }
          : `After ${messages.length} messages`
      })
      const billing = agent({ role: 'Billing', instructions })
      const triage = agent({ role: 'Triage', instructions: 'Choose', handoffs: [billing] })
      const tasks = [task({ name: 'support', description: 'Help', agent: triage })]
      return { calls, team: ensemble({ name: 'support', model, tasks }) }
    }
    const { result, steps } = await record(open().team)
    const { team, calls } = open()
    const frozen = await replay(team, 'frozen', { steps })
    expect([frozen.result.output, calls]).toEqual([result.output, []])
    expect(outputsOf(frozen.result)).toEqual(outputsOf(result))
    const started = frozen.events.filter(({ type }) => type === 'delegation_started')
    expect(started).toMatchObject([{ workerTask: 'support/Billing', handoff: true }])
    const changed = open('Bill twice')
    const { error } = (await replay(changed.team, 'frozen', { steps })).result
    expect(error).toMatchObject({ code: 'REPLAY_MISMATCH' })
    expect(error?.message).toContain('support/Billing')
    const live = await replay(changed.team, 'models', { steps })
    expect([live.result.output, changed.calls]).toEqual([result.output, ['Choose', 'Bill twice']])
  })

  it('[ENS-E25] A frozen replay fails at another prompt, and at another output of the same code', async () => {
    const { steps } = await record(createTeam().team)
    const worded = createTeam({ prompt: 'Watch closely' })
    const { result } = await replay(worded.team, 'frozen', { steps })
    expect(result.error).toMatchObject({
      code: 'REPLAY_MISMATCH',
      details: { taskName: 'watch', step: 'model_turn 0' },
    })
    const changed = steps.map((step) =>
      step.kind === 'task_completed' && step.taskName === 'count' ? { ...step, output: 'x' } : step,
    )
    const same = createTeam()
    const other = await replay(same.team, 'frozen', { steps: changed })
    expect(other.result.error).toMatchObject({
      code: 'REPLAY_MISMATCH',
      details: { taskName: 'count', step: 'task_completed', recorded: 'the output "x"' },
    })
    expect([worded.calls, same.calls]).toEqual([[], []])
  })

  it('[ENS-E25] A frozen replay fails at a call that has no step', async () => {
    const { steps } = await record(createTeam().team)
    for (const kind of ['model_turn', 'tool_ended', 'handler_ended']) {
      const { team, calls } = createTeam()
      const { result } = await replay(team, 'frozen', {
        steps: steps.filter((step) => step.kind !== kind),
      })
      expect(result.error).toMatchObject({ code: 'REPLAY_MISMATCH' })
      expect(calls).toEqual([])
    }
  })

  it('[ENS-E25] A frozen replay reads and writes no memory', async () => {
    const open = (memories = inMemoryStore()) => ({
      memories,
      team: ensemble({
        name: 'diary',
        model: scriptedModel(() => 'dear diary'),
        tasks: [task({ name: 'note', description: 'Note', memory: [{ name: 'days', limit: 9 }] })],
      }),
    })
    const { team, memories } = open()
    const { steps } = await record(team, { memories })
    expect(await memories.retrieve('days', { query: '', limit: 9 })).toHaveLength(1)
    const { result } = await replay(team, 'frozen', { steps, memories })
    expect(result.status).toBe('COMPLETED')
    expect(await memories.retrieve('days', { query: '', limit: 9 })).toHaveLength(1)
  })
})

describe('a replay with live models', () => {
  it('[ENS-E26] A replay with live models gets the results of equal calls in the recorded order, also after a takeover', async () => {
    const { result, steps } = await record(createTeam().team)
    const { team, calls } = createTeam({ prompt: 'Watch closely' })
    const again = await replay(team, 'models', { steps })
    expect(outputsOf(again.result)).toEqual(outputsOf(result))
    expect(new Set(calls)).toEqual(new Set(['model']))
    const first = again.steps.findIndex(
      (step, index) => index > steps.length && step.kind === 'tool_ended',
    )
    const taken = startRecorded(team, {
      resume: { steps: again.steps.slice(0, first + 1), replay: 'models' },
    })
    expect(outputsOf(await runToEnd(taken))).toEqual(outputsOf(result))
    expect(new Set(calls)).toEqual(new Set(['model']))
  })

  it('[ENS-E26] A replay with live models fails at a handler whose input is not in the record', async () => {
    const { steps } = await record(createTeam().team)
    const { team, calls } = createTeam()
    const { result } = await replay(team, 'models', {
      steps: steps.map((step) =>
        step.kind === 'tool_ended' ? { ...step, text: 'seen nothing' } : step,
      ),
    })
    expect(result.error).toMatchObject({
      code: 'REPLAY_MISMATCH',
      details: { taskName: 'count', asked: 'a call of the handler' },
    })
    expect(calls).not.toContain('handler')
  })
})

describe('a replay of a handler with operations', () => {
  const open = () => {
    const calls: string[] = []
    const model = scriptedModel(() => {
      calls.push('model')
      return 'a line'
    })
    const grow = task({
      name: 'grow',
      description: 'Grow',
      async handler({ step, map, call, ask }) {
        const count = await step('count', () => {
          calls.push('step')
          return 2
        })
        const seen = await call(createTool(calls), { n: 1 })
        const lines = await map(
          Array.from({ length: count }, (_, index) => index),
          task({ name: 'line', description: 'Write line {item}' }),
        )
        const answer = await ask('Fine?')
        return [seen, ...lines, answer.answered ? answer.value : 'none']
      },
    })
    return { calls, team: ensemble({ name: 'growing', model, tasks: [grow] }) }
  }

  async function recordGrowing() {
    const run = startRecorded(open().team, {
      reviewer: { decide: () => Promise.resolve({ action: 'EDIT', input: 'yes' }) },
    })
    const result = await run.handle.result
    expect(result.status).toBe('COMPLETED')
    return { result, steps: run.steps }
  }

  it('[ENS-E25] A frozen replay of a handler with operations makes no call and has the same outputs', async () => {
    const { result, steps } = await recordGrowing()
    const { team, calls } = open()
    const again = await replay(team, 'frozen', { steps })
    expect([again.result.status, calls]).toEqual(['COMPLETED', []])
    expect(outputsOf(again.result)).toEqual(outputsOf(result))
  })

  it('[ENS-P9] A replay with live models calls the models of the tasks that a handler added, and nothing else', async () => {
    const { result, steps } = await recordGrowing()
    const { team, calls } = open()
    const forked: RunStep = { kind: 'run_forked', runMs: 0, startedAt: 0 }
    const run = startRecorded(team, {
      decidable: true,
      resume: { steps: [...steps, forked], replay: 'models' },
    })
    const again = await run.handle.result
    expect([again.status, calls]).toEqual(['COMPLETED', ['model', 'model']])
    expect(outputsOf(again)).toEqual(outputsOf(result))
    const changed = steps.filter(({ kind }) => kind !== 'handler_step')
    const { result: other } = await replay(open().team, 'models', { steps: changed })
    expect(other.error).toMatchObject({
      code: 'REPLAY_MISMATCH',
      details: { asked: 'step "count"' },
    })
  })
})
