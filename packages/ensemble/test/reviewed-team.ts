/** One story in each workflow: `first`, then the `work` under review, then `last`. */
import { agent, ensemble, task, type Ensemble, type TaskDefinition } from '../src/index.ts'
import { scriptedModel } from './testing.ts'

import type { Workflow } from '@tutti/protocol'

/** All workflows. */
export const WORKFLOWS: readonly Workflow[] = ['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']

/** What the task under review is made of. */
export type Work = Omit<TaskDefinition, 'description' | 'output'> &
  Pick<TaskDefinition, 'model' | 'review' | 'beforeReview' | 'tools'>

/** The team; in HIERARCHICAL its manager delegates the three one after another. */
export function reviewedTeam(workflow: Workflow, work: Work): Ensemble {
  const roleOf = (name: string): string => name.toUpperCase()
  const plain = (name: string, context: readonly string[]): ReturnType<typeof task> =>
    task({
      name,
      description: `Do ${name}`,
      agent: agent({ role: roleOf(name), goal: 'Work' }),
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
        arguments: { agentRole: roleOf(name), taskDescription: `Do ${name}` },
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
