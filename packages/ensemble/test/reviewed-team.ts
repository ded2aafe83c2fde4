/** An ensemble for each workflow: `first`, then the `work` under review, then `last`. */
import { agent, ensemble, task, type Ensemble, type TaskDefinition } from '../src/index.ts'
import { scriptedModel } from './testing.ts'

import type { Workflow } from '@tutti/protocol/internal'

/** All workflows. */
export const WORKFLOWS: readonly Workflow[] = ['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']

/** Settings of the task under review. */
export type Work = Omit<TaskDefinition, 'description' | 'output'> &
  Pick<TaskDefinition, 'model' | 'review' | 'beforeReview' | 'tools'>

/** Returns the ensemble; in HIERARCHICAL its manager delegates the three tasks in sequence. */
export function reviewedTeam(workflow: Workflow, work: Work): Ensemble {
  const toRole = (name: string): string => name.toUpperCase()
  const plain = (name: string, context: readonly string[]): ReturnType<typeof task> =>
    task({
      name,
      description: `Do ${name}`,
      agent: agent({ role: toRole(name), goal: 'Work' }),
      model: scriptedModel(() => `${name} done`),
      context: workflow === 'SEQUENTIAL' ? [] : context,
    })
  const tasks = [
    plain('first', []),
    task({ ...plain('work', ['first']), ...work }),
    plain('last', ['work']),
  ]
  const calls = tasks.map(({ name }) => ({
    toolCalls: [
      {
        name: 'delegate_task',
        arguments: { agentRole: toRole(name), taskDescription: `Do ${name}` },
      },
    ],
  }))
  return ensemble({
    name: 'team',
    tasks,
    workflow,
    ...(workflow === 'HIERARCHICAL'
      ? { managerModel: scriptedModel([...calls, 'all managed']) }
      : {}),
  })
}
