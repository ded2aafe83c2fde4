/** Agents: who works on a task. */
import { TuttiError } from '@tutti/core'
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'

import { findDuplicates } from './find-duplicates.ts'
import { findOwnHandoffProblems, toAgentProblemText } from './handoff.ts'
import { findOnUnfinishedProblems } from './on-unfinished.ts'

import type { Agent } from './agent-shape.ts'
import type { AgentTool } from '@tutti/core'

export type { Agent } from './agent-shape.ts'

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
    ...findDuplicates([...new Set(definition.tools)].map(({ name }) => name)).map(
      (name) => `two tools are named "${name}"`,
    ),
    ...findOwnHandoffProblems(definition).map(toAgentProblemText),
  ]
  if (problems.length > 0) {
    throw new TuttiError(
      'CONFIG_INVALID',
      `Cannot create agent "${definition.role}": ${problems.join('; ')}`,
      { details: { problems } },
    )
  }
  return { ...definition, tools: [...new Set(definition.tools)] }
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
