/** Checks conversations and tools by the table of provider rules, with the error texts of the providers. Pure. */
import { isBlank } from '../rules/fit-messages.ts'
import { fieldsIn, listSchemas } from '../rules/map-schema.ts'
import { isAccepted } from '../rules/names.ts'
import { PROVIDER_RULES } from '../rules/provider-rules.ts'
import { isWellFormedValue } from '../rules/well-formed.ts'

import type { NameRule, ProviderRules, Rule } from '../rules/rule.ts'

/** The parts of a received request that have rules. */
export interface CheckedRequest {
  readonly body: unknown
  readonly messages: readonly CheckedMessage[]
  readonly tools: readonly CheckedTool[]
}

/** A received message. */
export interface CheckedMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  /** Path of the message in the request. */
  readonly at: string
  /** Text; undefined for content that may be blank. */
  readonly text: string | undefined
  readonly calls: readonly CheckedCall[]
}

/** A received tool call. */
export interface CheckedCall {
  readonly id: string
  /** Path of the id. */
  readonly idAt: string
  readonly name: string
  /** Path of the name. */
  readonly nameAt: string
}

/** A received tool. */
export interface CheckedTool {
  readonly name: string
  /** Path of the name. */
  readonly at: string
  readonly schema: unknown
  /** Path of the schema; its parts are then joined with dots. @default a tuple of its parts, as OpenAI reports it */
  readonly schemaAt?: string
}

/**
 * Returns the rules of a provider.
 *
 * @throws {TypeError} for a provider that the table does not have.
 */
export function rulesOf(provider: string): ProviderRules {
  const rules = Object.hasOwn(PROVIDER_RULES, provider) ? PROVIDER_RULES[provider] : undefined
  if (rules === undefined) {
    const known = Object.keys(PROVIDER_RULES).join(', ')
    throw new TypeError(`Unknown service "${provider}", expected one of: ${known}`)
  }
  return rules
}

/** Returns the error of the provider with these rules, or undefined for a request that it accepts. */
export function findRuleProblem(request: CheckedRequest, rules: ProviderRules): string | undefined {
  if (!isWellFormedValue(request.body)) return rules.surrogates.refusal
  return (
    findFirst(request.tools, (tool) => findToolProblem(tool, rules)) ??
    findFirst(request.messages, (message) => findCallProblem(message, rules)) ??
    findRepeatedId(request.messages, rules) ??
    findFirst(request.messages, (message) => findBlank(message, rules)) ??
    findOrderProblem(request.messages, rules)
  )
}

/** Returns the error text of a rule. */
export function refuse({ refusal }: Rule, values: Readonly<Record<string, string>> = {}): string {
  return refusal.replaceAll(
    /\{(\w+)\}/g,
    (placeholder, name: string) => values[name] ?? placeholder,
  )
}

function findFirst<T>(
  list: readonly T[],
  find: (item: T) => string | undefined,
): string | undefined {
  for (const item of list) {
    const problem = find(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

function findNameProblem(name: string, rule: NameRule | undefined, at: string): string | undefined {
  if (rule === undefined || isAccepted(name, rule)) return undefined
  return refuse(rule, { at, value: name, length: String(name.length) })
}

function findToolProblem(tool: CheckedTool, rules: ProviderRules): string | undefined {
  const { propertyName, arrayItems, objectProperties, tupleItems } = rules
  const value = tool.name
  if (objectProperties !== undefined && fieldsIn(tool.schema)['properties'] === undefined) {
    return refuse(objectProperties, { at: toPath(tool, []), value })
  }
  return (
    findNameProblem(tool.name, rules.toolName, tool.at) ??
    findFirst(listSchemas(tool.schema), ({ path, fields }) => {
      const { type, items, properties } = fields
      if (arrayItems !== undefined && [type].flat().includes('array') && items === undefined) {
        return refuse(arrayItems, { at: toPath(tool, path), value })
      }
      if (tupleItems !== undefined && Array.isArray(items)) {
        return refuse(tupleItems, { at: toPath(tool, []) })
      }
      const at = toPath(tool, [...path, 'properties'])
      return findFirst(Object.keys(fieldsIn(properties)), (name) =>
        findNameProblem(name, propertyName, at),
      )
    })
  )
}

function toPath({ schemaAt }: CheckedTool, path: readonly string[]): string {
  if (schemaAt !== undefined) return [schemaAt, ...path].join('.')
  return `(${path.map((part) => `'${part}'`).join(', ')}${path.length === 1 ? ',' : ''})`
}

function findCallProblem({ calls }: CheckedMessage, rules: ProviderRules): string | undefined {
  return findFirst(
    calls,
    ({ id, idAt, name, nameAt }) =>
      findNameProblem(id, rules.toolCallId, idAt) ?? findNameProblem(name, rules.toolName, nameAt),
  )
}

function findRepeatedId(
  messages: readonly CheckedMessage[],
  { uniqueToolCallIds }: ProviderRules,
): string | undefined {
  if (uniqueToolCallIds === undefined) return undefined
  const seen = new Set<string>()
  const calls = messages.flatMap((message) => message.calls)
  return findFirst(calls, ({ id, idAt }) => {
    if (seen.has(id)) return refuse(uniqueToolCallIds, { at: idAt.replace('.tool_use.id', '') })
    seen.add(id)
    return undefined
  })
}

function findBlank(
  { role, at, text, calls }: CheckedMessage,
  { blank }: ProviderRules,
): string | undefined {
  if (blank === undefined || text === undefined || calls.length > 0) return undefined
  if (!blank.roles.includes(role) || !isBlank(text, blank)) return undefined
  return refuse(blank, { at })
}

function findOrderProblem(
  messages: readonly CheckedMessage[],
  rules: ProviderRules,
): string | undefined {
  const { systemFirst, userFirst, userLast, trailingSpace } = rules
  const first = messages.find(({ role }) => role !== 'system')
  const last = messages.at(-1)
  const late = messages.find(
    ({ role }, index) =>
      role === 'system' &&
      messages[index - 1]?.role !== undefined &&
      messages[index - 1]?.role !== 'system',
  )
  if (systemFirst !== undefined && late !== undefined) return refuse(systemFirst, { at: late.at })
  if (userFirst !== undefined && first?.role === 'assistant') return refuse(userFirst)
  const order = findFirst(
    messages.map((message, index) => [messages[index - 1]?.role, message.role] as const),
    ([before, role]) => findTurnProblem(before, role, rules),
  )
  if (order !== undefined || last?.role !== 'assistant') return order
  if (userLast !== undefined) return refuse(userLast)
  return trailingSpace !== undefined && /\s$/.test(last.text ?? '')
    ? refuse(trailingSpace)
    : undefined
}

function findTurnProblem(
  before: CheckedMessage['role'] | undefined,
  role: CheckedMessage['role'],
  { alternation, assistantAfterTool }: ProviderRules,
): string | undefined {
  if (assistantAfterTool !== undefined && before === 'tool' && role === 'user') {
    return refuse(assistantAfterTool)
  }
  const isTurn = role === 'user' || role === 'assistant'
  return alternation !== undefined && isTurn && before === role ? refuse(alternation) : undefined
}
