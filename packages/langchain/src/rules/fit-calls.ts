/**
 * Fits tool calls in a conversation to a provider: their ids, the names of tools and properties, and the same in
 * the content that the provider expects back. No I/O.
 */
import { changeItems } from './change-items.ts'
import { isFields, mapValues } from './map-schema.ts'
import { isAccepted, replaceName } from './names.ts'
import { renameKeys } from './rename-keys.ts'

import type { ToolCall } from '@tutti/core'
import type { Message } from '@tutti/ensemble/adapter'
import type { AssistantMessage } from '@tutti/ensemble/internal'
import type { PreparedTools } from './prepare-tools.ts'
import type { ProviderRules } from './rule.ts'

/** Returns the messages with accepted ids and names; the list itself when all are accepted. */
export function fitCalls(
  messages: readonly Message[],
  rules: ProviderRules,
  tools: PreparedTools,
): readonly Message[] {
  const ids = new CallIds(rules)
  const names = new ToolNames(rules, tools)
  return changeItems(messages, (message) => {
    switch (message.role) {
      case 'assistant':
        return fitAnswer(message, ids, names)
      case 'tool': {
        const toolCallId = ids.ofResult(message.toolCallId)
        const toolName = message.toolName === '' ? '' : names.toSent(message.toolName)
        const isSame = toolCallId === message.toolCallId && toolName === message.toolName
        return isSame ? message : { ...message, toolCallId, toolName }
      }
      default:
        return message
    }
  })
}

function fitAnswer(message: AssistantMessage, ids: CallIds, names: ToolNames): AssistantMessage {
  if (message.toolCalls.length === 0) return message
  const turn = ids.openTurn(message.toolCalls)
  const toolCalls = changeItems(message.toolCalls, (call) => {
    const id = turn.get(call.id) ?? call.id
    const name = names.toSent(call.name)
    const args = names.toSentArguments(call)
    const isSame = id === call.id && name === call.name && args === call.arguments
    return isSame ? call : { ...call, id, name, arguments: args }
  })
  if (toolCalls === message.toolCalls) return message
  const { providerContent } = message
  if (providerContent === undefined) return { ...message, toolCalls }
  const content = renameIds(providerContent.content, turn)
  return { ...message, toolCalls, providerContent: { ...providerContent, content } }
}

/**
 * Ids of one conversation. Each call is fitted in order, so that further messages do not change the ids of earlier
 * ones. Results belong to the calls of the assistant message before them.
 */
class CallIds {
  readonly #rules: ProviderRules
  readonly #taken = new Set<string>()
  readonly #known = new Map<string, string>()
  #turn: ReadonlyMap<string, string> = new Map()

  constructor(rules: ProviderRules) {
    this.#rules = rules
  }

  /** Returns the ids of the calls of an answer by their own ids. */
  openTurn(calls: readonly ToolCall[]): ReadonlyMap<string, string> {
    this.#turn = new Map(calls.map(({ id }) => [id, this.#fit(id)]))
    return this.#turn
  }

  ofResult(id: string): string {
    return this.#turn.get(id) ?? this.#fit(id)
  }

  #fit(id: string): string {
    const { toolCallId, uniqueToolCallIds } = this.#rules
    const known = uniqueToolCallIds === undefined ? this.#known.get(id) : undefined
    if (known !== undefined) return known
    const isFree = isAccepted(id, toolCallId) && !this.#taken.has(id)
    const fitted = isFree ? id : replaceName(id, toolCallId, this.#taken)
    this.#taken.add(fitted)
    this.#known.set(id, fitted)
    return fitted
  }
}

/** Names of tools in one conversation, also of tools that the request no longer has. */
class ToolNames {
  readonly #rules: ProviderRules
  readonly #tools: PreparedTools
  readonly #others = new Map<string, string>()

  constructor(rules: ProviderRules, tools: PreparedTools) {
    this.#rules = rules
    this.#tools = tools
  }

  toSent(name: string): string {
    const sent = this.#tools.sent.get(name)?.name ?? this.#others.get(name)
    if (sent !== undefined) return sent
    if (isAccepted(name, this.#rules.toolName)) return name
    const taken = new Set([...this.#tools.received.keys(), ...this.#others.values()])
    const replacement = replaceName(name, this.#rules.toolName, taken)
    this.#others.set(name, replacement)
    return replacement
  }

  toSentArguments({ name, arguments: text }: ToolCall): string {
    const properties = this.#tools.sent.get(name)?.properties
    return properties === undefined ? text : renameKeys(text, properties)
  }
}

/** Fields in which the content of a provider refers to a call. */
const ID_FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['tool_use', 'id'],
  ['function_call', 'call_id'],
])

function renameIds(content: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(content)) return content.map((part) => renameIds(part, ids))
  if (!isFields(content)) return content
  const field = ID_FIELDS.get(content['type'])
  const id = field === undefined ? undefined : ids.get(String(content[field]))
  const fitted = field === undefined || id === undefined ? content : { ...content, [field]: id }
  return mapValues(fitted, (part) => renameIds(part, ids))
}
