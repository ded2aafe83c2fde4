/**
 * Fits texts and roles of a conversation to a provider. Pure.
 *
 * An answer without content is left out, because it says nothing. A message of the user or the result of a tool is
 * replaced by a placeholder, because the model must know that it exists. Messages that were left out or added never
 * change the order of the others.
 */
import { changeItems } from './change-items.ts'
import { isWellFormedValue, toWellFormedJson, toWellFormedValue } from './well-formed.ts'

import type { Message } from '@tutti/ensemble/adapter'
import type { AssistantMessage } from '@tutti/ensemble/internal'
import type { BlankRule, ProviderRules } from './rule.ts'

/** Texts that stand for messages without content, and for missing messages. */
const PLACEHOLDERS = {
  user: '(empty message)',
  tool: '(no output)',
  start: '(The conversation begins with an answer.)',
  afterTool: 'Understood.',
  end: 'Continue.',
} as const

/** Returns the messages with well-formed texts; the list itself when all are. */
export function fitTexts(messages: readonly Message[]): readonly Message[] {
  return changeItems(messages, (message) => {
    const content = message.content.toWellFormed()
    if (message.role === 'assistant') return fitAnswerTexts(message, content)
    return content === message.content ? message : { ...message, content }
  })
}

function fitAnswerTexts(message: AssistantMessage, content: string): AssistantMessage {
  const toolCalls = changeItems(message.toolCalls, (call) => {
    const text = toWellFormedJson(call.arguments)
    return text === call.arguments ? call : { ...call, arguments: text }
  })
  const { providerContent } = message
  const isSame =
    content === message.content &&
    toolCalls === message.toolCalls &&
    isWellFormedValue(providerContent?.content)
  if (isSame) return message
  const fitted = { ...message, content, toolCalls }
  if (providerContent === undefined) return fitted
  return { ...fitted, providerContent: toWellFormedValue(providerContent) }
}

/** Returns the messages with accepted contents and roles; the list itself when all are accepted. */
export function fitMessages(
  messages: readonly Message[],
  rules: ProviderRules,
): readonly Message[] {
  const { blank, systemFirst, userFirst, assistantAfterTool, alternation, userLast } = rules
  let fitted = messages
  if (blank !== undefined) fitted = fillBlanks(fitted, blank)
  if (systemFirst !== undefined) fitted = joinSystem(fitted)
  if (userFirst !== undefined) fitted = beginWithUser(fitted)
  if (assistantAfterTool !== undefined) fitted = answerTools(fitted)
  if (alternation !== undefined) fitted = joinTurns(fitted)
  if (userLast !== undefined) fitted = endWithUser(fitted)
  return rules.trailingSpace === undefined ? fitted : trimEnd(fitted)
}

/** Returns whether a text counts as blank. */
export function isBlank(text: string, { blank }: Pick<BlankRule, 'blank'>): boolean {
  return blank === 'empty' ? text === '' : !/\S/.test(text)
}

function fillBlanks(messages: readonly Message[], rule: BlankRule): readonly Message[] {
  const filled = changeItems<Message | undefined>(messages, (message) => {
    if (message === undefined || !rule.roles.includes(message.role)) return message
    if (!isBlank(message.content, rule)) return message
    switch (message.role) {
      case 'user':
      case 'tool':
        return { ...message, content: PLACEHOLDERS[message.role] }
      case 'assistant': {
        if (message.toolCalls.length === 0) return undefined
        return message.content === '' ? message : { ...message, content: '' }
      }
      default:
        return undefined
    }
  })
  return filled === messages ? messages : filled.filter((message) => message !== undefined)
}

/** Moves all system messages to one at the start. */
function joinSystem(messages: readonly Message[]): readonly Message[] {
  if (messages.every(({ role }, index) => role !== 'system' || index === 0)) return messages
  const isSystem = ({ role }: Message): boolean => role === 'system'
  const content = messages.filter(isSystem).map((message) => message.content)
  const others = messages.filter((message) => !isSystem(message))
  return [{ role: 'system', content: content.join('\n\n') }, ...others]
}

function beginWithUser(messages: readonly Message[]): readonly Message[] {
  const start = messages.findIndex(({ role }) => role !== 'system')
  if (messages[start]?.role !== 'assistant') return messages
  return messages.toSpliced(start, 0, { role: 'user', content: PLACEHOLDERS.start })
}

function answerTools(messages: readonly Message[]): readonly Message[] {
  const isOpen = ({ role }: Message, index: number): boolean =>
    role === 'user' && messages[index - 1]?.role === 'tool'
  if (!messages.some(isOpen)) return messages
  const answer = { role: 'assistant', content: PLACEHOLDERS.afterTool, toolCalls: [] } as const
  return messages.flatMap((message, index) =>
    isOpen(message, index) ? [answer, message] : message,
  )
}

/** Joins consecutive messages of the user, and consecutive answers. */
function joinTurns(messages: readonly Message[]): readonly Message[] {
  const joined: Message[] = []
  for (const message of messages) {
    const both = joinTwo(joined.at(-1), message)
    if (both === undefined) joined.push(message)
    else joined[joined.length - 1] = both
  }
  return joined.length === messages.length ? messages : joined
}

function joinTwo(first: Message | undefined, second: Message): Message | undefined {
  if (first?.role === 'user' && second.role === 'user') {
    return { role: 'user', content: joinTexts(first, second) }
  }
  if (first?.role !== 'assistant' || second.role !== 'assistant') return undefined
  if (first.toolCalls.length > 0) return undefined
  return { ...second, content: joinTexts(first, second) }
}

function joinTexts(...messages: readonly Message[]): string {
  return messages
    .map(({ content }) => content)
    .filter((content) => content !== '')
    .join('\n\n')
}

function endWithUser(messages: readonly Message[]): readonly Message[] {
  if (messages.at(-1)?.role !== 'assistant') return messages
  return [...messages, { role: 'user', content: PLACEHOLDERS.end }]
}

function trimEnd(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || !/\s$/.test(last.content)) return messages
  return [...messages.slice(0, -1), { ...last, content: last.content.trimEnd() }]
}
