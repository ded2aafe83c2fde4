/** Pure: whether the models have what their providers ask for. */
import { modelsOf } from '../../prices.ts'
import { findingsOf, type Finding } from './finding.ts'

import type { TuttiConfig } from '../../config.ts'
import type { ChatModel } from '@tutti/ensemble'

/** Provider, as LangChain calls it → the variables of which one holds its key. */
const KEY_VARIABLES: ReadonlyMap<string, readonly string[]> = new Map([
  ['anthropic', ['ANTHROPIC_API_KEY']],
  ['azure_openai', ['AZURE_OPENAI_API_KEY']],
  ['cerebras', ['CEREBRAS_API_KEY']],
  ['cohere', ['COHERE_API_KEY']],
  ['deepseek', ['DEEPSEEK_API_KEY']],
  ['fireworks', ['FIREWORKS_API_KEY']],
  ['google-genai', ['GOOGLE_API_KEY']],
  ['groq', ['GROQ_API_KEY']],
  ['mistralai', ['MISTRAL_API_KEY']],
  ['openai', ['OPENAI_API_KEY']],
  ['openrouter', ['OPENROUTER_API_KEY']],
  ['perplexity', ['PERPLEXITY_API_KEY']],
  ['together', ['TOGETHER_AI_API_KEY']],
  ['xai', ['XAI_API_KEY']],
])

/** Checks the models of the ensembles and of the catalog, a line for each provider. */
export function checkModels(
  { ensembles, models = {} }: Pick<TuttiConfig, 'ensembles' | 'models'>,
  variables: NodeJS.ProcessEnv,
): readonly Finding[] {
  const { ok, warning } = findingsOf('models')
  const named = [...ensembles.flatMap(modelsOf), ...Object.values(models).map(identityOf)]
  const providers = Map.groupBy(named, ({ provider }) => provider)
  if (providers.size === 0)
    return [warning('No ensemble names a model', 'Give the ensemble a model')]
  return [...providers].map(([provider, used]) => {
    const list = [...new Set(used.map(({ name }) => name))].join(', ')
    const keys = KEY_VARIABLES.get(provider)
    if (keys === undefined) return ok(`${provider}: ${list}`)
    if (keys.some((key) => isSet(variables[key])))
      return ok(`${provider}: ${list}; ${keys[0]} is set`)
    return warning(
      `${provider}: ${list}; ${keys.join(' or ')} is not set`,
      'Set it, unless the config gives the model its key in another way',
    )
  })
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== ''
}

function identityOf(model: ChatModel | string): Pick<ChatModel, 'provider' | 'name'> {
  if (typeof model !== 'string') return model
  const [provider = '', ...name] = model.split(':')
  return { provider, name: name.join(':') }
}
