/** The tool with which an agent delegates work to another agent. */
import { defineTool, Type, type AgentTool } from '@tutti/core'

import { DELEGATE_TOOL } from '../definition/delegation-limits.ts'

import { isManagerScope, type Delegations } from './delegations.ts'

import type { TaskScope } from '../scope/task-scope.ts'

const delegateTools = new WeakSet<AgentTool>()

/** Whether `tool` is the delegation tool of the engine. */
export function isDelegateTool(tool: AgentTool | undefined): boolean {
  return tool !== undefined && delegateTools.has(tool)
}

/** Returns the tools of a task, with the delegation tool if the task may delegate. */
export function listTaskTools(scope: TaskScope, delegations: Delegations): readonly AgentTool[] {
  const { task } = scope
  if (!isManagerScope(scope) && task.agent.allowDelegation !== true) return task.tools
  const roles = delegations.rolesFor(scope)
  return roles.length === 0
    ? task.tools
    : [...task.tools, createDelegateTool(scope, delegations, roles)]
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
