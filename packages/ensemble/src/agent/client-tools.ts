/**
 * Client tools: tools that the client of a run executes. A call opens a review that the client answers with the
 * result of the call.
 *
 * ENS-K1 Every agent of a run may call the client tools of the run, in addition to its own tools.
 * ENS-K2 A call opens a review of the kind CLIENT_TOOL with the validated input. The answer is the result of the call;
 *    a rejection is a failed call.
 * ENS-K3 Calls of client tools wait concurrently, outside the limits for tool calls.
 * ENS-K4 A call that is not answered in time fails, and its agent continues.
 */
import { defineTool, Type, type AgentTool } from '@tutti/core'
import { errorMessage, type ToolSchema } from '@tutti/core/internal'

import { DELEGATE_TOOL } from '../definition/delegation-limits.ts'
import { listHandoffTools } from '../definition/handoff.ts'
import { listAllTasks } from '../definition/manager.ts'
import { listSubEnsembles } from '../definition/sub-ensemble.ts'
import { listWorkingTasks, type Task } from '../definition/task.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Problem } from '@tutti/protocol/internal'

/** Tool that the client of a run executes. */
export interface ClientTool {
  /** Name by which models call the tool: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** Description of the tool, for models. @default `Tool of the client` */
  readonly description?: string
  /** Schema of the arguments, an object. */
  readonly inputSchema: ToolSchema
  /** Maximum time to wait for the result, in milliseconds; Infinity waits without a limit. @default 86400000 */
  readonly timeoutMs?: number
}

/** Default maximum time to wait for the result of a client tool, in milliseconds: a day. */
export const DEFAULT_CLIENT_TOOL_TIMEOUT_MS = 86_400_000

const clientTools = new WeakSet<AgentTool>()

/** Whether the client executes the tool. */
export function isClientTool(tool: AgentTool | undefined): boolean {
  return tool !== undefined && clientTools.has(tool)
}

/**
 * Makes a tool whose calls are answered by the client.
 *
 * @throws {TypeError} listing every problem of the definition.
 */
export function createClientTool({
  name,
  description = 'Tool of the client',
  inputSchema,
  timeoutMs = DEFAULT_CLIENT_TOOL_TIMEOUT_MS,
}: ClientTool): AgentTool {
  const tool = defineTool({
    name,
    description,
    input: inputSchema,
    output: Type.Unknown(),
    timeoutMs: Infinity,
    async execute(input, { requestAnswer }) {
      const answer = await requestAnswer(`Call of the client tool "${name}"`, {
        schema: Type.Unknown(),
        clientTool: { input },
        timeoutMs,
        onTimeout: 'FAIL',
      })
      // The reviewer cannot continue without an answer.
      return answer.answered ? answer.value : null
    },
  })
  clientTools.add(tool)
  return tool
}

/** Returns the problems of the client tools of a run: their definitions, and names that are already taken. */
export function findClientToolProblems(
  ensemble: ResolvedEnsemble,
  tools: readonly ClientTool[] = [],
): readonly Problem[] {
  if (tools.length === 0) return []
  const agentTasks = listAgentTasks(ensemble)
  if (agentTasks.length === 0) {
    return [{ path: '', message: `cannot be called: "${ensemble.name}" has no task with an agent` }]
  }
  const users = new Map<string, string[]>()
  for (const { name, tools: own, agent } of agentTasks) {
    for (const used of [...own.map((tool) => tool.name), ...listHandoffTools(agent)]) {
      users.set(used, [...(users.get(used) ?? []), name])
    }
  }
  return tools.flatMap((tool, index) => {
    const { name } = tool
    const isRepeated = tools.findIndex((other) => other.name === name) < index
    const taken = findNameProblem(name, { isRepeated, users: users.get(name) })
    const problems = taken === undefined ? [] : [{ path: `/${index}/name`, message: taken }]
    const invalid = findDefinitionProblem(tool)
    return invalid === undefined
      ? problems
      : [...problems, { path: `/${index}`, message: `is invalid: ${invalid}` }]
  })
}

/** Returns the tasks with agents, those of sub-ensembles included, which are named below their tasks. */
function listAgentTasks(ensemble: ResolvedEnsemble): readonly Pick<Task, 'name' | 'tools' | 'agent'>[] {
  const tasks = listAllTasks(ensemble)
  return [
    ...tasks.flatMap(listWorkingTasks).filter(({ handler }) => handler === undefined),
    ...listSubEnsembles(tasks).flatMap(({ task, definition }) =>
      listAgentTasks(definition).map(({ name, tools, agent }) => ({
        name: `${task.name}/${name}`,
        tools,
        agent,
      })),
    ),
  ]
}

/** Maximum number of tasks that an error names. */
const MAX_NAMED_TASKS = 5

function findNameProblem(
  name: string,
  {
    isRepeated,
    users = [],
  }: { readonly isRepeated: boolean; readonly users: readonly string[] | undefined },
): string | undefined {
  if (isRepeated) return `must be unique, got "${name}" again`
  if (name === DELEGATE_TOOL) return `must not be "${name}", which is reserved for delegation`
  if (users.length === 0) return undefined
  const named = users.slice(0, MAX_NAMED_TASKS).map((task) => `"${task}"`)
  const more = users.length > named.length ? ` and ${users.length - named.length} others` : ''
  return `must not be "${name}", which is a tool of task ${named.join(', ')}${more}`
}

function findDefinitionProblem(tool: ClientTool): string | undefined {
  try {
    createClientTool(tool)
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}
