/** What is to be done: plain readonly data, copied with changes, never mutated. */
import { TuttiError, type AgentTool } from '@tutti/core'

import { synthesizeAgent, type Agent } from './agent.ts'

import type { ChatModel } from './model/chat-model.ts'

/** Model turns a task may take when nothing else is said; the wire's default. */
export const DEFAULT_MAX_ITERATIONS = 25

/** What a task is expected to give when nothing else is said. */
export const DEFAULT_EXPECTED_OUTPUT = 'A complete and accurate result of the task.'

/** One piece of work for one agent. */
export interface Task {
  /** Unique within its ensemble; overrides, context and results go by it. */
  readonly name: string
  /** What to do; `{variable}` stands for an input of the run. */
  readonly description: string
  /** What the result should look like; may hold `{variable}` too. */
  readonly expectedOutput: string
  readonly agent: Agent
  /** Model of this task; else the agent's, else the ensemble's. */
  readonly model?: ChatModel
  /** Tools of this task and its agent. */
  readonly tools: readonly AgentTool[]
  /** Names of the tasks whose outputs this one is given, and therefore waits for. */
  readonly context: readonly string[]
  /** Model turns before a final answer is asked for. */
  readonly maxIterations: number
}

/** What the author of a task writes. */
export interface TaskDefinition {
  /** @default made from the first words of the description */
  readonly name?: string
  readonly description: string
  /** @default {@link DEFAULT_EXPECTED_OUTPUT} */
  readonly expectedOutput?: string
  /** @default an agent whose role follows from the description's verb */
  readonly agent?: Agent
  readonly model?: ChatModel
  readonly tools?: readonly AgentTool[]
  /** Tasks, or names of tasks, whose outputs this one builds on. */
  readonly context?: readonly (Task | string)[]
  /** At least 1. @default 25 */
  readonly maxIterations?: number
}

/**
 * Makes a task. A task is a definition too: `task({ ...research, maxIterations: 5 })` is a copy with a
 * change.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function task(definition: TaskDefinition): Task {
  const agent = definition.agent ?? synthesizeAgent(definition.description)
  const made: Task = {
    name: definition.name ?? nameFromDescription(definition.description),
    description: definition.description,
    expectedOutput: definition.expectedOutput ?? DEFAULT_EXPECTED_OUTPUT,
    agent,
    ...(definition.model === undefined ? {} : { model: definition.model }),
    tools: [...new Set([...(definition.tools ?? []), ...agent.tools])],
    context: (definition.context ?? []).map((item) =>
      typeof item === 'string' ? item : item.name,
    ),
    maxIterations: definition.maxIterations ?? DEFAULT_MAX_ITERATIONS,
  }
  const problems = findTaskProblems(made)
  if (problems.length === 0) return made
  throw new TuttiError(
    'CONFIG_INVALID',
    `Cannot make task "${made.name}": ${problems.join('; ')}`,
    {
      details: { problems },
    },
  )
}

function findTaskProblems(made: Task): readonly string[] {
  const problems: string[] = []
  if (made.name.trim() === '') problems.push('name must not be blank')
  if (made.description.trim() === '') problems.push('description must not be blank')
  if (!Number.isInteger(made.maxIterations) || made.maxIterations < 1) {
    problems.push(`maxIterations must be an integer >= 1, got ${made.maxIterations}`)
  }
  for (const name of duplicates(made.tools.map((tool) => tool.name))) {
    problems.push(`two tools are named "${name}"`)
  }
  return problems
}

/** The names that occur more than once. */
export function duplicates(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
}

const MAX_NAME_LENGTH = 50

function nameFromDescription(description: string): string {
  const words = description.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  let name = ''
  for (const word of words) {
    const longer = name === '' ? word : `${name}-${word}`
    if (longer.length > MAX_NAME_LENGTH) break
    name = longer
  }
  return name === '' ? 'task' : name
}
