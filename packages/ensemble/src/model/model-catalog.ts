/** The allow-list of models that requests may name by alias, and its tiers. */
import { TuttiError } from '@tutti/core'

import type { ChatModel } from './chat-model.ts'

/** Models by alias. */
export interface ModelCatalog {
  readonly models: ReadonlyMap<string, ChatModel>
  /** Name of a tier → alias of its model. */
  readonly tiers: ReadonlyMap<string, string>
  /** The model of that alias, or undefined. */
  find(alias: string): ChatModel | undefined
  /**
   * The model of that alias.
   *
   * @throws {TuttiError} INVALID_MODEL, listing the known aliases, when there is none.
   */
  resolve(alias: string): ChatModel
}

/** Settings of a catalog in addition to its models. */
export interface ModelCatalogOptions {
  /**
   * Name of a tier, such as `fast` or `best` → alias of its model. A tier named `fallback` takes the place of the
   * fallback models of tasks and ensembles; `primary` always means the models of the tasks themselves.
   * @default {}
   */
  readonly tiers?: Readonly<Record<string, string>>
}

/** The tiers that every catalog has. */
export type BuiltInTier = 'PRIMARY' | 'FALLBACK'

/**
 * Makes a catalog of models from a record of alias to model.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every tier that does not fit.
 */
export function modelCatalog(
  models: Readonly<Record<string, ChatModel>>,
  { tiers = {} }: ModelCatalogOptions = {},
): ModelCatalog {
  const byAlias = new Map(Object.entries(models))
  assertTiers(tiers, byAlias)
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

/** Whether two names are of the same tier: case does not count, as the wire has them in capitals. */
export function isSameTier(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function assertTiers(
  tiers: Readonly<Record<string, string>>,
  models: ReadonlyMap<string, ChatModel>,
): void {
  const names = Object.keys(tiers)
  const aliases = [...models.keys()].join(', ')
  const problems = Object.entries(tiers).flatMap(([tier, alias], place) => [
    ...(tier.trim() === '' ? ['the name of a tier must not be blank'] : []),
    ...(isSameTier(tier, 'PRIMARY')
      ? ['the tier "primary" is that of the models of the tasks and cannot be defined']
      : []),
    ...(names.slice(0, place).some((earlier) => isSameTier(earlier, tier))
      ? [`the tier "${tier}" is defined twice; case does not count`]
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
