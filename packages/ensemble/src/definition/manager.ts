/** The manager of a HIERARCHICAL ensemble: an agent whose task is to have the tasks done. */
import { DELEGATE_TOOL } from './delegation-limits.ts'
import { DEFAULT_OUTPUT_RETRIES, type Task } from './task.ts'
import { MANAGER, type Plan } from './plan.ts'

import type { ChatModel } from '../model/chat-model.ts'

/** Model turns of a manager when nothing else is said; AgentEnsemble's. */
export const DEFAULT_MANAGER_MAX_ITERATIONS = 20

/** How a manager works. */
export interface ManagerSettings {
  readonly model: ChatModel | undefined
  readonly maxIterations: number
}

/** The task of the manager of `tasks`. Its texts hold the templates of theirs. */
export function managerTask(
  tasks: readonly Task[],
  { model, maxIterations }: ManagerSettings,
): Task<string> {
  const workers = tasks.map(workerLine)
  const work = tasks.map(
    ({ description, expectedOutput, agent }, index) =>
      `${index + 1}. ${description}\n   Worker: ${agent.role}\n   Expected output: ${expectedOutput}`,
  )
  return {
    name: MANAGER,
    description: `Have these tasks done by your workers, then give the result of all of them together:\n${work.join('\n')}`,
    expectedOutput: 'The final result, complete in itself, made of what the workers gave.',
    agent: {
      role: MANAGER,
      goal: 'Have the tasks done by the workers that fit them, check what they give, and put it together.',
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

/** Describes a worker to its manager; a goal that equals its task is left out. */
function workerLine({ agent: { role, goal, background }, description }: Task): string {
  const about = [goal === description ? undefined : goal, background]
  const words = about.filter((part) => part !== undefined).join(' ')
  return words === '' ? `- ${role}` : `- ${role}: ${words}`
}

/** The tasks of an ensemble, and its manager's when it has one. */
export function allTasks({
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
