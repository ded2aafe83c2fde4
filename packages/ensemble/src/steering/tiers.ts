/**
 * Pure: what a tier of models means for a run.
 *
 * A tier of the catalog is one model, whatever the task. Without such an entry PRIMARY is the model that each task has
 * itself, and FALLBACK the first of its fallback models.
 */
import { TuttiError } from '@tutti/core'
import { suggest } from '@tutti/protocol'

import { isSameTier, type BuiltInTier, type ModelCatalog } from '../model/model-catalog.ts'

/** A tier as it is named, in a switch. */
export interface TierChoice {
  /** Name of a tier of the catalog, PRIMARY or FALLBACK; case does not count. */
  readonly tier: string
}

/** Model that a tier resolves to. */
export type ResolvedTier =
  /** One model of the catalog. */
  | { readonly kind: 'alias'; readonly tier: string; readonly alias: string }
  /** Whatever each task has. */
  | { readonly kind: 'built_in'; readonly tier: BuiltInTier }

const BUILT_IN: readonly BuiltInTier[] = ['PRIMARY', 'FALLBACK']

/**
 * Finds a tier.
 *
 * @throws {TuttiError} INVALID_MODEL, listing the tiers, for an unknown one and for a FALLBACK that no task has.
 */
export function resolveTier(
  name: string,
  catalog: Pick<ModelCatalog, 'tiers'> | undefined,
  hasFallback: boolean,
): ResolvedTier {
  for (const [tier, alias] of catalog?.tiers ?? []) {
    if (isSameTier(tier, name)) return { kind: 'alias', tier, alias }
  }
  const builtIn = BUILT_IN.find((tier) => isSameTier(tier, name))
  if (builtIn === 'PRIMARY' || (builtIn === 'FALLBACK' && hasFallback)) {
    return { kind: 'built_in', tier: builtIn }
  }
  const known = [
    ...new Set(['PRIMARY', ...(hasFallback ? ['FALLBACK'] : []), ...listTiers(catalog)]),
  ]
  const near = suggest(name, known)
  const hint = near === undefined ? '' : ` Did you mean '${near}'?`
  const why =
    builtIn === undefined
      ? `Unknown model tier '${name}'`
      : "The tier 'FALLBACK' has no model: no task has fallback models, and the catalog no such tier"
  throw new TuttiError('INVALID_MODEL', `${why}. Available: [${known.join(', ')}]${hint}`)
}

function listTiers(catalog: Pick<ModelCatalog, 'tiers'> | undefined): readonly string[] {
  return [...(catalog?.tiers.keys() ?? [])]
}
