/** Who works on a task. */
import { findUnknownOptions, TuttiError, type OptionNames } from '@tutti/core'

import { findOnUnfinishedProblems, type OnUnfinished } from './on-unfinished.ts'

import type { ChatModel } from '../model/chat-model.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { AgentTool } from '@tutti/core'

/** An agent: a role with a goal, and the tools that come with it. */
export interface Agent {
  /** Role, such as `Regulatory Researcher`. */
  readonly role: string
  /** Goal; one that equals the description of its task follows every change of the description. */
  readonly goal: string
  /** Where it comes from, when that helps it work. */
  readonly background?: string
  readonly tools: readonly AgentTool[]
  /** Model of this agent; the task's own comes first, the ensemble's last. */
  readonly model?: ChatModel
  /** Model turns of a task that does not say so itself. */
  readonly maxIterations?: number
  /** How its answers should be put, such as `Markdown with a heading`. */
  readonly responseFormat?: string
  /** Bounds the model calls of all its tasks together. */
  readonly rateLimit?: RateLimit
  /** Reaction to an answer that a model ended early. @default the ensemble's */
  readonly onUnfinished?: OnUnfinished
  /** Whether it may hand work to the other agents of its ensemble. @default false */
  readonly allowDelegation?: boolean
}

/** The definition of an agent by its author. */
export type AgentDefinition = Omit<Agent, 'tools'> & {
  readonly tools?: readonly AgentTool[]
}

const AGENT_NAMES = {
  role: true,
  goal: true,
  background: true,
  tools: true,
  model: true,
  maxIterations: true,
  responseFormat: true,
  rateLimit: true,
  onUnfinished: true,
  allowDelegation: true,
} as const satisfies OptionNames<AgentDefinition>

/**
 * Makes an agent.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function agent(definition: AgentDefinition): Agent {
  const problems = [
    ...findUnknownOptions(definition, AGENT_NAMES),
    ...findOnUnfinishedProblems(definition.onUnfinished),
  ]
  if (problems.length > 0) {
    throw new TuttiError(
      'CONFIG_INVALID',
      `Cannot make agent "${definition.role}": ${problems.join('; ')}`,
      { details: { problems } },
    )
  }
  return { ...definition, tools: definition.tools ?? [] }
}

/** First words of a task and the role that does such work. */
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

/** How many words of a description are searched for a verb, as in AgentEnsemble. */
const WORDS_SEARCHED = 8

/** Makes an agent for a task that names none, from the verb in its description. */
export function synthesizeAgent(description: string): Agent {
  const words = description.toLowerCase().split(/\W+/, WORDS_SEARCHED)
  const verb = words.find((word) => Object.hasOwn(ROLES, word))
  const role = (verb === undefined ? undefined : ROLES[verb]) ?? 'Agent'
  return { role, goal: description, tools: [] }
}
