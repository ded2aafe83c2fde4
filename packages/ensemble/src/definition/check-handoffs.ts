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

import type { Agent, Handoff } from './agent-shape.ts'
import type { ResolvedEnsemble } from './ensemble-definition.ts'

/** Finds agents by their roles: those that work on a task or can take it over, else those of the other tasks. */
type FindAgent = (role: string) => Agent | undefined

/** Returns the next agent; undefined if none has its role. */
export function resolveHandoff(
  target: Handoff,
  root: Task,
  tasks: readonly Task[],
): Agent | undefined {
  return findNext(target, (role) => findHandoffAgent(role, root, tasks))
}

function findNext({ agent }: Handoff, find: FindAgent): Agent | undefined {
  return typeof agent === 'object' ? agent : find(agent)
}

/** Returns the agent with a role: one that works on the task or can take it over, else one of the other tasks. */
export function findHandoffAgent(
  role: string,
  root: Task,
  tasks: readonly Task[],
): Agent | undefined {
  return createAgentFinder(root, createRoleLookup(tasks))(role)
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

/** Returns a function that returns the agents of tasks by role, which it finds once, when it is first called. */
function createRoleLookup(tasks: readonly Task[]): () => ReadonlyMap<string, Agent> {
  let known: ReadonlyMap<string, Agent> | undefined
  return () => (known ??= mapByRole(tasks.flatMap(listWorkingTasks)))
}

/** Returns the problems of the handoffs of all tasks, one text each. */
export function findHandoffProblems(ensemble: Pick<ResolvedEnsemble, 'tasks'>): readonly string[] {
  const others = createRoleLookup(ensemble.tasks)
  return ensemble.tasks
    .flatMap(listLeafTasks)
    .flatMap((root) =>
      findRootProblems(root, ensemble, others).map((problem) => `task "${root.name}": ${problem}`),
    )
}

/** Returns the problems of the handoffs of a task, one text each. */
export function findTaskHandoffProblems(
  root: Task,
  ensemble: Pick<ResolvedEnsemble, 'tasks'>,
): readonly string[] {
  return findRootProblems(root, ensemble, createRoleLookup(ensemble.tasks))
}

/**
 * Returns a function that returns a problem for each agent without a model to which a task can be handed off.
 *
 * @param ensemble ensemble of the tasks.
 */
export function createAgentModelCheck(
  ensemble: Pick<ResolvedEnsemble, 'tasks' | 'model'>,
): (root: Task) => readonly string[] {
  const others = createRoleLookup(ensemble.tasks)
  return (root) => {
    const [, ...next] = findReachable(root, others).agents
    return next
      .filter((agent) => modelOfTask(createHandoffTask(root, agent), ensemble) === undefined)
      .map(
        ({ role }) =>
          `agent "${role}" has no model: set one for the agent, the task or the ensemble`,
      )
  }
}

/** Returns the agents that can work on a task, its own first, and the handoffs to unknown ones. */
function findReachable(
  root: Task,
  others: () => ReadonlyMap<string, Agent>,
): {
  readonly agents: ReadonlySet<Agent>
  readonly unknown: readonly { readonly from: string; readonly target: Handoff }[]
} {
  if (root.handler !== undefined || root.agent.handoffs === undefined) {
    return { agents: new Set(), unknown: [] }
  }
  const find = createAgentFinder(root, others)
  const agents = new Set([root.agent])
  const unknown: { readonly from: string; readonly target: Handoff }[] = []
  // The set grows while it is read.
  for (const { role: from, handoffs = [] } of agents) {
    for (const target of handoffs.map(toHandoff)) {
      const next = findNext(target, find)
      if (next === undefined) unknown.push({ from, target })
      else agents.add(next)
    }
  }
  return { agents, unknown }
}

function findRootProblems(
  root: Task,
  { tasks }: Pick<ResolvedEnsemble, 'tasks'>,
  others: () => ReadonlyMap<string, Agent>,
): readonly string[] {
  const { agents, unknown } = findReachable(root, others)
  return [
    ...unknown.map(({ from, target }) => describeUnknown(from, target, tasks)),
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
