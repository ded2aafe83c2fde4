/** Which model the agents use: a real one as soon as its key is set, else one that follows rules. */
import { langchainModel } from '@tutti/langchain'

import { ruleModel } from './rule-model.ts'

import type { ChatModel } from '@tutti/ensemble'

/** The variable that holds the key of a provider, and the model that is used when it is set. */
const MODELS = {
  ANTHROPIC_API_KEY: 'anthropic:claude-haiku-4-5',
  OPENAI_API_KEY: 'openai:gpt-5-mini',
}

/** `MODEL=provider:name` names any other model. Nothing is asked of a provider before the first run. */
export function chooseModel(variables: Readonly<Record<string, string | undefined>>): ChatModel {
  const [, byKey] = Object.entries(MODELS).find(([key]) => variables[key]) ?? []
  const source = variables['MODEL'] || byKey
  return source === undefined ? ruleModel() : langchainModel(source)
}
