/** Pure: renders the texts of a task with the inputs of the run. */
import { renderTemplate, type Inputs } from './template.ts'

import type { Task } from './task.ts'

/** Texts of a task with the inputs of the run filled in. */
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
