/** Pure: the messages a task begins with. Sections come in the order that AgentEnsemble uses. */
import { directiveText } from '../steering/directives.ts'

import type { Agent } from '../definition/agent.ts'
import type { Message } from '../model/chat-model.ts'
import type { Directive, Revision, TaskNotes } from '../ports/run-step.ts'
import type { ContextOutput } from '../definition/handler.ts'
import type { TaskText } from '../definition/task-text.ts'

/** Everything that a first prompt is made of. */
export interface PromptParts {
  readonly agent: Agent
  readonly text: TaskText
  readonly context: readonly ContextOutput[]
  /** Additional context by the author of the task or of the run. */
  readonly additionalContext?: string | undefined
  readonly notes: TaskNotes
  readonly attempt: number
  readonly revision: Revision | undefined
  readonly directives: readonly Directive[]
  /** How the answer must be put, when the task declares a schema. */
  readonly outputFormat: string | undefined
}

/** The system and the user message of a task. */
export function firstMessages(parts: PromptParts): readonly Message[] {
  return [
    { role: 'system', content: systemPrompt(parts.agent) },
    { role: 'user', content: userPrompt(parts) },
  ]
}

/** The question that ends a conversation at its iteration limit. */
export const FINAL_ANSWER_REQUEST =
  'You have reached the limit of steps for this task and can call no more tools. ' +
  'Give your best final answer now, from what you have learned so far.'

/** The message that brings directives into a conversation that has begun. */
export function directiveMessage(directives: readonly Directive[]): Message {
  return { role: 'user', content: section('Active Directives', directiveText(directives)) }
}

function systemPrompt({ role, goal, background, responseFormat }: Agent): string {
  return [
    `You are ${role}.`,
    ...(background === undefined ? [] : [background]),
    `Your personal goal is: ${goal}`,
    'Work until the task is done, then answer with the final result only, complete in itself.',
    ...(responseFormat === undefined ? [] : [`Put your answer in this form: ${responseFormat}`]),
  ].join('\n')
}

function userPrompt(parts: PromptParts): string {
  const {
    text,
    context,
    additionalContext = '',
    notes,
    revision,
    attempt,
    directives,
    outputFormat,
  } = parts
  const sections: readonly (string | undefined)[] = [
    ...notes.memories.map((memory) => section(`Memory: ${memory.scope}`, memory.text)),
    context.length === 0 ? undefined : section('Context from Previous Tasks', contextText(context)),
    additionalContext.trim() === '' ? undefined : section('Additional Context', additionalContext),
    notes.improvement === undefined
      ? undefined
      : section('Task Improvement Notes', notes.improvement),
    revision === undefined
      ? undefined
      : section(`Revision Instructions (Attempt ${attempt})`, revisionText(revision)),
    directives.length === 0 ? undefined : section('Active Directives', directiveText(directives)),
    section('Task', text.description),
    section('Expected Output', text.expectedOutput),
    outputFormat === undefined ? undefined : section('Output Format', outputFormat),
  ]
  return sections.filter((part) => part !== undefined).join('\n\n')
}

function revisionText({ feedback, output }: Revision): string {
  const why = feedback.trim() === '' ? 'It was not accepted.' : feedback
  return `A reviewer sent your last answer back: ${why}\n\nYour last answer was:\n${output}`
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
