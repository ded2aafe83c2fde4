/**
 * Copies a LangChain model of the application with other settings. The prototype of a copy is the model, so
 * that it inherits everything else, and the model itself does not change.
 */
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

type Settings = Readonly<Record<string, unknown>>

/** Names of the output limit in the provider classes. */
const LIMITS = ['maxTokens', 'maxOutputTokens', 'numPredict']

/**
 * Returns the settings that limit the answers of `model` to a number of tokens; none when its class has no
 * such field.
 */
export function findLimits(model: BaseChatModel, limit: number): Settings {
  const names = LIMITS.filter((name) => name in model)
  return Object.fromEntries(names.map((name) => [name, limit]))
}

/** Copies `model` with `settings`, also where its class stores them twice. */
export function copyWith(model: BaseChatModel, settings: Settings): BaseChatModel {
  const copies: Record<string, unknown> = { ...settings }
  // OpenAI's class delegates to one of two others, and recreates itself from its fields to bind tools.
  for (const part of ['completions', 'responses']) {
    const inner = copyPart(model, part)
    if (inner !== undefined) copies[part] = derive(inner, settings)
  }
  const fields = copyPart(model, 'fields')
  if (fields !== undefined) copies['fields'] = { ...fields, ...settings }
  // Google's class gives its settings to its client when it is made.
  const client = copyPart(model, 'client')
  const config = client === undefined ? undefined : copyPart(client, 'generationConfig')
  if (client !== undefined && config !== undefined) {
    copies['client'] = derive(client, { generationConfig: { ...config, ...settings } })
  }
  // NOTE: boundary cast: its prototype is the model.
  return derive(model, copies) as BaseChatModel
}

function derive(prototype: object, values: Settings): object {
  const entries = Object.entries(values).map(([name, value]) => {
    return [name, { value, writable: true, enumerable: true, configurable: true }] as const
  })
  return Object.create(prototype, Object.fromEntries(entries)) as object
}

function copyPart(value: object, name: string): object | undefined {
  const part: unknown = Reflect.get(value, name)
  return typeof part === 'object' && part !== null ? part : undefined
}
