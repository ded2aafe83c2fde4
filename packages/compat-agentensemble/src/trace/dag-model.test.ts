import { describe, expect, it } from 'vitest'

import { buildDagModel } from './dag-model.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { PlannedTask } from '@tutti/protocol/internal'

const START = Date.parse('2026-01-01T00:00:00.000Z')

function planned(...tasks: readonly (readonly [name: string, context: readonly string[]])[]) {
  const plan: PlannedTask[] = tasks.map(([name, context]) => ({
    name,
    description: `Do ${name}`,
    agentRole: 'Worker',
    context: [...context],
  }))
  // NOTE: the events have only the fields that the graph reads.
  return [
    { type: 'ensemble_started', tasks: plan, runId: 'r', seq: 0, id: 'r:0' } as LoggedRunEvent,
  ]
}

function graphOf(events: readonly LoggedRunEvent[]) {
  return buildDagModel({ workflow: 'PARALLEL', agents: [] }, events, START)
}

describe('buildDagModel', () => {
  it('buildDagModel computes levels and the longest chain when dependencies follow the tasks that need them', () => {
    const graph = graphOf(planned(['d', ['b', 'c']], ['a', []], ['b', ['a']], ['c', []]))
    expect(
      graph.tasks.map(({ id, dependsOn, parallelGroup }) => [id, dependsOn, parallelGroup]),
    ).toEqual([
      ['0', ['2', '3'], 2],
      ['1', [], 0],
      ['2', ['1'], 1],
      ['3', [], 0],
    ])
    expect(graph.parallelGroups).toEqual([['1', '3'], ['2'], ['0']])
    expect(graph.criticalPath).toEqual(['1', '2', '0'])
    expect(graph.tasks.map(({ onCriticalPath }) => onCriticalPath)).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  it('buildDagModel adds the tasks of other code that continued the run', () => {
    const added = {
      taskIndex: 3,
      name: 'c',
      description: 'Do c',
      agentRole: 'Worker',
      context: ['a'],
    }
    // NOTE: the event has only the fields that the graph reads.
    const resumed = { type: 'run_resumed', addedTasks: [added], runId: 'r', seq: 1, id: 'r:1' }
    const events = [...planned(['a', []], ['b', ['a']]), resumed as LoggedRunEvent]
    const graph = graphOf([...events, ...events.slice(1)])
    expect(graph.tasks.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ['0', []],
      ['1', ['0']],
      ['2', ['0']],
    ])
  })

  it('[AE-D3] buildDagModel lists the agents of tasks that have not started, without details', () => {
    expect(graphOf(planned(['a', []])).agents).toEqual([
      { role: 'Worker', goal: '', background: null, toolNames: [], allowDelegation: false },
    ])
  })

  it('buildDagModel returns an empty graph for a run that has not started', () => {
    expect(graphOf([])).toMatchObject({ tasks: [], parallelGroups: [], criticalPath: [] })
  })
})
