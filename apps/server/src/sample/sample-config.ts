/** The config of a server without a config file. */
import { langchainModel } from '@tutti/langchain'

import { measureText, readArticle, searchLibrary } from './library-tools.ts'
import { reviewedEnsemble } from './reviewed-ensemble.ts'
import { sampleEnsemble } from './sample-ensemble.ts'
import { sampleModel } from './sample-model.ts'

import type { TuttiConfig } from '../config/config.ts'
import type { Environment, Provider } from '../environment/env.ts'

/** Small, current models of each provider; `TUTTI_MODEL` selects another. */
const DEFAULT_MODELS: Readonly<Record<Provider, string>> = {
  anthropic: 'anthropic:claude-haiku-4-5',
  openai: 'openai:gpt-5-mini',
}

/** Returns the sample ensembles, with a real model if a provider key is set, otherwise with the scripted model. */
export function sampleConfig(environment: Environment): TuttiConfig {
  const source = findModelSource(environment)
  const model = source === undefined ? sampleModel() : langchainModel(source)
  return {
    ensembles: [sampleEnsemble(model), reviewedEnsemble(model)],
    tools: [searchLibrary, readArticle, measureText],
    models: { default: model },
  }
}

/** Returns the message of a server that starts without a config file. */
export function sampleNotice(environment: Environment): string {
  const source = findModelSource(environment)
  const model =
    source === undefined
      ? 'a scripted model that follows fixed rules and needs no key.\n' +
        'Set ANTHROPIC_API_KEY or OPENAI_API_KEY to use a real model'
      : source
  return `No tutti.config.ts: serving the sample ensembles "briefing" and "reviewed-briefing" on ${model}.\n`
}

function findModelSource({ sampleModel: named, providers }: Environment): string | undefined {
  const [provider] = providers
  return named ?? (provider === undefined ? undefined : DEFAULT_MODELS[provider])
}
