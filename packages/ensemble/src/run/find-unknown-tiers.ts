/** Rules and profiles name tiers, which only a catalog of models has. */
import { TuttiError } from '@tutti/core'

import { allTasks } from '../definition/manager.ts'
import { fallbackModelIn } from '../definition/model-of-task.ts'
import { resolveTier } from '../steering/tiers.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { ModelCatalog } from '../model/model-catalog.ts'

/** The problems of the rules of an ensemble with the tiers of a catalog: one for each tier that is not there. */
export function findUnknownTiers(
  ensemble: ResolvedEnsemble,
  models: Pick<ModelCatalog, 'tiers'> | undefined,
): readonly string[] {
  const tasks = allTasks(ensemble)
  const fallbackModel = fallbackModelIn(ensemble, tasks)
  const hasFallback = tasks.some(({ name }) => fallbackModel(name) !== undefined)
  return (ensemble.modelRules ?? []).flatMap(({ tier }, place) => {
    try {
      resolveTier(tier, models, hasFallback)
      return []
    } catch (error) {
      if (TuttiError.isInstance(error)) return [`modelRules[${place}]: ${error.message}`]
      throw error
    }
  })
}
