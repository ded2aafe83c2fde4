/**
 * Pure: makes the agents of a requested task, and the handoffs between them.
 *
 * RUNS-T31 `agents` of a request are agents of the engine, and their `handoffs` are its handoffs. They name agents of the same
 *    task. All problems are reported with their paths, together with those of all tasks: unknown, repeated and unreachable
 *    agents, and the problems that the engine finds. A request has at most 1,000 handoffs.
 */
import { agent, handoff, type Agent } from '@tutti/ensemble'
import { findOwnHandoffProblems, type Handoff } from '@tutti/ensemble/internal'
import { shortText, unknownName } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'
import { compileSchema, type SchemaTime } from './bounded-schema.ts'
import { findModel, findTools, type Catalogs } from './catalog-names.ts'

import type { Refusals } from './refusals.ts'
import type { HandoffBody, TaskAgentBody } from '@tutti/protocol/internal'

/** Maximum number of handoffs in one request: it takes a tenth of a second to check as many. */
export const MAX_REQUEST_HANDOFFS = 1_000

/** Parts of a request that the agents of its tasks need. */
export interface TaskAgentParts {
  readonly catalogs: Catalogs
  readonly refusals: Refusals
  readonly time: SchemaTime
  /** Number of handoffs that the tasks of the request can still have. */
  readonly handoffs: { left: number }
  /** JSON Pointer of `agents`. */
  readonly path: string
}

/** An agent of a request whose handoffs name the next agents by their roles. */
type NamedAgent = Omit<Agent, 'handoffs'> & { readonly handoffs: readonly NamedHandoff[] }

type NamedHandoff = Handoff & { readonly agent: string }

/** Returns the first agent, which has the others in its handoffs; undefined if one of them has a problem. */
export function makeTaskAgent(
  bodies: readonly TaskAgentBody[],
  parts: TaskAgentParts,
): Agent | undefined {
  const { refusals, path } = parts
  for (const { handoffs = [] } of bodies) parts.handoffs.left -= handoffs.length
  if (parts.handoffs.left < 0) {
    const message = `must have, together with the tasks before it, at most ${MAX_REQUEST_HANDOFFS} handoffs`
    refusals.add('BAD_REQUEST', path, () => `${path} ${message}`)
    return undefined
  }
  const read = bodies.flatMap((body, index) =>
    readAgent(body, { ...parts, path: `${path}/${index}` }),
  )
  const isRefused = refuseRoles(bodies, parts)
  if (isRefused || read.length < bodies.length) return undefined
  const tree = new AgentTree(new Map(read.map((one) => [one.role, one])))
  const first = tree.make(bodies[0]?.role ?? '')
  const unreachable = [...bodies.entries()].filter(([, { role }]) => !tree.has(role))
  for (const [index, { role }] of unreachable) {
    const message = (): string => `No agent hands off to '${shortText(role)}', so it can never work`
    refusals.add('BAD_REQUEST', `${path}/${index}`, message)
  }
  return unreachable.length === 0 ? first : undefined
}

/** Refuses roles that two agents have, and those of handoffs that no agent has. */
function refuseRoles(
  bodies: readonly TaskAgentBody[],
  { refusals, path }: Pick<TaskAgentParts, 'refusals' | 'path'>,
): boolean {
  const roles = [...new Set(bodies.map(({ role }) => role))]
  let isRefused = roles.length < bodies.length
  for (const [index, { role, handoffs = [] }] of bodies.entries()) {
    if (bodies.findIndex((other) => other.role === role) < index) {
      const message = (): string => `Two agents have the role '${shortText(role)}'`
      refusals.add('BAD_REQUEST', `${path}/${index}/role`, message)
    }
    for (const [position, target] of handoffs.entries()) {
      const wanted = typeof target === 'string' ? target : target.agent
      if (roles.includes(wanted)) continue
      isRefused = true
      const at = `${path}/${index}/handoffs/${position}`
      refusals.add('BAD_REQUEST', at, () => unknownName('agent', wanted, roles))
    }
  }
  return isRefused
}

/** Returns an agent, unless it has a problem, which is added to the refusals. */
function readAgent(
  { role, goal, background, instructions, maxIterations, ...body }: TaskAgentBody,
  parts: TaskAgentParts,
): readonly NamedAgent[] {
  const { catalogs, refusals, path } = parts
  const { tools: names = [], handoffs: targets = [] } = body
  const tools = findTools(names, { catalogs, refusals, path: `${path}/tools` })
  const model = findModel(body.model, { catalogs, refusals, path: `${path}/model` })
  const read = targets.map((target, index) =>
    readHandoff(target, { ...parts, path: `${path}/handoffs/${index}` }),
  )
  const handoffs = read.map((one) => one.handoff)
  const problems = findOwnHandoffProblems({ role, tools, handoffs })
  for (const { path: at, message } of problems) {
    refusals.add('BAD_REQUEST', `${path}${at}`, () => `${path}${at} ${message}`)
  }
  const isComplete =
    problems.length === 0 &&
    tools.length === names.length &&
    (model === undefined) === (body.model === undefined) &&
    read.every(({ isRefused }) => !isRefused)
  if (!isComplete) return []
  return [
    {
      role,
      tools,
      handoffs,
      ...field('goal', goal),
      ...field('background', background),
      ...field('instructions', instructions),
      ...field('model', model),
      ...field('maxIterations', maxIterations),
    },
  ]
}

/** Returns a handoff, without its schema if that is refused. */
function readHandoff(
  target: HandoffBody,
  { refusals, time, path }: TaskAgentParts,
): { readonly handoff: NamedHandoff; readonly isRefused: boolean } {
  if (typeof target === 'string') return { handoff: { agent: target }, isRefused: false }
  const { inputSchema, ...settings } = target
  const input = compileSchema(inputSchema, time, {
    refusals,
    path: `${path}/inputSchema`,
    what: 'schema of a handoff',
  })
  return {
    handoff: { ...settings, ...field('input', input) },
    isRefused: inputSchema !== undefined && input === undefined,
  }
}

/** Makes agents. The first handoff to an agent has the agent, and later ones have its role, because agents can hand back. */
class AgentTree {
  readonly #agents: ReadonlyMap<string, NamedAgent>
  readonly #made = new Set<string>()

  constructor(agents: ReadonlyMap<string, NamedAgent>) {
    this.#agents = agents
  }

  /** Whether an agent with this role was made. */
  has(role: string): boolean {
    return this.#made.has(role)
  }

  /** Returns the agent with a role, with those that are made for its handoffs. */
  make(role: string): Agent {
    this.#made.add(role)
    const { handoffs = [], ...rest } = this.#agents.get(role) ?? { role, tools: [] }
    const next = handoffs.map((target) =>
      this.has(target.agent) ? target : handoff(this.make(target.agent), target),
    )
    return agent(next.length === 0 ? rest : { ...rest, handoffs: next })
  }
}
