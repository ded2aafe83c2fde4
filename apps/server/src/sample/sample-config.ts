/** What a server runs when nothing is configured. */
import { langchainModel } from '@tutti/langchain'

import { reviewedEnsemble } from './reviewed-ensemble.ts'
import { sampleEnsemble } from './sample-ensemble.ts'
import { sampleModel } from './sample-model.ts'

import type { TuttiConfig } from '../config/config.ts'
import type { Environment, Provider } from '../environment/env.ts'

/** Small, current models of each provider; `TUTTI_MODEL` names another. */
const DEFAULT_MODELS: Readonly<Record<Provider, string>> = {
  anthropic: 'anthropic:claude-haiku-4-5',
  openai: 'openai:gpt-5-mini',
}

/** The sample ensembles, on a real provider as soon as one has a key, else on the scripted model. */
export function sampleConfig(environment: Environment): TuttiConfig {
  const source = modelSource(environment)
  const model = source === undefined ? sampleModel() : langchainModel(source)
  return {
    ensembles: [sampleEnsemble(model), reviewedEnsemble(model)],
    models: { default: model },
  }
}

/** What the server says when it starts with nothing configured. */
export function sampleNotice(environment: Environment): string {
  const source = modelSource(environment)
  const model =
    source === undefined
      ? 'a scripted model that needs no key: it only follows rules.\n' +
        'Set ANTHROPIC_API_KEY or OPENAI_API_KEY to use a real one'
      : source
  return `No tutti.config.ts: serving the sample ensembles "briefing" and "reviewed-briefing" on ${model}.\n`
}

function modelSource({ sampleModel: named, providers }: Environment): string | undefined {
  const [provider] = providers
  return named ?? (provider === undefined ? undefined : DEFAULT_MODELS[provider])
}
