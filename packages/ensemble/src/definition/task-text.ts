/** Pure: the texts of a task with the inputs of the run put in, and the outputs that it builds on. */
import { renderTemplate, type Inputs } from './template.ts'

import type { Agent } from './agent.ts'
import type { Task } from './task.ts'

/** The texts of a task with the inputs of the run put in. */
export interface TaskText {
  readonly description: string
  readonly expectedOutput: string
}

/** Returns the texts of `task` with their template variables replaced. */
export function renderTask(
  { description, expectedOutput }: Pick<Task, 'description' | 'expectedOutput'>,
  inputs: Inputs,
): TaskText {
  return {
    description: renderTemplate(description, inputs),
    expectedOutput: renderTemplate(expectedOutput, inputs),
  }
}

/** Returns the agent of a task; a goal that repeats the description follows the rendered one. */
export function renderAgent(
  { agent, description }: Pick<Task, 'agent' | 'description'>,
  text: TaskText,
): Agent {
  return agent.goal === description ? { ...agent, goal: text.description } : agent
}
