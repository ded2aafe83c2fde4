/**
 * Builds the task graph of a run in the format of AgentEnsemble's `*.dag.json` files. Pure.
 *
 * AE-D1 Nodes are the planned tasks. In a HIERARCHICAL run they are the tasks that the manager delegated, then the
 *    manager, which depends on them, because the planned workers never run themselves.
 * AE-D2 Role and description of a node equal those of its task trace, because AgentEnsemble's viewer joins the
 *    two files by them.
 * AE-D3 Expected outputs and the details of agents are empty until a task has started.
 */
import type { LoggedRunEvent } from '@tutti/protocol'
import type { AgentSummary, DagModel, ExecutionTrace } from '@tutti/protocol/internal'

/** AgentEnsemble's version of the format. */
const SCHEMA_VERSION = '1.3'

interface Node {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly agentRole: string
  readonly dependsOn: readonly string[]
}

/** Returns the task graph of a run. `now`, in milliseconds since 1970, is the time at which it is generated. */
export function buildDagModel(
  { workflow, agents }: Pick<ExecutionTrace, 'workflow' | 'agents'>,
  events: readonly LoggedRunEvent[],
  now: number,
): DagModel {
  const nodes = workflow === 'HIERARCHICAL' ? buildHierarchy(events) : buildPlan(events)
  const levels = computeLevels(nodes)
  const criticalPath = longestChain(nodes, levels)
  const expected = new Map(
    events.flatMap((event) =>
      event.type === 'task_input' ? [[event.taskName, event.expectedOutput] as const] : [],
    ),
  )
  return {
    type: 'dag',
    schemaVersion: SCHEMA_VERSION,
    workflow,
    generatedAt: new Date(now).toISOString(),
    agents: addUnknownAgents(agents, nodes),
    tasks: nodes.map(({ id, name, description, agentRole, dependsOn }) => ({
      id,
      description,
      expectedOutput: expected.get(name) ?? '',
      agentRole,
      dependsOn: [...dependsOn],
      parallelGroup: levels.get(id) ?? 0,
      onCriticalPath: criticalPath.includes(id),
    })),
    parallelGroups: groupByLevel(nodes, levels),
    criticalPath,
  }
}

/** Returns the tasks of the plan, in their order. */
function plannedTasks(events: readonly LoggedRunEvent[]) {
  return events.find((event) => event.type === 'ensemble_started')?.tasks ?? []
}

/** Returns the tasks of the plan, and then those that other code has added to it. */
function allPlannedTasks(events: readonly LoggedRunEvent[]) {
  const tasks = new Map(plannedTasks(events).map((task) => [task.name, task]))
  for (const event of events) {
    if (event.type !== 'run_resumed') continue
    for (const task of event.addedTasks ?? []) tasks.set(task.name, task)
  }
  return [...tasks.values()]
}

function buildPlan(events: readonly LoggedRunEvent[]): readonly Node[] {
  const planned = allPlannedTasks(events)
  const ids = new Map(planned.map(({ name }, at) => [name, String(at)]))
  return planned.map(({ name, description, agentRole, context }, at) => ({
    id: String(at),
    name,
    description,
    agentRole,
    dependsOn: context.flatMap((needed) => ids.get(needed) ?? []),
  }))
}

/** Returns the nodes of a HIERARCHICAL run (AE-D1). */
function buildHierarchy(events: readonly LoggedRunEvent[]): readonly Node[] {
  const nodes = events
    .filter((event) => event.type === 'delegation_started')
    .filter(({ depth }) => depth === 1)
    .map(({ workerTask: name, workerRole: agentRole, taskDescription: description }, at) => {
      return { id: String(at), name, description, agentRole, dependsOn: [] }
    })
  const manager = plannedTasks(events).at(-1)
  if (manager === undefined) return nodes
  const { name, description, agentRole } = manager
  const dependsOn = nodes.map(({ id }) => id)
  return [...nodes, { id: String(nodes.length), name, description, agentRole, dependsOn }]
}

/** Returns the length of the longest chain of dependencies before each node. */
function computeLevels(nodes: readonly Node[]): ReadonlyMap<string, number> {
  const levels = new Map<string, number>()
  // Dependencies may be listed after the nodes that need them, so one pass is not enough.
  for (let isChanged = true; isChanged;) {
    isChanged = false
    for (const { id, dependsOn } of nodes) {
      const before = dependsOn.map((needed) => levels.get(needed))
      if (levels.has(id) || before.includes(undefined)) continue
      levels.set(id, Math.max(-1, ...before.map((level = -1) => level)) + 1)
      isChanged = true
    }
  }
  return levels
}

/** Returns the longest chain; of several, the one that ends last in the list, as in AgentEnsemble. */
function longestChain(nodes: readonly Node[], levels: ReadonlyMap<string, number>): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const levelOf = (id: string): number => levels.get(id) ?? -1
  const path: string[] = []
  let current = nodes.toSorted((left, right) => levelOf(left.id) - levelOf(right.id)).at(-1)
  while (current !== undefined) {
    path.unshift(current.id)
    const deepest = current.dependsOn.toSorted((left, right) => levelOf(right) - levelOf(left))[0]
    current = deepest === undefined ? undefined : byId.get(deepest)
  }
  return path
}

function groupByLevel(nodes: readonly Node[], levels: ReadonlyMap<string, number>): string[][] {
  const groups: string[][] = []
  for (const { id } of nodes) {
    const level = levels.get(id) ?? 0
    while (groups.length <= level) groups.push([])
    groups[level]?.push(id)
  }
  return groups
}

/** Adds agents without details for the nodes whose tasks have not started (AE-D3). */
function addUnknownAgents(agents: readonly AgentSummary[], nodes: readonly Node[]): AgentSummary[] {
  const known = new Set(agents.map(({ role }) => role))
  const unknown = new Set(
    nodes.map(({ agentRole }) => agentRole).filter((role) => !known.has(role)),
  )
  return [
    ...agents,
    ...[...unknown].map((role) => ({
      role,
      goal: '',
      background: null,
      toolNames: [],
      allowDelegation: false,
    })),
  ]
}
