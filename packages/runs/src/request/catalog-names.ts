/** Finds the tools and models that a request names. */
import { shortText, unknownName } from '@tutti/protocol'

import type { Refusals } from './refusals.ts'
import type { AgentTool, ToolCatalog } from '@tutti/core'
import type { ChatModel, ModelCatalog } from '@tutti/ensemble'

/** The tools and models that requests may name. */
export interface Catalogs {
  readonly tools: ToolCatalog | undefined
  readonly models: ModelCatalog | undefined
}

/** The tools of these names; those that the catalog does not have are noted. */
export function namedTools(
  names: readonly string[],
  { catalogs, refusals, path }: NamesIn,
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

/** The model of this alias; one that the catalog does not have is noted. */
export function namedModel(
  alias: string | undefined,
  { catalogs, refusals, path }: NamesIn,
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

/** Where names stand, and where what is wrong with them goes. */
export interface NamesIn {
  readonly catalogs: Catalogs
  readonly refusals: Refusals
  /** JSON Pointer of what holds the names. */
  readonly path: string
}
