/** Finds the agents to which tasks are handed off, and the problems of handoffs that depend on the ensemble. No I/O. */
import { findDuplicates } from './find-duplicates.ts'
import { toHandoff, toHandoffRole } from './handoff.ts'
import { modelOfTask } from './model-of-task.ts'
import {
  createHandoffTask,
  listHandoffTasks,
  listLeafTasks,
  listWorkingTasks,
  type Task,
} from './task.ts'

import type { ChatModel } from '../model/chat-model.ts'
import type { Agent, Handoff } from './agent-shape.ts'

/** Returns the next agent; undefined if none has its role. */
export function resolveHandoff(
  { agent }: Handoff,
  root: Task,
  tasks: readonly Task[],
): Agent | undefined {
  return typeof agent === 'object' ? agent : findHandoffAgent(agent, root, tasks)
}

/** Returns the agent with a role: one that works on the task or can take it over, else one of the other tasks. */
export function findHandoffAgent(
  role: string,
  root: Task,
  tasks: readonly Task[],
): Agent | undefined {
  return [...listHandoffTasks(root), ...tasks.flatMap(listWorkingTasks)].find(
    ({ agent, handler }) => handler === undefined && agent.role === role,
  )?.agent
}

/** Returns the problems of the handoffs of all tasks, one text each. */
export function findHandoffProblems(ensemble: {
  readonly tasks: readonly Task[]
  readonly model?: ChatModel
}): readonly string[] {
  return ensemble.tasks
    .flatMap(listLeafTasks)
    .flatMap((root) =>
      findTaskHandoffProblems(root, ensemble).map((problem) => `task "${root.name}": ${problem}`),
    )
}

/** Returns the problems of the handoffs of a task, one text each. */
export function findTaskHandoffProblems(
  root: Task,
  ensemble: { readonly tasks: readonly Task[]; readonly model?: ChatModel },
): readonly string[] {
  const { tasks } = ensemble
  if (root.handler !== undefined || root.agent.handoffs === undefined) return []
  const agents = [root.agent]
  const problems: string[] = []
  // The list grows while it is read.
  for (const { role: from, handoffs = [] } of agents) {
    for (const target of handoffs.map(toHandoff)) {
      const next = resolveHandoff(target, root, tasks)
      if (next === undefined) problems.push(describeUnknown(from, target, tasks))
      else if (!agents.includes(next)) agents.push(next)
    }
  }
  const others = agents.slice(1)
  return [
    ...problems,
    ...others
      .filter((agent) => modelOfTask(createHandoffTask(root, agent), ensemble) === undefined)
      .map(
        ({ role }) =>
          `agent "${role}" has no model: set one for the agent, the task or the ensemble`,
      ),
    ...findDuplicates(agents.map(({ role }) => role)).map(
      (role) => `two agents that can work on it have the role "${role}"`,
    ),
  ]
}

function describeUnknown(from: string, target: Handoff, tasks: readonly Task[]): string {
  const known = tasks
    .flatMap(listWorkingTasks)
    .flatMap(({ agent, handler }) => (handler === undefined ? [agent.role] : []))
  const available = [...new Set(known)].join(', ')
  return `agent "${from}" hands off to an unknown agent "${toHandoffRole(target)}". Available: [${available}]`
}
