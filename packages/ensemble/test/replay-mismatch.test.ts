/** Tests of runs resumed by code with one difference from the recorded code. */
import { Type, defineTool, type AgentTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, task, type Ensemble } from '../src/index.ts'
import type { RunStep, StepOf } from '../src/internal.ts'
import { runToEnd, startRecorded, type RecordedRun } from './recorded-run.ts'
import { scriptedModel } from './testing.ts'

import type { ToolSchema } from '@tutti/core/internal'

/** The points in which the code of a story can differ. */
interface Code {
  readonly firstTask?: string
  readonly toolName?: string
  readonly output?: ToolSchema | undefined
  readonly handler?: 'function' | 'tool' | 'agent'
  readonly handlerTool?: string
  readonly handlerDescription?: string
  readonly maxIterations?: number
}

/** A team whose calls are counted. */
interface Story {
  readonly team: Ensemble
  readonly calls: string[]
}

const NOTES = Type.Object({ notes: Type.String() })

/** Returns a task with tools and a schema, and a task with a handler after it. */
function createStory(code: Code = {}): Story {
  const { firstTask = 'research', toolName = 'search', handler = 'function' } = code
  const { handlerTool = 'publish', handlerDescription = 'Publish it', maxIterations = 25 } = code
  const output = 'output' in code ? code.output : NOTES
  const calls: string[] = []
  const createTool = (name: string, idempotent = true): AgentTool =>
    defineTool({
      name,
      description: `Does ${name}`,
      input: Type.Object({ q: Type.Optional(Type.String()) }),
      idempotent,
      execute() {
        calls.push(name)
        return `${name} done`
      },
    })
  const publisher = createTool(handlerTool, false)
  const replies = [
    {
      toolCalls: [
        { name: 'search', arguments: { q: 'one' } },
        { name: 'look', arguments: { q: 'two' } },
      ],
    },
    { toolCalls: [{ name: 'nothing', arguments: {} }] },
    '{"notes": "found"}',
  ]
  const script = scriptedModel(({ messages }) => {
    calls.push('model')
    return replies[messages.filter(({ role }) => role === 'assistant').length] ?? 'done'
  })
  const research = task({
    name: firstTask,
    description: 'Research it',
    tools: [createTool(toolName), createTool('look', false)],
    model: script,
    maxIterations,
    ...(output === undefined ? {} : { output }),
  })
  const base = { name: 'publish', description: handlerDescription, context: [research] } as const
  const publish =
    handler === 'agent'
      ? task({ ...base, model: script })
      : task({
          ...base,
          handler:
            handler === 'tool'
              ? publisher
              : () => {
                  calls.push('handler')
                  return 'published'
                },
        })
  return { team: ensemble({ name: 'team', tasks: [research, publish] }), calls }
}

/** Records a whole run. */
async function record(code: Code = {}): Promise<readonly RunStep[]> {
  const run = startRecorded(createStory(code).team)
  const { status } = await runToEnd(run)
  expect(status).toBe('COMPLETED')
  return run.steps
}

/** Returns the steps up to the last of the kind, that one included. */
function cutAfter(steps: readonly RunStep[], kind: RunStep['kind']): readonly RunStep[] {
  return steps.slice(0, steps.findLastIndex((step) => step.kind === kind) + 1)
}

/** Resumes a run, and returns its end and the calls that it made. */
async function resume(steps: readonly RunStep[], code: Code = {}) {
  const story = createStory(code)
  const from: RecordedRun = { events: [], steps: [...steps] }
  const run = startRecorded(story.team, { from })
  const result = await runToEnd(run)
  return { result, calls: story.calls, events: run.events }
}

/** Returns the steps with one of them changed. */
function change<K extends RunStep['kind']>(
  steps: readonly RunStep[],
  kind: K,
  fields: Partial<StepOf<K>>,
): readonly RunStep[] {
  const index = steps.findIndex((step) => step.kind === kind)
  return steps.map((step, at) => (at === index ? { ...step, ...fields } : step))
}

interface Difference {
  readonly title: string
  readonly steps: () => Promise<readonly RunStep[]>
  readonly code?: Code
  readonly taskName: string
  readonly step: string
}

