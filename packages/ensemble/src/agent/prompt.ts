/** Pure: the messages a task begins with. Sections come in the order that AgentEnsemble uses. */
import { renderTemplate, type Inputs } from '../template.ts'

import type { Message } from '../model/chat-model.ts'
import type { Task } from '../task.ts'
import type { Agent } from '../agent.ts'

/** Output of an earlier task that a later one builds on. */
export interface ContextOutput {
  readonly taskName: string
  readonly agentRole: string
  readonly description: string
  readonly output: string
}

/** The texts of a task with the inputs of the run put in. */
export interface TaskText {
  readonly description: string
  readonly expectedOutput: string
}

/** `task` with its template variables replaced. */
export function renderTask(task: Task, inputs: Inputs): TaskText {
  return {
    description: renderTemplate(task.description, inputs),
    expectedOutput: renderTemplate(task.expectedOutput, inputs),
  }
}

/** The system and the user message of a task. */
export function firstMessages(
  agent: Agent,
  text: TaskText,
  context: readonly ContextOutput[],
): readonly Message[] {
  return [
    { role: 'system', content: systemPrompt(agent) },
    { role: 'user', content: userPrompt(text, context) },
  ]
}

/** The question that ends a conversation at its iteration limit. */
export const FINAL_ANSWER_REQUEST =
  'You have reached the limit of steps for this task and can call no more tools. ' +
  'Give your best final answer now, from what you have learned so far.'

function systemPrompt({ role, goal, background }: Agent): string {
  return [
    `You are ${role}.`,
    ...(background === undefined ? [] : [background]),
    `Your personal goal is: ${goal}`,
    'Work until the task is done, then answer with the final result only, complete in itself.',
  ].join('\n')
}

function userPrompt(text: TaskText, context: readonly ContextOutput[]): string {
  return [
    ...(context.length === 0 ? [] : [section('Context from Previous Tasks', contextText(context))]),
    section('Task', text.description),
    section('Expected Output', text.expectedOutput),
  ].join('\n\n')
}

function section(title: string, body: string): string {
  return `## ${title}\n${body}`
}

/** The outputs of earlier tasks as one text, as the prompt and the `task_input` event show them. */
export function contextText(context: readonly ContextOutput[]): string {
  return context
    .map(({ agentRole, description, output }) => `### ${agentRole}: ${description}\n${output}\n---`)
    .join('\n')
}
