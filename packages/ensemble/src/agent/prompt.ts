/** Pure: the first messages of a task, with their sections in a fixed order. */
import { cachePerObject } from '@tutti/core/internal'

import { renderDirectives } from '../steering/directives.ts'
import { DEFAULT_EXPECTED_OUTPUT } from '../definition/task.ts'

import type { Agent } from '../definition/agent.ts'
import type { Message } from '../model/chat-model.ts'
import type { Directive, Revision, TaskNotes } from '../ports/run-step.ts'
import type { ContextOutput } from '../definition/handler.ts'
import type { TaskText } from '../definition/task-text.ts'

/** Parts of a first prompt. */
export interface PromptParts {
  readonly agent: Agent
  readonly text: TaskText
  /** System message instead of that of the agent; an empty text sends none. */
  readonly instructions?: string | undefined
  /** Conversation that the agent received, in place of all other parts but the directives. */
  readonly received?: readonly Message[] | undefined
  /** Messages of the conversation before the run. */
  readonly history: readonly Message[]
  readonly context: readonly ContextOutput[]
  /** Additional context from the author of the task or of the run. */
  readonly additionalContext?: string | undefined
  readonly notes: TaskNotes
  readonly attempt: number
  readonly revision: Revision | undefined
  readonly directives: readonly Directive[]
  /** Instruction on the form of the answer, when the task declares a schema. */
  readonly outputFormat: string | undefined
}

/**
 * Returns the first messages of a task: system message, conversation before the run, and user message; after a handoff, the
 * system message and the conversation.
 */
export function createFirstMessages(parts: PromptParts): readonly Message[] {
  const { agent, instructions = renderSystemPrompt(agent), history, received, directives } = parts
  const system: readonly Message[] =
    instructions === '' ? [] : [{ role: 'system', content: instructions }]
  if (received !== undefined) {
    const added = directives.length === 0 ? [] : [createDirectiveMessage(directives)]
    return [...system, ...received, ...added]
  }
  const user = { role: 'user', content: renderUserPrompt(parts) } as const
  return [...system, ...history, user]
}

/** Request for the answer at the iteration limit. */
export const FINAL_ANSWER_REQUEST =
  'You have reached the limit of steps for this task and can call no more tools. ' +
  'Give your best final answer now, from what you have learned so far.'

/** Returns the message that adds directives to a conversation that has begun. */
export function createDirectiveMessage(directives: readonly Directive[]): Message {
  return { role: 'user', content: renderSection('Active Directives', renderDirectives(directives)) }
}

const renderSystemPrompt = cachePerObject((agent: Agent): string => {
  const { role, goal, background, responseFormat } = agent
  const lines = [`You are ${role}.`]
  if (background !== undefined) lines.push(background)
  if (goal !== undefined) lines.push(`Your personal goal is: ${goal}`)
  lines.push(
    'Work until the task is done, then answer with the final result only, complete in itself.',
  )
  if (responseFormat !== undefined) lines.push(`Put your answer in this form: ${responseFormat}`)
  return lines.join('\n')
})

function renderUserPrompt(parts: PromptParts): string {
  const { text, context, additionalContext = '', notes, revision, directives } = parts
  const sections: string[] = []
  const add = (title: string, body: string): void => {
    sections.push(renderSection(title, body))
  }
  for (const memory of notes.memories) add(`Memory: ${memory.scope}`, memory.text)
  if (context.length > 0) add('Context from Previous Tasks', renderContext(context))
  if (additionalContext.trim() !== '') add('Additional Context', additionalContext)
  if (notes.improvement !== undefined) add('Task Improvement Notes', notes.improvement)
  if (revision !== undefined) {
    add(`Revision Instructions (Attempt ${parts.attempt})`, renderRevision(revision))
  }
  if (directives.length > 0) add('Active Directives', renderDirectives(directives))
  if (parts.instructions === undefined) {
    add('Task', text.description)
    add('Expected Output', text.expectedOutput)
  } else {
    sections.push(text.description)
    if (text.expectedOutput !== DEFAULT_EXPECTED_OUTPUT) add('Expected Output', text.expectedOutput)
  }
  if (parts.outputFormat !== undefined) add('Output Format', parts.outputFormat)
  return sections.join('\n\n')
}

function renderRevision({ feedback, output }: Revision): string {
  const why = feedback.trim() === '' ? 'It was not accepted.' : feedback
  return `A reviewer sent your last answer back: ${why}\n\nYour last answer was:\n${output}`
}

function renderSection(title: string, body: string): string {
  return `## ${title}\n${body}`
}

/** Returns the outputs of earlier tasks as one text, as in the prompt and in the `task_input` event. */
export function renderContext(context: readonly ContextOutput[]): string {
  return context
    .map(({ agentRole, description, output }) => `### ${agentRole}: ${description}\n${output}\n---`)
    .join('\n')
}
