/** Checks of variables, ensembles, models and budgets. */
import { createRequire } from 'node:module'
import { join } from 'node:path'

import type { ChatModel } from '@tutti/ensemble/adapter'
import { findUnpriced, inputVariables } from '@tutti/ensemble/internal'
import { providerFacts } from '@tutti/langchain/internal'
import { suggest } from '@tutti/protocol/internal'

import { findingsFor, type Finding } from './finding.ts'
import {
  CLIENT_VARIABLES,
  SERVER_VARIABLES,
  type ProcessVariables,
} from '../environment/env-table.ts'
import { isSet } from '../environment/env.ts'
import { listModels, pricesFor } from '../prices.ts'

import type { TuttiConfig } from '../config/config.ts'

/** Warns of each unknown variable whose name starts with TUTTI_. */
export function checkVariables(variables: ProcessVariables): readonly Finding[] {
  const { warning } = findingsFor('environment')
  const known = [...SERVER_VARIABLES, ...CLIENT_VARIABLES].map(({ name }) => name)
  return Object.keys(variables)
    .filter((name) => name.startsWith('TUTTI_') && !known.includes(name))
    .map((name) => {
      const meant = suggest(name, known)
      const advice = meant === undefined ? 'Remove it; it has no effect' : `Did you mean ${meant}?`
      return warning(`Unknown variable ${name}`, advice)
    })
}

/** Shows the command that starts each ensemble, with its inputs; the first ensemble is the default. */
export function checkInputs({ ensembles }: Pick<TuttiConfig, 'ensembles'>): readonly Finding[] {
  const { ok } = findingsFor('ensemble')
  return ensembles.map(({ name, tasks }, index) => {
    const inputs = inputVariables(tasks)
    const example = inputs.map((input) => ` ${input}=…`).join('')
    const count = `${tasks.length} task${tasks.length === 1 ? '' : 's'}`
    return ok(`"${name}", ${count}: tutti run${index === 0 ? '' : ` ${name}`}${example}`)
  })
}

/** Facts that the check of models needs in addition to the config. */
export interface ModelCheckContext {
  readonly variables: ProcessVariables
  /** Whether an npm package can be imported. @default looks next to this program and in the working directory */
  readonly isInstalled?: (name: string) => boolean
}

/** Checks the models of the ensembles and of the catalog, with one finding for each provider. */
export function checkModels(
  { ensembles, models = {} }: Pick<TuttiConfig, 'ensembles' | 'models'>,
  { variables, isInstalled = canBeImported }: ModelCheckContext,
): readonly Finding[] {
  const { ok, warning, problem } = findingsFor('models')
  const named = [...ensembles.flatMap(listModels), ...Object.values(models).map(identifyModel)]
  const providers = Map.groupBy(named, ({ provider }) => provider)
  if (providers.size === 0)
    return [warning('No ensemble has a model', 'Set "model" of an ensemble')]
  return [...providers].map(([provider, used]) => {
    const list = `${provider}: ${[...new Set(used.map(({ name }) => name))].join(', ')}`
    const facts = providerFacts(provider)
    if (facts === undefined) {
      const byName = Object.values(models).some(
        (model) => parseModelName(model)?.provider === provider,
      )
      if (!byName) return ok(list)
      return problem(
        `${list}; LangChain has no provider "${provider}"`,
        'Correct the name, or use "openai:…" with the base URL of an OpenAI-compatible server',
      )
    }
    if (!isInstalled(facts.package)) {
      return warning(
        `${list}; the package ${facts.package} is not installed`,
        `Run "npm install ${facts.package}"`,
      )
    }
    const { keyVariable } = facts
    if (keyVariable === undefined) return ok(list)
    if (isSet(variables, keyVariable)) return ok(`${list}; ${keyVariable} is set`)
    return warning(
      `${list}; ${keyVariable} is not set`,
      'Set it, unless the config passes the key in another way',
    )
  })
}

function canBeImported(name: string): boolean {
  const bases = [import.meta.url, join(process.cwd(), 'tutti.config.js')]
  return bases.some((base) => {
    try {
      createRequire(base).resolve(name)
      return true
    } catch {
      return false
    }
  })
}

function identifyModel(model: ChatModel | string): Pick<ChatModel, 'provider' | 'name'> {
  return typeof model === 'string'
    ? (parseModelName(model) ?? { provider: model, name: '' })
    : model
}

function parseModelName(
  model: ChatModel | string,
): Pick<ChatModel, 'provider' | 'name'> | undefined {
  if (typeof model !== 'string') return undefined
  const [provider = '', ...name] = model.split(':')
  return { provider, name: name.join(':') }
}

/** Warns of each model that a cost limit covers and whose price is unknown: its runs are rejected. */
export async function checkBudgets({
  ensembles,
}: Pick<TuttiConfig, 'ensembles'>): Promise<readonly Finding[]> {
  const { warning } = findingsFor('budget')
  const prices = await pricesFor(ensembles, [])
  return ensembles.flatMap((ensemble) =>
    findUnpriced(ensemble, { prices }).map((model) =>
      warning(
        `"${ensemble.name}" has a cost limit, but no price is known for "${model}": its runs are rejected`,
        'Limit tokens instead of cost, or use a model with a known price',
      ),
    ),
  )
}
