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

/** Finds agents by their roles: those that work on a task or can take it over, else those of the other tasks. */
type FindAgent = (role: string) => Agent | undefined

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
  return createAgentFinder(root, () => mapByRole(tasks.flatMap(listWorkingTasks)))(role)
}

/** @param others returns the agents of all tasks by role; called only if the task does not have an agent. */
function createAgentFinder(root: Task, others: () => ReadonlyMap<string, Agent>): FindAgent {
  const own = mapByRole(listHandoffTasks(root))
  return (role) => own.get(role) ?? others().get(role)
}

/** Returns the first agent of each role. */
function mapByRole(tasks: readonly Task[]): ReadonlyMap<string, Agent> {
  const agents = new Map<string, Agent>()
  for (const { agent, handler } of tasks) {
    if (handler === undefined && !agents.has(agent.role)) agents.set(agent.role, agent)
  }
  return agents
}

/** Returns the problems of the handoffs of all tasks, one text each. */
export function findHandoffProblems(ensemble: {
  readonly tasks: readonly Task[]
  readonly model?: ChatModel
}): readonly string[] {
  let known: ReadonlyMap<string, Agent> | undefined
  const others = (): ReadonlyMap<string, Agent> =>
    (known ??= mapByRole(ensemble.tasks.flatMap(listWorkingTasks)))
  return ensemble.tasks
    .flatMap(listLeafTasks)
    .flatMap((root) =>
      findRootProblems(root, ensemble, others).map((problem) => `task "${root.name}": ${problem}`),
    )
}

/** Returns the problems of the handoffs of a task, one text each. */
export function findTaskHandoffProblems(
  root: Task,
  ensemble: { readonly tasks: readonly Task[]; readonly model?: ChatModel },
): readonly string[] {
  return findRootProblems(root, ensemble, () => mapByRole(ensemble.tasks.flatMap(listWorkingTasks)))
}

function findRootProblems(
  root: Task,
  ensemble: { readonly tasks: readonly Task[]; readonly model?: ChatModel },
  others: () => ReadonlyMap<string, Agent>,
): readonly string[] {
  const { tasks } = ensemble
  if (root.handler !== undefined || root.agent.handoffs === undefined) return []
  const find = createAgentFinder(root, others)
  const agents = new Set([root.agent])
  const problems: string[] = []
  // The set grows while it is read.
  for (const { role: from, handoffs = [] } of agents) {
    for (const target of handoffs.map(toHandoff)) {
      const next = typeof target.agent === 'object' ? target.agent : find(target.agent)
      if (next === undefined) problems.push(describeUnknown(from, target, tasks))
      else agents.add(next)
    }
  }
  const [, ...next] = agents
  return [
    ...problems,
    ...next
      .filter((agent) => modelOfTask(createHandoffTask(root, agent), ensemble) === undefined)
      .map(
        ({ role }) =>
          `agent "${role}" has no model: set one for the agent, the task or the ensemble`,
      ),
    ...findDuplicates([...agents].map(({ role }) => role)).map(
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
