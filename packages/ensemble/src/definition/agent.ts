/** Agents: who works on a task. */
import { TuttiError } from '@tutti/core'
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'

import { findOwnHandoffProblems, type Handoff } from './handoff.ts'
import { findOnUnfinishedProblems, type OnUnfinished } from './on-unfinished.ts'

import type { ChatModel } from '../model/chat-model.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { AgentTool } from '@tutti/core'

/** An agent: a role, a goal and tools. */
export interface Agent {
  /** Role, such as `Regulatory Researcher`. */
  readonly role: string
  /**
   * Goal, as part of the system message. It is not a template: inputs of a run, which can come from strangers, never
   * get the rank of the system. @default none: the task itself is the goal
   */
  readonly goal?: string
  /**
   * System message, unchanged, instead of its role, goal and background. Its tasks then get their description as it is, without
   * headings. Those of a task take precedence. @default the role, the goal and the background
   */
  readonly instructions?: string
  /** Background of the agent, as context for its work. */
  readonly background?: string
  readonly tools: readonly AgentTool[]
  /** Model of this agent. The task's own model takes precedence; the ensemble's model is the default. */
  readonly model?: ChatModel
  /** Maximum number of model turns of a task that sets no limit itself. */
  readonly maxIterations?: number
  /** Form of its answers, such as `Markdown with a heading`. */
  readonly responseFormat?: string
  /** Rate limit that all its tasks share for their model calls. */
  readonly rateLimit?: RateLimit
  /** Reaction to an answer that the model ended early. @default the ensemble's */
  readonly onUnfinished?: OnUnfinished
  /** Whether it may delegate work to the other agents of its ensemble. @default false */
  readonly allowDelegation?: boolean
  /**
   * Agents to which it may hand off the conversation of a task: agents, their roles, or handoffs with settings. The agent that has
   * the conversation last gives the answer. @default none
   */
  readonly handoffs?: readonly (Agent | Handoff | string)[]
}

/** Definition of an agent by its author. */
export type AgentDefinition = Omit<Agent, 'tools'> & {
  readonly tools?: readonly AgentTool[]
}

const AGENT_NAMES = {
  role: true,
  goal: true,
  instructions: true,
  background: true,
  tools: true,
  model: true,
  maxIterations: true,
  responseFormat: true,
  rateLimit: true,
  onUnfinished: true,
  allowDelegation: true,
  handoffs: true,
} as const satisfies OptionNames<AgentDefinition>

/**
 * Makes an agent.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function agent(definition: AgentDefinition): Agent {
  const problems = [
    ...findOptionProblems(definition, AGENT_NAMES),
    ...findOnUnfinishedProblems(definition.onUnfinished),
    ...findOwnHandoffProblems(definition),
  ]
  if (problems.length > 0) {
    throw new TuttiError(
      'CONFIG_INVALID',
      `Cannot create agent "${definition.role}": ${problems.join('; ')}`,
      { details: { problems } },
    )
  }
  return { ...definition, tools: definition.tools ?? [] }
}

/** Role of an agent by the verb in the description of its task. */
const ROLES: Readonly<Record<string, string>> = {
  analyse: 'Analyst',
  analyze: 'Analyst',
  assess: 'Analyst',
  build: 'Engineer',
  check: 'Reviewer',
  classify: 'Classifier',
  code: 'Engineer',
  compare: 'Analyst',
  design: 'Designer',
  draft: 'Writer',
  edit: 'Editor',
  evaluate: 'Analyst',
  explain: 'Explainer',
  extract: 'Extractor',
  find: 'Researcher',
  implement: 'Engineer',
  investigate: 'Researcher',
  plan: 'Planner',
  research: 'Researcher',
  review: 'Reviewer',
  search: 'Researcher',
  summarise: 'Summarizer',
  summarize: 'Summarizer',
  test: 'Tester',
  translate: 'Translator',
  write: 'Writer',
}

/** Number of words of a description that are searched for a verb. */
const WORDS_SEARCHED = 8

/** Makes an agent for a task without one; the verb in the description decides the role. */
export function synthesizeAgent(description: string): Agent {
  const words = description.toLowerCase().split(/\W+/, WORDS_SEARCHED)
  const verb = words.find((word) => Object.hasOwn(ROLES, word))
  const role = (verb === undefined ? undefined : ROLES[verb]) ?? 'Agent'
  return { role, tools: [] }
}
