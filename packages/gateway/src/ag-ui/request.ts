/**
 * Pure: reads the conversation of a request.
 *
 * GW-Y12 The last message is the user's: its text has the inputs of the ensemble. The messages before it are the history
 *    of the run.
 * GW-Y13 System messages and the application's context are instructions for the agents. Activities and
 *    reasoning belong to the client and are not sent to agents.
 * GW-Y14 A call without a result, as a cancelled run leaves it behind, is not part of the history.
 */

import { badRequest } from '../http/api-error.ts'

import type { ReviewDecisionBody } from '@tutti/protocol'
import type { ClientToolBody, HistoryMessage, Problem } from '@tutti/protocol/internal'
import type { AguiInput, AguiMessage, AguiTool } from './wire.ts'

/** The conversation of a request. */
export interface AguiConversation {
  /** Text of the newest message; empty when there are no messages. */
  readonly text: string
  /** Messages before it, oldest first. */
  readonly history: readonly HistoryMessage[]
  /** Texts of the application: messages of the system, and the context. */
  readonly instructions: string
}

/**
 * Reads the conversation of a request that begins a run.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function readAguiConversation({
  messages,
  context = [],
}: Pick<AguiInput, 'messages' | 'context'>): AguiConversation {
  const problems: readonly Problem[] = [
    ...messages.flatMap((message, index) => findMessageProblems(message, `/messages/${index}`)),
    ...findLastProblems(messages),
  ]
  if (problems.length > 0) throw badRequest('request body', problems)
  const newest = messages.at(-1)
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer')
  return {
    text: newest === undefined ? '' : readMessageText(newest),
    history: toHistory(messages.slice(0, -1)),
    instructions: [
      ...system.map(readMessageText),
      ...context.map(({ description, value }) => `${description}: ${value}`),
    ].join('\n\n'),
  }
}

/**
 * Reads the tools that the client executes.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function readClientTools(tools: readonly AguiTool[]): readonly ClientToolBody[] {
  const problems = tools.flatMap(({ parameters }, index) =>
    parameters === undefined || isObject(parameters)
      ? []
      : [{ path: `/tools/${index}/parameters`, message: 'must be a JSON Schema of an object' }],
  )
  if (problems.length > 0) throw badRequest('request body', problems)
  return tools.map(({ name, description = '', parameters }) => ({
    name,
    ...(description.trim() === '' ? {} : { description }),
    inputSchema: isObject(parameters) ? parameters : { type: 'object', properties: {} },
  }))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the messages at the end of a conversation that can be results of client tools. */
export function lastResults(messages: readonly AguiMessage[]): readonly AguiMessage[] {
  const last = messages.findLastIndex(({ role }) => role !== 'tool' && !isOfClient(role))
  return messages.slice(last + 1).filter(({ role }) => role === 'tool')
}

/** Reads the result of a client tool as the decision of its review. */
export function readResult({ error, ...message }: AguiMessage): ReviewDecisionBody {
  if (error !== undefined) return { decision: 'REJECT', feedback: error }
  return { decision: 'EDIT', revisedOutput: readMessageText(message) }
}

function findLastProblems(messages: readonly AguiMessage[]): readonly Problem[] {
  const role = messages.at(-1)?.role
  if (role === undefined || role === 'user') return []
  const text = `must be a message of the user, or the result of a call that a run waits for; got "${role}"`
  return [{ path: `/messages/${messages.length - 1}`, message: text }]
}

function findMessageProblems(
  { role, content, toolCallId }: AguiMessage,
  path: string,
): readonly Problem[] {
  if (isOfClient(role)) return []
  const problems: Problem[] = []
  if (role === 'tool' && toolCallId === undefined) {
    problems.push({ path: `${path}/toolCallId`, message: 'is required' })
  }
  if (typeof content === 'string') return problems
  if (content === undefined) {
    if (role !== 'assistant') problems.push({ path: `${path}/content`, message: 'is required' })
    return problems
  }
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content]
  for (const [index, part] of parts.entries()) {
    if (textOf(part) === undefined) {
      const message = 'must be a text; images, audio, video and documents are not supported'
      problems.push({ path: `${path}/content/${index}`, message })
    }
  }
  return problems
}

/** Whether messages of a role are shown by the client only. */
function isOfClient(role: AguiMessage['role']): boolean {
  return role === 'activity' || role === 'reasoning'
}

/** Returns the text of a part; undefined for other media. */
function textOf(part: unknown): string | undefined {
  if (typeof part !== 'object' || part === null || !('text' in part)) return undefined
  return typeof part.text === 'string' ? part.text : undefined
}

/** Returns the text of a message. */
export function readMessageText({ content }: Pick<AguiMessage, 'content'>): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map((part) => textOf(part) ?? '').join('') : ''
}

function toHistory(messages: readonly AguiMessage[]): readonly HistoryMessage[] {
  const answered = new Set(
    messages.flatMap(({ role, toolCallId }) => (role === 'tool' ? toolCallId : [])),
  )
  return messages.flatMap((message): readonly HistoryMessage[] => {
    const { role, toolCallId, error, toolCalls: given = [] } = message
    const content = readMessageText(message)
    switch (role) {
      case 'user':
        return [{ role, content }]
      case 'assistant': {
        const toolCalls = given.flatMap(({ id, function: { name, arguments: text } }) =>
          answered.has(id) ? [{ id, name, arguments: text }] : [],
        )
        if (toolCalls.length > 0) return [{ role, content, toolCalls }]
        return content === '' ? [] : [{ role, content }]
      }
      case 'tool':
        return [{ role, toolCallId: toolCallId ?? '', content: error ?? content }]
      default:
        return []
    }
  })
}
