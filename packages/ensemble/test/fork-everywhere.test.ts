/** Tests that a fork of a run at any event, without changes, has the same history as the run. */
import { assert, asyncProperty } from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { agent, ensemble, priceList, task } from '../src/index.ts'
import { EVERY_FEATURE, generatedRuns, toScenario } from './generated-runs.ts'
import {
  forkEverywhere,
  runInProcesses,
  type Process,
  type Scenario,
} from './interrupt-everywhere.ts'
import {
  createTaskFailure,
  createThinker,
  createWorldTool,
  readContext,
  requestCalls,
} from './scenario-parts.ts'
import { eventsOf } from './watch-run.ts'

/** Number of generated runs. */
const RUNS = Number(process.env['TUTTI_GENERATED_RUNS'] ?? 6)

/** Seed of the generated runs, so that a failure in CI can be repeated. */
const SEED = Number(process.env['TUTTI_GENERATED_SEED'] ?? 26)

const PRICES = priceList({ 'scripted:thinker': { inputPerMillion: 3, outputPerMillion: 15 } })

function diamond(process: Process): ReturnType<Scenario['open']> {
  const model = createThinker(process, ({ turn, prompt, last }) => {
    if (turn === 0) return requestCalls(['c1', 'search', 'x'], ['c2', 'map', 'y'])
    return `(${readContext(prompt)} ${last})`
  })
  const tools = [createWorldTool(process, 'search'), createWorldTool(process, 'map', { ms: 12 })]
  const make = (name: string, context: readonly string[]) =>
    task({ name, description: `Do ${name}`, context, tools })
  const tasks = [make('a', []), make('b', ['a']), make('c', ['a']), make('d', ['b', 'c'])]
  return { team: ensemble({ name: 'diamond', tasks, model }), options: { prices: PRICES } }
}

/** Opens a manager that delegates twice to one worker, and to one that fails and is retried. */
function managed(process: Process): ReturnType<Scenario['open']> {
  const delegate = (id: string, agentRole: string, taskDescription: string) =>
    [id, 'delegate_task', { agentRole, taskDescription }] as const
  const manager = createThinker(process, ({ turn, last }) => {
    if (turn === 0) {
      return requestCalls(delegate('m1', 'Writer', 'Write it'), delegate('m2', 'Critic', 'Break'))
    }
    return turn === 1 ? requestCalls(delegate('m1', 'Writer', 'Write more')) : `all: ${last}`
  })
  const worker = createThinker(process, ({ turn, prompt, last }) => {
    if (prompt.includes('Break')) return createTaskFailure('I broke')
    return turn === 0 ? requestCalls(['t', 'look', 'here']) : `wrote ${last}`
  })
  const tools = [createWorldTool(process, 'look')]
  return {
    team: ensemble({
      name: 'managed',
      workflow: 'HIERARCHICAL',
      managerModel: manager,
      model: worker,
      tasks: [
        task({
          name: 'write',
          description: 'Write',
          tools,
          agent: agent({ role: 'Writer', goal: 'Write' }),
        }),
        task({
          name: 'check',
          description: 'Check',
          agent: agent({ role: 'Critic', goal: 'Check' }),
          retries: 1,
        }),
      ],
    }),
  }
}

beforeEach(() => {
  // The wait before a repeated call is the same in the run and in its forks.
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe('[ENS-E6] a fork after any event, without changes', { timeout: 180_000 }, () => {
  it('A fork after any event has the history of its parent, for a diamond of agents with tools', async () => {
    const { result } = await forkEverywhere({ open: diamond })
    expect(result.status).toBe('COMPLETED')
  })

  it('A fork after any event has the history of its parent, for a manager with failing and repeated delegations', async () => {
    const { events } = await forkEverywhere({ open: managed })
    expect(eventsOf(events, 'delegation_started').length).toBeGreaterThan(2)
  })

  it.each(EVERY_FEATURE.map((run) => [run.workflow, run] as const))(
    'A fork after any event has the log of its parent, for a run with every feature in workflow %s',
    async (_, run) => {
      const { result } = await forkEverywhere(toScenario(run))
      expect(result.status).toBe('COMPLETED')
    },
  )

  it('A fork after any event has the log of its parent, for generated runs', () =>
    assert(
      asyncProperty(generatedRuns, async (run) => {
        await forkEverywhere(toScenario(run))
      }),
      { numRuns: RUNS, seed: SEED },
    ))

  it('A fork after any event counts only what happens after it', async () => {
    const whole = await runInProcesses({ open: diamond }, [])
    const late = await runInProcesses({ open: diamond }, [whole.writes - 2], { isFork: true })
    expect(late.result.output).toBe(whole.result.output)
    expect(late.result.metrics).toEqual({
      totalTokens: 0,
      totalToolCalls: 0,
      costEstimate: { inputCost: 0, outputCost: 0 },
    })
    expect(whole.result.metrics.totalToolCalls).toBe(8)
  })
})
