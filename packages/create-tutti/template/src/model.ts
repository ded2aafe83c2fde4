/** Selects the model of the agents: a real one if its key is set, otherwise one that follows rules. */
import { langchainModel } from '@tutti/langchain'

import { ruleModel } from './rule-model.ts'

import type { ChatModel } from '@tutti/ensemble/adapter'

/** Variable with the key of a provider → model to use when it is set. */
const MODELS = {
  ANTHROPIC_API_KEY: 'anthropic:claude-haiku-4-5',
  OPENAI_API_KEY: 'openai:gpt-5-mini',
}

/** Returns the model; `MODEL=provider:name` selects any other one. The provider is not called before the first run. */
export function chooseModel(variables: Readonly<Record<string, string | undefined>>): ChatModel {
  const [, defaultModel] = Object.entries(MODELS).find(([key]) => variables[key]) ?? []
  const source = variables['MODEL'] || defaultModel
  return source === undefined ? ruleModel() : langchainModel(source)
}
