/** The allow-list of models that requests can name by alias, and its tiers. */
import { TuttiError } from '@tutti/core'

import { findModelPriceProblems } from './prices.ts'

import type { ChatModel } from './chat-model.ts'

/** Models by alias. */
export interface ModelCatalog {
  readonly models: ReadonlyMap<string, ChatModel>
  /** Model alias by tier name. */
  readonly tiers: ReadonlyMap<string, string>
  /** Returns the model with this alias, or undefined. */
  find(alias: string): ChatModel | undefined
  /**
   * Returns the model with this alias.
   *
   * @throws {TuttiError} INVALID_MODEL, listing the known aliases, if there is none.
   */
  resolve(alias: string): ChatModel
}

/** Settings of a catalog in addition to its models. */
export interface ModelCatalogOptions {
  /**
   * Alias of the model by name of a tier, such as `fast` or `best`. A tier named `fallback` replaces the
   * fallback models of tasks and ensembles; `primary` always means the models of the tasks themselves.
   * @default {}
   */
  readonly tiers?: Readonly<Record<string, string>>
}

/** Tiers that every catalog has. */
export type BuiltInTier = 'PRIMARY' | 'FALLBACK'

/**
 * Creates a catalog from models by alias.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every invalid tier or price.
 */
export function modelCatalog(
  models: Readonly<Record<string, ChatModel>>,
  { tiers = {} }: ModelCatalogOptions = {},
): ModelCatalog {
  const byAlias = new Map(Object.entries(models))
  assertTiers(tiers, byAlias)
  const problems = [...byAlias.values()].flatMap(findModelPriceProblems)
  if (problems.length > 0) {
    throw new TuttiError('CONFIG_INVALID', `Invalid models: ${problems.join('; ')}`, {
      details: { problems },
    })
  }
  return {
    models: byAlias,
    tiers: new Map(Object.entries(tiers)),
    find: (alias) => byAlias.get(alias),
    resolve(alias) {
      const model = byAlias.get(alias)
      if (model !== undefined) return model
      const known = [...byAlias.keys()].join(', ')
      throw new TuttiError('INVALID_MODEL', `Unknown model '${alias}'. Available: [${known}]`)
    },
  }
}

/**
 * Whether two names are of the same tier. Case-insensitive, because the wire has built-in tiers in capitals.
 */
export function isSameTier(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function assertTiers(
  tiers: Readonly<Record<string, string>>,
  models: ReadonlyMap<string, ChatModel>,
): void {
  const names = Object.keys(tiers)
  const aliases = [...models.keys()].join(', ')
  const problems = Object.entries(tiers).flatMap(([tier, alias], index) => [
    ...(tier.trim() === '' ? ['the name of a tier must not be blank'] : []),
    ...(isSameTier(tier, 'PRIMARY')
      ? ['the tier "primary" is reserved for the models of the tasks']
      : []),
    ...(names.slice(0, index).some((earlier) => isSameTier(earlier, tier))
      ? [`the tier "${tier}" is defined twice; tier names are case-insensitive`]
      : []),
    ...(models.has(alias)
      ? []
      : [`the tier "${tier}" names the unknown model '${alias}'. Available: [${aliases}]`]),
  ])
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Invalid model tiers: ${problems.join('; ')}`, {
    details: { problems },
  })
}
