/** The manager of a HIERARCHICAL ensemble: an agent that delegates the tasks. */
import { DELEGATE_TOOL } from './delegation-limits.ts'
import { DEFAULT_OUTPUT_RETRIES, toWorkerRole, type Task } from './task.ts'
import { MANAGER, type Plan } from './plan.ts'

import type { ChatModel } from '../model/chat-model.ts'

/** Default maximum number of model turns of a manager. */
export const DEFAULT_MANAGER_MAX_ITERATIONS = 20

export interface ManagerSettings {
  readonly model: ChatModel | undefined
  readonly maxIterations: number
}

/** Creates the task of the manager of `tasks`. Its texts contain the templates of theirs. */
export function createManagerTask(
  tasks: readonly Task[],
  { model, maxIterations }: ManagerSettings,
): Task<string> {
  const workers = tasks.map(describeWorker)
  const work = tasks.map(
    (task, index) =>
      `${index + 1}. ${task.description}\n   Worker: ${toWorkerRole(task)}\n   Expected output: ${task.expectedOutput}`,
  )
  return {
    name: MANAGER,
    description: `Delegate these tasks to your workers, then combine their results:\n${work.join('\n')}`,
    expectedOutput: 'The final result, complete in itself, based on the results of the workers.',
    agent: {
      role: MANAGER,
      goal: 'Delegate the tasks to suitable workers, check their results and combine them.',
      background: `You lead these workers, and delegate all work to them with the tool ${DELEGATE_TOOL}:\n${workers.join('\n')}`,
      tools: [],
    },
    ...(model === undefined ? {} : { model }),
    tools: [],
    context: [],
    maxIterations,
    outputRetries: DEFAULT_OUTPUT_RETRIES,
    retries: 0,
    memory: [],
  }
}

/** Describes a worker to its manager. */
function describeWorker(task: Task): string {
  const { goal, background } = task.agent
  const role = toWorkerRole(task)
  const text = [goal, background].filter((part) => part !== undefined).join(' ')
  return text === '' ? `- ${role}` : `- ${role}: ${text}`
}

/** Returns the tasks of an ensemble, including that of its manager in HIERARCHICAL. */
export function listAllTasks({
  tasks,
  manager,
  plan,
}: {
  readonly tasks: readonly Task[]
  readonly manager?: Task
  readonly plan: Plan
}): readonly Task[] {
  return plan.workflow === 'HIERARCHICAL' && manager !== undefined ? [...tasks, manager] : tasks
}
