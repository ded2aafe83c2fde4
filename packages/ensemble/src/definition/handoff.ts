/** Handoffs: an agent passes its conversation to another agent, which answers instead. */
import { defineTool, ToolResult, toStandardSchema, Type, type AgentTool } from '@tutti/core'
import { errorMessage, findOptionProblems, type OptionNames } from '@tutti/core/internal'

import { HandoffFilterName, type Problem } from '@tutti/protocol/internal'

import { DELEGATE_TOOL } from './delegation-limits.ts'
import { toOptionText } from './option-text.ts'

import type { Agent, Handoff, HandoffOptions } from './agent-shape.ts'

export type { Handoff } from './agent-shape.ts'

/** Default maximum number of handoffs of a task. */
export const DEFAULT_MAX_HANDOFFS = 10

const HANDOFF_NAMES = {
  agent: true,
  name: true,
  description: true,
  input: true,
  filter: true,
} as const satisfies OptionNames<Handoff>

/**
 * Makes a handoff with settings, for `handoffs` of an agent.
 *
 * @param next the next agent; or its role, which refers to an agent that the task can reach, else to the first agent of the
 * ensemble with this role.
 */
export function handoff(next: Agent | string, options: HandoffOptions = {}): Handoff {
  return { ...options, agent: next }
}

/** Returns a handoff for an agent or a role. */
export function toHandoff(target: Agent | Handoff | string): Handoff {
  return typeof target === 'object' && 'agent' in target ? target : { agent: target }
}

/** Returns the role of the next agent. */
export function toHandoffRole({ agent }: Handoff): string {
  return typeof agent === 'string' ? agent : agent.role
}

/** Returns the name of the tool of a handoff. */
export function toHandoffToolName(handedOff: Handoff): string {
  return handedOff.name ?? `transfer_to_${toHandoffRole(handedOff).replace(/[^a-zA-Z0-9]/g, '_')}`
}

/** Returns the names of the tools with which an agent hands off. */
export function listHandoffTools({ handoffs = [] }: Agent): readonly string[] {
  return handoffs.map((target) => toHandoffToolName(toHandoff(target)))
}

/**
 * Makes the tool of a handoff. A call that takes place returns {@link toTransferText}.
 *
 * @param findRefusal returns the reason why a call does not take place.
 * @throws {TypeError} listing every problem of its name or its schema.
 */
export function createHandoffTool(
  handedOff: Handoff,
  findRefusal: (callKey: string) => string | undefined,
): AgentTool {
  const { agent, input = NO_ARGUMENTS } = handedOff
  const role = toHandoffRole(handedOff)
  const goal = typeof agent === 'string' || agent.goal === undefined ? '' : `: ${agent.goal}`
  const { description = `Hands the conversation off to the agent ${role}${goal}` } = handedOff
  return defineTool({
    name: toHandoffToolName(handedOff),
    description,
    input,
    execute(_, { idempotencyKey }) {
      const refusal = findRefusal(idempotencyKey)
      return refusal === undefined
        ? ToolResult.success(toTransferText(handedOff))
        : ToolResult.failure(refusal)
    },
  })
}

// Compiled once: agents can have many handoffs.
const NO_ARGUMENTS = toStandardSchema(Type.Object({}, { additionalProperties: false }))

/** Returns the result of a handoff call that takes place. */
export function toTransferText(handedOff: Handoff): string {
  return JSON.stringify({ assistant: toHandoffRole(handedOff) })
}

/** Returns the problems of the handoffs of an agent that do not depend on its ensemble, with their paths in the agent. */
export function findOwnHandoffProblems({
  role,
  handoffs = [],
  tools = [],
  allowDelegation,
}: Pick<Agent, 'role' | 'handoffs' | 'allowDelegation'> & {
  readonly tools?: readonly AgentTool[]
}): readonly Problem[] {
  if (!Array.isArray(handoffs)) return [{ path: '/handoffs', message: 'must be a list of agents' }]
  const problems = handoffs.flatMap((target: unknown, index) => {
    const path = `/handoffs/${index}`
    return isTarget(target)
      ? findTargetProblems(role, toHandoff(target), path)
      : [{ path, message: 'must be an agent, a role or a handoff()' }]
  })
  const isNamed = (target: Agent | Handoff | string): boolean =>
    isTarget(target) && typeof toHandoffRole(toHandoff(target)) === 'string'
  if (!handoffs.every(isNamed)) return problems
  const own = [
    ...tools.map(({ name }) => name),
    ...(allowDelegation === true ? [DELEGATE_TOOL] : []),
  ]
  return [...problems, ...findHandoffNameProblems({ role, handoffs, tools: [] }, own)]
}

/** Returns a problem for each tool of a handoff whose name an earlier handoff or a tool has. */
export function findHandoffNameProblems(
  { handoffs = [] }: Agent,
  toolNames: readonly string[],
): readonly Problem[] {
  const taken = new Set(toolNames)
  return handoffs.flatMap((target, index) => {
    const name = toHandoffToolName(toHandoff(target))
    if (taken.has(name)) {
      const message = `must have another tool name: two tools are named "${name}"`
      return [{ path: `/handoffs/${index}`, message }]
    }
    taken.add(name)
    return []
  })
}

/** Returns a problem of an agent as a text, such as `handoffs[0].filter must be …`. */
export function toAgentProblemText({ path, message }: Problem): string {
  return toOptionText({ path: path.replace(/\/(\d+)/g, '[$1]'), message })
}

function isTarget(target: unknown): target is Agent | Handoff | string {
  if (typeof target === 'string') return true
  if (typeof target !== 'object' || target === null) return false
  if ('role' in target) return typeof target.role === 'string'
  return 'agent' in target && (typeof target.agent === 'string' || isTarget(target.agent))
}

const FILTERS: readonly unknown[] = [undefined, ...HandoffFilterName.enum]

function findTargetProblems(role: string, target: Handoff, path: string): readonly Problem[] {
  const { agent, filter } = target
  const isAgent = typeof agent === 'object' && 'role' in agent
  if (!isAgent && typeof agent !== 'string') {
    return [{ path: `${path}/agent`, message: 'must be an agent or a role' }]
  }
  const problems = findOptionProblems(target, HANDOFF_NAMES).map((problem) => ({
    path,
    message: `is invalid: ${problem}`,
  }))
  if (toHandoffRole(target) === role) problems.push({ path, message: 'names the agent itself' })
  if (typeof filter !== 'function' && !FILTERS.includes(filter)) {
    const message = "must be 'all', 'withoutTools' or a function"
    problems.push({ path: `${path}/filter`, message })
  }
  try {
    createHandoffTool(target, () => undefined)
  } catch (error) {
    problems.push({ path, message: `has an invalid tool: ${errorMessage(error)}` })
  }
  return problems
}
