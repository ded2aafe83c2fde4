/** The tool with which an agent hands work to another. */
import { defineTool, Type, type AgentTool } from '@tutti/core'

import { MANAGER } from '../definition/plan.ts'
import { DELEGATE_TOOL } from '../definition/delegation-limits.ts'

import type { TaskScope } from '../scope/task-scope.ts'

const delegateTools = new WeakSet<AgentTool>()

/** Whether `tool` is the engine's own. */
export function isDelegateTool(tool: AgentTool | undefined): boolean {
  return tool !== undefined && delegateTools.has(tool)
}

/** The tools of a task: its own, and the one with which it delegates when it may. */
export function toolsOf(scope: TaskScope): readonly AgentTool[] {
  const { task, run } = scope
  const isManager = task === run.ensemble.manager && run.ensemble.plan.workflow === 'HIERARCHICAL'
  if (!isManager && task.agent.allowDelegation !== true) return task.tools
  if (run.delegations.rolesFor(scope).length === 0) return task.tools
  return [...task.tools, delegateTool(scope)]
}

function delegateTool(scope: TaskScope): AgentTool {
  const roles = scope.run.delegations.rolesFor(scope)
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
    // The work that is delegated has limits of its own.
    timeoutMs: Infinity,
    execute: ({ agentRole, taskDescription }, { idempotencyKey, signal }) =>
      scope.run.delegations.delegate(scope, {
        agentRole,
        taskDescription,
        callKey: idempotencyKey,
        signal,
      }),
  })
  delegateTools.add(tool)
  return tool
}

/** Whether the scope is that of the manager of its run. */
export function isManagerScope({ identity, depth, run }: TaskScope): boolean {
  return (
    depth === 0 && identity.taskName === MANAGER && run.ensemble.plan.workflow === 'HIERARCHICAL'
  )
}
