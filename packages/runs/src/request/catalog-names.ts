/** Finds the tools, models and ensembles that a request names. */
import { shortText, unknownName } from '@tutti/protocol/internal'

import type { Refusals } from './refusals.ts'
import type { AgentTool, ToolCatalog } from '@tutti/core'
import type { Ensemble, ModelCatalog } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'

/** The tools, models and ensembles that requests may name. */
export interface Catalogs {
  readonly ensembles: ReadonlyMap<string, Ensemble>
  readonly tools: ToolCatalog | undefined
  readonly models: ModelCatalog | undefined
}

/** Finds tools by name; unknown names are added to the refusals. */
export function findTools(
  names: readonly string[],
  { catalogs, refusals, path }: NameLookup,
): readonly AgentTool[] {
  const known = catalogs.tools?.tools.map(({ name }) => name) ?? []
  return names.flatMap((name, index) => {
    const tool = catalogs.tools?.find(name)
    if (tool !== undefined) return [tool]
    const at = `${path}/${index}`
    if (known.length === 0) {
      refusals.add(
        'NOT_CONFIGURED',
        at,
        () => `This server offers no tools, got '${shortText(name)}'`,
      )
    } else refusals.add('INVALID_TOOL', at, () => unknownName('tool', name, known))
    return []
  })
}

/** Finds a model by alias; an unknown alias is added to the refusals. */
export function findModel(
  alias: string | undefined,
  { catalogs, refusals, path }: NameLookup,
): ChatModel | undefined {
  if (alias === undefined) return undefined
  const model = catalogs.models?.find(alias)
  if (model !== undefined) return model
  const known = [...(catalogs.models?.models.keys() ?? [])]
  if (known.length === 0) {
    refusals.add(
      'NOT_CONFIGURED',
      path,
      () => `This server offers no models, got '${shortText(alias)}'`,
    )
  } else refusals.add('INVALID_MODEL', path, () => unknownName('model', alias, known))
  return undefined
}

/** Finds an ensemble by name; an unknown name is added to the refusals. */
export function findEnsemble(
  name: string,
  { catalogs, refusals, path }: NameLookup,
): Ensemble | undefined {
  const ensemble = catalogs.ensembles.get(name)
  if (ensemble !== undefined) return ensemble
  const known = [...catalogs.ensembles.keys()]
  refusals.add('INVALID_ENSEMBLE', path, () => unknownName('ensemble', name, known))
  return undefined
}

/** The catalogs for names, and the list for their problems. */
export interface NameLookup {
  readonly catalogs: Catalogs
  readonly refusals: Refusals
  /** JSON Pointer of the field that holds the names. */
  readonly path: string
}
