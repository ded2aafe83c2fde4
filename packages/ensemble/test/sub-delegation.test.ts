/** Tests of managers and delegating agents in sub-ensembles. */
import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { agent, ensemble, task } from '../src/index.ts'
import { applyToUnowned, MANAGER } from '../src/internal.ts'
import { forkEverywhere, interruptEverywhere, type Scenario } from './interrupt-everywhere.ts'
import { startRecorded } from './recorded-run.ts'
import {
  createTaskFailure,
  createThinker,
  createWorldReviewer,
  readContext,
  requestCalls,
} from './scenario-parts.ts'
import { delegate, readToolResults, teamModel, type TeamModel } from './team-model.ts'
import { eventsOf, nextTurn, watchRun } from './watch-run.ts'

import type { EnsembleDefinition, TaskDefinition } from '../src/index.ts'

function worker(role: string, definition: Partial<TaskDefinition> = {}) {
  return task({
    name: role.toLowerCase(),
    description: `The work of ${role} in {city}`,
    agent: agent({ role, goal: 'Work' }),
    ...definition,
  })
}

/** Returns an ensemble whose manager delegates to a finder, and to a writer with the output of the finder. */
function createGuide(model: TeamModel, settings: Partial<EnsembleDefinition> = {}) {
  return ensemble({
    name: 'guide',
    model,
    modelRetries: 0,
    workflow: 'HIERARCHICAL',
    tasks: [
      worker('Finder'),
      worker('Writer', { context: ['finder'], expectedOutput: 'A page on {city}' }),
    ],
    ...settings,
  })
}

/** Runs the guide for each city. */
async function runGuides(
  model: TeamModel,
  cities: readonly string[],
  settings: Partial<EnsembleDefinition> = {},
) {
  const guides = task({
    name: 'guides',
    ensemble: createGuide(model, settings),
    inputs: { city: '{item}' },
    forEach: { over: 'cities', key: (city: string) => city, maxParallel: 1, collect: 'outputs' },
  })
  const team = ensemble({ name: 'team', tasks: [guides] })
  const { events, ended } = watchRun(team, { inputs: { cities: JSON.stringify(cities) } })
  const result = await ended
  return { events, result, pages: result.outputOf(guides) }
}

