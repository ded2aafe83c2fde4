/**
 * Pure: resolves tiers of models.
 *
 * A tier of the catalog is one model for all tasks. Without a catalog entry, PRIMARY is each task's own model
 * and FALLBACK its first fallback model.
 */
import { TuttiError } from '@tutti/core'
import { suggest } from '@tutti/protocol/internal'

import { isSameTier, type BuiltInTier, type ModelCatalog } from '../model/model-catalog.ts'

/** Choice of a tier in a switch. */
export interface TierChoice {
  /** Name of a tier of the catalog, PRIMARY or FALLBACK; case-insensitive. */
  readonly tier: string
}

/** Model or built-in tier to which a name resolves. */
export type ResolvedTier =
  /** One model of the catalog. */
  | { readonly kind: 'alias'; readonly tier: string; readonly alias: string }
  /** Each task's own or first fallback model. */
  | { readonly kind: 'built_in'; readonly tier: BuiltInTier }

const BUILT_IN: readonly BuiltInTier[] = ['PRIMARY', 'FALLBACK']

/**
 * Resolves a tier.
 *
 * @throws {TuttiError} INVALID_MODEL, listing the tiers, if the tier is unknown, or is FALLBACK and no task
 * has a fallback model.
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
      : "The tier 'FALLBACK' has no model: no task has fallback models, and the catalog has no such tier"
  throw new TuttiError('INVALID_MODEL', `${why}. Available: [${known.join(', ')}]${hint}`)
}

function listTiers(catalog: Pick<ModelCatalog, 'tiers'> | undefined): readonly string[] {
  return [...(catalog?.tiers.keys() ?? [])]
}
