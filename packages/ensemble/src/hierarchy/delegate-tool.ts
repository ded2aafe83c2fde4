/** Tools whose calls add tasks to the run: the one with which an agent delegates, and those of ensembles. */
import { defineTool, Type, type AgentTool } from '@tutti/core'

import { DELEGATE_TOOL } from '../definition/delegation-limits.ts'
import { findEnsembleTool } from '../definition/sub-ensemble.ts'

import { isManagerScope, type Delegations } from './delegations.ts'

import type { TaskScope } from '../scope/task-scope.ts'

const delegateTools = new WeakSet<AgentTool>()

/** Marks a tool whose calls add tasks to the run. */
export function markDelegateTool(tool: AgentTool): void {
  delegateTools.add(tool)
}

/** Whether calls of the tool add tasks to the run. */
export function isDelegateTool(tool: AgentTool | undefined): boolean {
  return tool !== undefined && delegateTools.has(tool)
}

/** Returns the tools of a task, with the delegation tool if the task may delegate. */
export function listTaskTools(scope: TaskScope, delegations: Delegations): readonly AgentTool[] {
  const { task } = scope
  const hasEnsembles = task.tools.some((tool) => findEnsembleTool(tool) !== undefined)
  const tools = hasEnsembles
    ? task.tools.map((tool) => toRunTool(scope, delegations, tool))
    : task.tools
  if (!isManagerScope(scope) && task.agent.allowDelegation !== true) return tools
  const roles = delegations.rolesFor(scope)
  return roles.length === 0 ? tools : [...tools, createDelegateTool(scope, delegations, roles)]
}

/** Returns a tool whose calls add the task of an ensemble to the run; any other tool as it is. */
function toRunTool(scope: TaskScope, delegations: Delegations, tool: AgentTool): AgentTool {
  const known = findEnsembleTool(tool)
  if (known === undefined) return tool
  const inRun = known.withBody((inputs, { idempotencyKey, signal }) =>
    delegations.call(scope, known.task, { inputs, callKey: idempotencyKey, signal }),
  )
  delegateTools.add(inRun)
  return inRun
}

function createDelegateTool(
  scope: TaskScope,
  delegations: Delegations,
  roles: readonly string[],
): AgentTool {
  const tool = defineTool({
    name: DELEGATE_TOOL,
    description: `Delegates a task to another agent and returns its result. Agents: ${roles.join(', ')}`,
    input: Type.Object({
      agentRole: Type.String({ description: 'Role of the agent that performs the task' }),
      taskDescription: Type.String({
        description: 'The work to do, with everything that the agent needs to know',
        minLength: 1,
      }),
    }),
    // The delegated task has its own limits.
    timeoutMs: Infinity,
    execute: ({ agentRole, taskDescription }, { idempotencyKey, signal }) =>
      delegations.delegate(scope, { agentRole, taskDescription, callKey: idempotencyKey, signal }),
  })
  delegateTools.add(tool)
  return tool
}