describe('a sub-ensemble with a manager', () => {
  it('A manager of a sub-ensemble delegates its tasks in the same run, with the inputs of the sub-ensemble', async () => {
    const model = teamModel({
      [MANAGER]: [delegate(['Finder', 'Look']), delegate(['Writer', 'Write']), 'Guide to Rome'],
      Finder: ['The forum'],
      Writer: ['A page'],
    })
    const { events, pages, result } = await runGuides(model, ['Rome'])
    expect(pages).toEqual({ Rome: 'Guide to Rome' })
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'guides',
      'guides/Rome',
      'guides/Rome/Manager',
      'guides/Rome/finder',
      'guides/Rome/writer',
    ])
    expect(model.requestsOf(MANAGER)[0]?.messages[1]?.content).toContain('Finder in Rome')
    const prompt = model.requestsOf('Writer')[0]?.messages[1]?.content
    expect(prompt).toContain('### Finder: The work of Finder in Rome\nThe forum')
    expect(prompt).toContain('## Expected Output\nA page on Rome')
    const started = eventsOf(events, 'delegation_started')
    expect(started.map(({ taskName, workerTask, depth }) => [taskName, workerTask, depth])).toEqual(
      [
        ['guides', 'guides/Rome', 1],
        ['guides/Rome', 'guides/Rome/Manager', 2],
        ['guides/Rome/Manager', 'guides/Rome/finder', 3],
        ['guides/Rome/Manager', 'guides/Rome/writer', 3],
      ],
    )
  })

  it('[ENS-H1] [ENS-H5] [ENS-H7] The limits of delegation count for each run of a sub-ensemble', async () => {
    const once = [delegate(['Finder', 'Look'], ['Writer', 'Write']), 'Done']
    const model = teamModel({
      [MANAGER]: [...once, ...once, delegate(['Writer', 'Write']), 'Done'],
      Finder: () => 'Found',
      Writer: () => 'Written',
    })
    const { result } = await runGuides(model, ['Rome', 'Brest', 'Oslo'], {
      delegation: { maxDelegations: 1, maxDepth: 1, requiredWorkers: ['Finder'] },
    })
    const refused = 'Error: All 1 delegations are used up: work with what you have'
    const answers = model
      .requestsOf(MANAGER)
      .filter(({ messages }) => messages.at(-1)?.role === 'tool')
      .flatMap(readToolResults)
    expect(answers).toEqual(['Found', refused, 'Found', refused, 'Written'])
    expect(result.error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message: 'The manager ended without a completed delegation to: Finder',
    })
  })

  it('A retry of a sub-ensemble delegates again, and its workers read only what this attempt has found', async () => {
    const model = teamModel({
      [MANAGER]: [
        delegate(['Finder', 'Look']),
        delegate(['Finder', 'Look again']),
        createTaskFailure('Broke'),
        delegate(['Writer', 'Write']),
        delegate(['Finder', 'Look']),
        delegate(['Writer', 'Write']),
        'Done',
      ],
      Finder: ['First', 'Second', 'Third'],
      Writer: ['Nothing', 'Page'],
    })
    const guide = task({ ensemble: createGuide(model), inputs: { city: 'Rome' }, retries: 1 })
    const result = await ensemble({ name: 'team', tasks: [guide] }).run()
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Done' })
    const [early, late] = model.requestsOf('Writer').map(({ messages }) => messages[1]?.content)
    expect(early).not.toContain('## Context')
    expect(late).toContain('\nThird\n')
    expect(late).not.toContain('Second')
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'guide',
      'guide/finder',
      'guide/finder#2',
      'guide/Manager#2',
      'guide/writer#2',
      'guide/finder#2#2',
      'guide/writer#2#2',
    ])
  })

  it('[ENS-H3] An agent of a sub-ensemble delegates to the other agents of that ensemble only', async () => {
    const model = teamModel({
      Lead: [delegate(['Scout', 'Look'], ['Outer', 'Help']), 'Done'],
      Scout: [delegate(['Lead', 'Help']), 'Seen', 'Own work'],
    })
    const free = { allowDelegation: true }
    const [lead, scout] = ['Lead', 'Scout'].map((role) =>
      worker(role, { agent: agent({ role, goal: 'Work', ...free }), description: 'Work' }),
    )
    if (lead === undefined || scout === undefined) throw new Error('No workers')
    const child = ensemble({
      name: 'child',
      model,
      tasks: [lead, scout],
      delegation: { maxDepth: 1 },
    })
    const outer = task({
      name: 'outer',
      description: 'Work',
      agent: agent({ role: 'Outer', goal: 'Work' }),
      model: teamModel({ Outer: ['Out'] }),
    })
    const { events, ended } = watchRun(
      ensemble({ name: 'team', tasks: [outer, task({ ensemble: child })] }),
    )
    expect((await ended).output).toBe('Own work')
    expect(readToolResults(model.requestsOf('Lead')[1])).toEqual([
      'Seen',
      'Error: No agent has the role "Outer". Available: [Scout]',
    ])
    expect(readToolResults(model.requestsOf('Scout')[1])).toEqual([
      'Error: Delegations may nest 1 deep: do the work yourself',
    ])
    expect(eventsOf(events, 'delegation_started').map(({ workerTask }) => workerTask)).toEqual([
      'child/lead',
      'child/lead/Scout',
      'child/scout',
    ])
  })

  it('[ENS-B1] [ENS-T7] The work that a manager of a sub-ensemble delegates counts for the budgets around it', async () => {
    const model = teamModel({
      [MANAGER]: [delegate(['Finder', 'Look']), delegate(['Writer', 'Write'])],
      Finder: ['Found'],
    })
    const { result } = await runGuides(model, ['Rome'], { budget: { maxModelCalls: 3 } })
    expect(result.error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
    expect(result.error?.message).toContain('guides/Rome')
  })

  it('[ENS-G10] A worker of a sub-ensemble that needs a review is refused before its manager begins', async () => {
    const model = teamModel({ [MANAGER]: ['Done'] })
    const guide = createGuide(model, {
      tasks: [worker('Finder', { review: true, description: 'Find' })],
    })
    await expect(
      ensemble({ name: 'team', tasks: [task({ name: 'sub', ensemble: guide })] }).run(),
    ).rejects.toThrow('task "sub/finder" needs a review')
    const grow = task({
      name: 'grow',
      description: 'Grow',
      handler: ({ task: add }) => add(task({ name: 'sub', ensemble: guide })),
    })
    const { error } = await ensemble({ name: 'team', tasks: [grow] }).run()
    expect(error?.message).toContain('task "grow/sub": needs a review')
    expect(model.requestsOf(MANAGER)).toEqual([])
  })

  it('[ENS-P8] [ENS-S4] A review of a delegated task in a sub-ensemble is decided without an owner, and the run continues', async () => {
    const script = {
      [MANAGER]: [delegate(['Finder', 'Look']), 'Done'],
      Finder: ['{"sight":"forum"}'],
    }
    const model = teamModel(script)
    const finder = worker('Finder', {
      description: 'Find',
      output: Type.Object({ sight: Type.String() }),
      review: true,
    })
    const guide = createGuide(model, { tasks: [finder] })
    const team = ensemble({ name: 'team', tasks: [task({ name: 'sub', ensemble: guide })] })
    const first = startRecorded(team, { decidable: true })
    await nextTurn()
    await nextTurn()
    expect(first.waits.count).toBe(1)
    first.release()
    const [request] = eventsOf(first.events, 'review_requested')
    if (request === undefined) throw new Error('No review is open')
    expect(request.taskName).toBe('sub/finder')
    const run = {
      runId: 'run-1',
      steps: first.steps,
      clock: first.clock,
      findRequest: async () => request,
    }
    const decide = (text: string) =>
      applyToUnowned(team, run, {
        kind: 'decide',
        reviewId: request.reviewId,
        decision: { action: 'EDIT', text },
      })
    await expect(decide('no JSON')).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const { steps } = await decide('{"sight":"lake"}')
    const from = { events: [], steps: [...first.steps, ...steps] }
    const second = startRecorded(team, { from, decidable: true })
    expect(await second.handle.result).toMatchObject({ status: 'COMPLETED', output: 'Done' })
    expect(readToolResults(model.requestsOf(MANAGER)[1])).toEqual(['{"sight":"lake"}'])
    expect(model.requestsOf('Finder')).toHaveLength(1)
  })
})

