/** Tests of ensembles as tools of agents and handlers in the same run. */
import { defineTextTool } from '@tutti/core'
import { runStateAfter } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { ensemble, task } from '../src/index.ts'
import { applyToUnowned, describeCode } from '../src/internal.ts'
import { forkEverywhere, interruptEverywhere, type Scenario } from './interrupt-everywhere.ts'
import { startRecorded } from './recorded-run.ts'
import {
  createTaskFailure,
  createThinker,
  createWorldReviewer,
  createWorldTool,
  requestCalls,
} from './scenario-parts.ts'
import { readToolResults } from './team-model.ts'
import { scriptedModel, scriptedReviewer, type ScriptEntry } from './testing.ts'
import { eventsOf, nextTurn, watchRun } from './watch-run.ts'

import type { EnsembleToolSettings } from '../src/internal.ts'
import type { AgentTool } from '@tutti/core'

const calls = (...cities: readonly string[]) => ({
  toolCalls: cities.map((city) => ({ name: 'trip', arguments: { city } })),
})

/** Returns an ensemble of a finder and a writer. */
function createTrip(script: readonly ScriptEntry[], review = false) {
  return ensemble({
    name: 'trip',
    description: 'Plans a {city} trip',
    model: scriptedModel(script),
    modelRetries: 0,
    tasks: [
      task({ name: 'find', description: 'Find {city}' }),
      task({ name: 'write', description: 'Write', context: ['find'], review }),
    ],
  })
}

/** Returns an ensemble with an agent that has the tool. */
function createTeam(tool: AgentTool, script: readonly ScriptEntry[]) {
  const model = scriptedModel(script)
  const plan = task({ name: 'plan', description: 'Plan', tools: [tool] })
  return { model, team: ensemble({ name: 'team', model, tasks: [plan] }) }
}

function planTrip(
  trip: readonly ScriptEntry[],
  script: readonly ScriptEntry[],
  settings: EnsembleToolSettings = {},
) {
  const { model, team } = createTeam(createTrip(trip).asTool(settings), script)
  return { model, ...watchRun(team) }
}

describe('an ensemble as a tool of an agent', () => {
  it('[ENS-P17] A call of the tool of an ensemble adds its tasks to the run of the agent', async () => {
    const { model, events, ended } = planTrip(
      ['Forum', 'Rome page', 'Lake', 'Como page'],
      [calls('Rome'), calls('Como'), 'Done'],
    )
    const result = await ended
    expect(result.output).toBe('Done')
    expect(result.tasks.map(({ taskName, output }) => [taskName, output])).toEqual([
      ['plan', 'Done'],
      ['plan/trip', 'Rome page'],
      ['plan/trip/find', 'Forum'],
      ['plan/trip/write', 'Rome page'],
      ['plan/trip#2', 'Como page'],
      ['plan/trip#2/find', 'Lake'],
      ['plan/trip#2/write', 'Como page'],
    ])
    expect(readToolResults(model.requests[1])).toEqual(['Rome page'])
    const inputs = eventsOf(events, 'task_input').map((event) => event.taskDescription)
    expect(inputs).toContain('Find Rome')
    expect(eventsOf(events, 'delegation_started')[0]).toMatchObject({
      taskName: 'plan',
      workerRole: 'trip',
      workerTask: 'plan/trip',
      taskDescription: 'Plans a {city} trip',
    })
    expect(eventsOf(events, 'agent_tool_invoked')).toEqual([])
    expect(runStateAfter(events).totals.totalToolCalls).toBe(2)
  })

  it('[ENS-P17] A failure of the tasks of a call is the result of the call, and the tool limits its task', async () => {
    const trip = [createTaskFailure('Broke'), 'Forum', 'Page']
    const failed = planTrip(trip, [calls('Rome'), 'Done'])
    expect(await failed.ended).toMatchObject({ status: 'COMPLETED', output: 'Done' })
    expect(readToolResults(failed.model.requests[1])).toEqual(['Error: trip failed: Broke'])
    const retried = planTrip(trip, [calls('Rome'), 'Done'], { retries: 1 })
    await retried.ended
    expect(readToolResults(retried.model.requests[1])).toEqual(['Page'])
    const used = { text: 'Forum', usage: { inputTokens: 9, outputTokens: 9 } }
    const limited = planTrip([used], [calls('Rome'), 'Done'], { maxTokens: 10 })
    expect(await limited.ended).toMatchObject({ status: 'COMPLETED' })
    expect(readToolResults(limited.model.requests[1])[0]).toContain(
      'trip failed: The budget of task "plan/trip" is used up: maxTokens is 10, used 18',
    )
  })

  it('A call of the tool of an ensemble is approved like any other', async () => {
    const tool = createTrip(['Forum', 'Page']).asTool({ requireApproval: true })
    const { model, team } = createTeam(tool, [calls('Rome'), 'Done'])
    const reviewer = scriptedReviewer([{ action: 'EDIT', input: { city: 'Oslo' } }])
    const { events, ended } = watchRun(team, { reviewer })
    await ended
    expect(readToolResults(model.requests[1])[0]).toContain('Page')
    const inputs = eventsOf(events, 'task_input').map((event) => event.taskDescription)
    expect(inputs).toContain('Find Oslo')
  })

  it('[ENS-P8] [ENS-S4] A review in a call of an ensemble parks the run, and is decided without an owner', async () => {
    const { model, team } = createTeam(createTrip(['Forum', 'Page'], true).asTool(), [
      calls('Rome'),
      'Done',
    ])
    await expect(team.run()).rejects.toThrow('task "plan/trip/write" needs a review')
    const first = startRecorded(team, { decidable: true })
    for (let turn = 0; turn < 4; turn += 1) await nextTurn()
    expect(first.waits.count).toBe(1)
    first.release()
    const [request] = eventsOf(first.events, 'review_requested')
    if (request === undefined) throw new Error('No review is open')
    expect(request.taskName).toBe('plan/trip/write')
    const { reviewId } = request
    const { steps } = await applyToUnowned(
      team,
      {
        runId: 'run-1',
        steps: first.steps,
        clock: first.clock,
        findRequest: async () => request,
      },
      { kind: 'decide', reviewId, decision: { action: 'EDIT', text: 'Better' } },
    )
    const from = { events: [], steps: [...first.steps, ...steps] }
    const second = startRecorded(team, { from, decidable: true })
    expect(await second.handle.result).toMatchObject({ status: 'COMPLETED', output: 'Done' })
    expect(model.requests).toHaveLength(2)
    expect(readToolResults(model.requests[1])).toEqual(['Better'])
  })

  it('[ENS-P16] [ENS-V2] The ensembles of tools are checked and described like sub-ensembles', () => {
    const open = (text: string, captureMode: 'OFF' | 'STANDARD' = 'STANDARD') => {
      const inner = ensemble({
        name: 'inner',
        captureMode,
        model: scriptedModel([]),
        tasks: [task({ name: 'x', description: text })],
      })
      return createTeam(inner.asTool(), []).team
    }
    expect(() => open('Do', 'OFF')).toThrow(
      'task "plan/inner": captureMode of ensemble "inner" is OFF, so it must be OFF here too',
    )
    expect(describeCode(open('Do')).digest).toBe(describeCode(open('Do')).digest)
    expect(describeCode(open('Do')).digest).not.toBe(describeCode(open('Do it')).digest)
  })
})

