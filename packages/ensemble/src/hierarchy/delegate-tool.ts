/** The tool with which an agent delegates work to another. */
import { defineTool, Type, type AgentTool } from '@tutti/core'

import { DELEGATE_TOOL } from '../definition/delegation-limits.ts'

import type { TaskScope } from '../scope/task-scope.ts'
import type { Delegations } from './delegations.ts'

const delegateTools = new WeakSet<AgentTool>()

/** Whether `tool` is the delegation tool of the engine. */
export function isDelegateTool(tool: AgentTool | undefined): boolean {
  return tool !== undefined && delegateTools.has(tool)
}

/** Returns the tools of a task, and the delegation tool when the task may delegate. */
export function listTaskTools(scope: TaskScope, delegations: Delegations): readonly AgentTool[] {
  const { task, run } = scope
  const isManager = task === run.ensemble.manager && run.ensemble.plan.workflow === 'HIERARCHICAL'
  if (!isManager && task.agent.allowDelegation !== true) return task.tools
  const roles = delegations.rolesFor(scope)
  return roles.length === 0 ? task.tools : [...task.tools, delegateTool(scope, delegations, roles)]
}

function delegateTool(
  scope: TaskScope,
  delegations: Delegations,
  roles: readonly string[],
): AgentTool {
  const tool = defineTool({
    name: DELEGATE_TOOL,
    description: `Hands a task to another agent and gives its result. Agents: ${roles.join(', ')}`,
    input: Type.Object({
      agentRole: Type.String({ description: 'The role of the agent that is to do the task' }),
      taskDescription: Type.String({
        description: 'What it is to do, with everything that it needs to know',
        minLength: 1,
      }),
    }),
    // The delegated task has limits of its own.
    timeoutMs: Infinity,
    execute: ({ agentRole, taskDescription }, { idempotencyKey, signal }) =>
      delegations.delegate(scope, { agentRole, taskDescription, callKey: idempotencyKey, signal }),
  })
  delegateTools.add(tool)
  return tool
}