/** Cities of the interrupted run; one by default, because two cost four times as much. */
const CITIES = process.env['TUTTI_GROWING_RUNS'] === undefined ? ['Rome'] : ['Rome', 'Oslo']

/** Guides to cities: in each a manager delegates twice, and a reviewer edits the page. */
const GUIDES: Scenario = {
  anyOrder: true,
  open(process) {
    const model = createThinker(process, ({ turn, prompt, last, messages }) => {
      const role = /^You are (.*)\.$/m.exec(messages[0]?.content ?? '')?.[1]
      const city = /in (\w+)/.exec(prompt)?.[1]
      const ask = (id: string, agentRole: string) =>
        [id, 'delegate_task', { agentRole, taskDescription: `${id} in ${city}` }] as const
      if (role !== MANAGER) return `${role} ${turn} ${readContext(prompt)} ${city}`
      if (turn === 0) return requestCalls(ask('d1', 'Finder'))
      return turn === 1 ? requestCalls(ask('d2', 'Writer')) : `Guide: ${last}`
    })
    const guide = ensemble({
      name: 'guide',
      model,
      workflow: 'HIERARCHICAL',
      delegation: { maxDelegations: 2, requiredWorkers: ['Writer'] },
      tasks: [worker('Finder'), worker('Writer', { context: ['finder'], review: true })],
    })
    const cities = task({
      name: 'cities',
      description: 'List cities',
      output: Type.Array(Type.String()),
      handler: () => CITIES,
    })
    const guides = task({
      name: 'guides',
      ensemble: guide,
      inputs: { city: '{item}' },
      forEach: { over: cities, key: (city) => city, collect: 'outputs' },
    })
    const decide = () => ({ action: 'EDIT', text: 'Edited page' }) as const
    return {
      team: ensemble({ name: 'team', tasks: [cities, guides] }),
      options: { reviewer: createWorldReviewer(process, decide) },
    }
  },
}

describe('[ENS-H6] a run with managers in sub-ensembles', { timeout: 300_000 }, () => {
  it('[ENS-E16] [ENS-E17] A run with a managed sub-ensemble for each item ends the same when it is interrupted or drained at any write', async () => {
    const { result, events } = await interruptEverywhere(GUIDES)
    expect(result).toMatchObject({
      status: 'COMPLETED',
      output: JSON.stringify(
        Object.fromEntries(CITIES.map((city) => [city, 'Guide: Edited page'])),
      ),
    })
    expect(eventsOf(events, 'delegation_started')).toHaveLength(CITIES.length * (1 + 1 + 2))
  })

  it('[ENS-P1] A fork after any event of a run with a managed sub-ensemble has the log of its parent', async () => {
    const { result } = await forkEverywhere(GUIDES)
    expect(result.status).toBe('COMPLETED')
  })
})