const DIFFERENCES: readonly Difference[] = [
  {
    title: 'a renamed task that began',
    steps: async () => cutAfter(await record(), 'notes_read'),
    code: { firstTask: 'investigate' },
    taskName: 'research',
    step: 'task_begun',
  },
  {
    title: 'a renamed task that was completed',
    steps: async () => cutAfter(await record(), 'handler_ended'),
    code: { firstTask: 'investigate' },
    taskName: 'research',
    step: 'task_begun',
  },
  {
    title: 'a renamed tool whose call was in flight',
    steps: async () => {
      const steps = await record()
      return steps.slice(0, steps.findIndex(({ kind }) => kind === 'model_turn') + 1)
    },
    code: { toolName: 'find' },
    taskName: 'research',
    step: 'model_turn 0',
  },
  {
    title: 'a renamed tool whose call had ended',
    steps: async () => cutAfter(await record(), 'tool_ended'),
    code: { toolName: 'find' },
    taskName: 'research',
    step: 'model_turn 0',
  },
  {
    title: 'another output schema of a running task',
    steps: async () => cutAfter(await record(), 'tool_ended'),
    code: { output: Type.Object({ notes: Type.Array(Type.String()) }) },
    taskName: 'research',
    step: 'task_begun',
  },
  {
    title: 'another output schema of a completed task',
    steps: async () => cutAfter(await record(), 'task_completed').slice(0, -2),
    code: { output: undefined },
    taskName: 'research',
    step: 'task_begun',
  },
  {
    title: 'changed arguments of an ended call',
    steps: async () =>
      change(cutAfter(await record(), 'tool_ended'), 'tool_ended', { inputDigest: '0' }),
    taskName: 'research',
    step: 'tool_ended 0/0',
  },
  {
    title: 'changed arguments of a call that may not be repeated',
    steps: async () => {
      const steps = await record()
      const cut = steps.slice(0, steps.findIndex(({ kind }) => kind === 'tool_begun') + 1)
      return change(cut, 'tool_begun', { inputDigest: '0' })
    },
    taskName: 'research',
    step: 'tool_begun 0/1',
  },
  {
    title: 'reordered calls of one turn',
    steps: async () => {
      const steps = cutAfter(await record(), 'tool_ended')
      return steps.map((step) =>
        step.kind === 'tool_ended' && step.iterationIndex === 0
          ? { ...step, position: 1 - step.position }
          : step,
      )
    },
    taskName: 'research',
    step: 'tool_ended 0/0',
  },
  {
    title: 'a missing turn before recorded ones',
    steps: async () => {
      const steps = cutAfter(await record(), 'tool_ended')
      return steps.filter((step) => step.kind !== 'model_turn' || step.iterationIndex !== 0)
    },
    taskName: 'research',
    step: 'tool_ended 0/0',
  },
  {
    title: 'calls that the code no longer makes',
    steps: async () => cutAfter(await record(), 'tool_ended'),
    code: { maxIterations: 1 },
    taskName: 'research',
    step: 'tool_ended 1/0',
  },
  {
    title: 'a handler in place of an agent',
    steps: async () => cutAfter(await record({ handler: 'agent' }), 'model_turn'),
    taskName: 'publish',
    step: 'model_turn 0',
  },
  {
    title: 'an agent in place of a handler',
    steps: async () => cutAfter(await record(), 'handler_ended'),
    code: { handler: 'agent' },
    taskName: 'publish',
    step: 'handler_ended',
  },
  {
    title: 'another tool as the handler of a task',
    steps: async () => cutAfter(await record({ handler: 'tool' }), 'tool_ended'),
    code: { handler: 'tool', handlerTool: 'print' },
    taskName: 'publish',
    step: 'tool_ended 0/0',
  },
  {
    title: 'a function in place of a handler tool whose call was in flight',
    steps: async () => cutAfter(await record({ handler: 'tool' }), 'tool_begun'),
    taskName: 'publish',
    step: 'tool_begun 0/0',
  },
  {
    title: 'another input of a handler that had ended',
    steps: async () =>
      change(cutAfter(await record(), 'handler_ended'), 'task_completed', { output: 'other' }),
    taskName: 'publish',
    step: 'handler_ended',
  },
]

describe('a run that is resumed by other code', () => {
  it.each(DIFFERENCES)(
    '[ENS-E24] A run that is resumed by other code fails with REPLAY_MISMATCH and makes no call after $title',
    async ({ steps, code, taskName, step }) => {
      const { result, calls, events } = await resume(await steps(), code)
      expect(result.status).toBe('FAILED')
      expect(result.error).toMatchObject({
        code: 'REPLAY_MISMATCH',
        details: { taskName, step, recorded: expect.any(String), asked: expect.any(String) },
      })
      expect(result.error?.message).toContain(`step ${step} of task "${taskName}"`)
      expect(calls).toEqual([])
      expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'FAILED' })
    },
  )

  it.each(['function', 'tool', 'agent'] as const)(
    '[ENS-E24] A run continues after every step when the code is the same, with a handler of kind %s',
    async (handler) => {
      const steps = await record({ handler })
      for (let count = 0; count <= steps.length; count += 1) {
        const last = steps[count - 1]
        // The call of the handler tool must not be repeated, and may have had its side effect.
        const isInFlight = last?.kind === 'tool_begun' && last.taskName === 'publish'
        const { result } = await resume(steps.slice(0, count), { handler })
        expect(result.status).toBe(isInFlight ? 'FAILED' : 'COMPLETED')
      }
    },
  )

  it('A run that is resumed by other code continues when only a description of a task that has not begun differs', async () => {
    const { result } = await resume(cutAfter(await record(), 'tool_ended'), {
      handlerDescription: 'Publish it soon',
    })
    expect(result.status).toBe('COMPLETED')
  })
})
