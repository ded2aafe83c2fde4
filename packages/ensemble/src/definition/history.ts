/** Pure: the conversation before a run. */
import { MAX_HISTORY_BYTES, MAX_HISTORY_MESSAGES } from '@tutti/protocol/internal'

import { countUtf8Bytes } from './template.ts'

import type { Message } from '../model/chat-model.ts'
import type { HistoryMessage, Problem } from '@tutti/protocol/internal'

/**
 * Returns the problems of a conversation: its size, and tool calls and results that do not belong together,
 * because a provider would reject these. At most ten problems are returned.
 */
export function findHistoryProblems(history: readonly HistoryMessage[] = []): readonly Problem[] {
  if (history.length === 0) return []
  if (history.length > MAX_HISTORY_MESSAGES) {
    const message = `must have at most ${MAX_HISTORY_MESSAGES} messages, got ${history.length}`
    return [{ path: '', message }]
  }
  const bytes = countUtf8Bytes(JSON.stringify(history))
  if (bytes > MAX_HISTORY_BYTES) {
    const message = `must have at most ${MAX_HISTORY_BYTES} bytes as JSON, got ${bytes}`
    return [{ path: '', message }]
  }
  return findCallProblems(history).slice(0, MAX_PROBLEMS)
}

/**
 * Returns the problems of a conversation that code made, one text each: it is empty, has system messages, or has unpaired calls.
 */
export function findConversationProblems(messages: readonly Message[]): readonly string[] {
  if (!Array.isArray(messages) || messages.length === 0) return ['must be a list of messages']
  const history: HistoryMessage[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system') return [`message ${index} must not be a system message`]
    history.push(
      message.role === 'assistant' ? { ...message, toolCalls: [...message.toolCalls] } : message,
    )
  }
  return findCallProblems(history)
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => `${path} ${message}`.trim())
}

const MAX_PROBLEMS = 10

/** Maximum length of an id in a message, in characters. */
const MAX_SHOWN_ID = 100

function findCallProblems(history: readonly HistoryMessage[]): readonly Problem[] {
  const problems: Problem[] = []
  const open = new Set<string>()
  const endTurn = (index: number): void => {
    for (const id of open) {
      const before = index === history.length ? 'the end' : `message ${index}`
      const message = `has no result for tool call "${shorten(id)}" before ${before}`
      problems.push({ path: '', message })
    }
    open.clear()
  }
  for (const [index, entry] of history.entries()) {
    if (entry.role === 'tool') {
      if (open.delete(entry.toolCallId)) continue
      const message = `must be the id of a tool call without a result in the assistant message before, got "${shorten(entry.toolCallId)}"`
      problems.push({ path: `/${index}/toolCallId`, message })
      continue
    }
    endTurn(index)
    if (entry.role !== 'assistant') continue
    for (const [position, { id }] of (entry.toolCalls ?? []).entries()) {
      if (open.has(id)) {
        const message = `must be unique within the message, got "${shorten(id)}" again`
        problems.push({ path: `/${index}/toolCalls/${position}/id`, message })
      }
      open.add(id)
    }
  }
  endTurn(history.length)
  return problems
}

function shorten(id: string): string {
  return id.slice(0, MAX_SHOWN_ID).toWellFormed()
}

/** Returns a conversation as messages for a model. The results of tool calls get the names of their tools. */
export function toHistoryModelMessages(
  history: readonly HistoryMessage[] = [],
): readonly Message[] {
  if (history.length === 0) return []
  const names = new Map<string, string>()
  return history.map((entry) => {
    switch (entry.role) {
      case 'user':
        return { role: 'user', content: entry.content }
      case 'assistant': {
        const { content, toolCalls = [] } = entry
        for (const { id, name } of toolCalls) names.set(id, name)
        return { role: 'assistant', content, toolCalls }
      }
      case 'tool': {
        const { toolCallId, content } = entry
        return { role: 'tool', toolCallId, toolName: names.get(toolCallId) ?? '', content }
      }
    }
  })
}