it('[ENS-P17] A call of the tool of an ensemble by a handler adds its tasks to the run', async () => {
  const tool = createTrip(['Forum', 'Page', 'Lake', 'Page 2']).asTool()
  const plan = task({
    name: 'plan',
    description: 'Plan',
    async handler({ call }) {
      const pages = [await call(tool, { city: 'Rome' }), await call(tool, { city: 'Como' })]
      const problem = await call(tool, { town: 'Rome' }).catch((error: Error) => error.message)
      return [...pages, problem].join(' | ')
    },
  })
  const result = await ensemble({ name: 'team', tasks: [plan] }).run()
  expect(result.output).toMatch(/^Page \| Page 2 \| Tool "trip" failed: invalid input: \/city /)
  expect(result.tasks.map(({ taskName }) => taskName)).toContain('plan/trip-1/find')
})

/** An agent and a handler that call the same ensemble, with a tool that must not be repeated and a review in it. */
const TRIPS: Scenario = {
  anyOrder: true,
  once: ['book'],
  mayEnd: ['COMPLETED', 'FAILED'],
  open(process) {
    const model = createThinker(process, ({ turn, prompt, last }) => {
      const city = /in (\w+)/.exec(prompt)?.[1]
      if (turn > 0) return `${last}.`
      if (city !== undefined) return requestCalls(['b', 'book', city])
      return requestCalls(['t1', 'trip', { city: 'Rome' }])
    })
    const trip = ensemble({
      name: 'trip',
      model,
      tasks: [
        task({
          name: 'book',
          description: 'Book in {city}',
          tools: [createWorldTool(process, 'book', { idempotent: false })],
          review: true,
        }),
      ],
    }).asTool()
    const note = defineTextTool({ name: 'note', description: 'Notes', execute: (text) => text })
    const tasks = [
      task({ name: 'ask', description: 'Ask', tools: [trip, note] }),
      task({
        name: 'code',
        description: 'Code',
        handler: async ({ call, step }) =>
          `${await call(trip, { city: await step('pick', () => 'Bonn') })}!`,
      }),
    ]
    return {
      team: ensemble({ name: 'team', model, tasks }),
      options: { reviewer: createWorldReviewer(process, () => ({ action: 'CONTINUE' })) },
    }
  },
}

describe('[ENS-E16] a run that calls ensembles as tools', { timeout: 300_000 }, () => {
  it('[ENS-P17] [ENS-E17] A run that calls ensembles as tools ends the same when it is interrupted or drained at any write', async () => {
    const { result, world } = await interruptEverywhere(TRIPS)
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'book:Bonn.!' })
    expect(world.calls).toHaveLength(2)
  })

  it('[ENS-P17] A fork after any event of a run that calls ensembles as tools has the log of its parent', async () => {
    const { result } = await forkEverywhere(TRIPS)
    expect(result.status).toBe('COMPLETED')
  })
})
