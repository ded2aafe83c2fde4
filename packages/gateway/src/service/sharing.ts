/** Pure: the ensembles, tools and models that a server shares with its peers. */
import { TuttiError, type AgentTool } from '@tutti/core'
import type { ErrorCode } from '@tutti/protocol'
import { unknownName, type SharedCapability } from '@tutti/protocol/internal'

import type { Sharing } from '../gateway-options.ts'
import type { Ensemble } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'

/** Returns the shared ensembles; for a peer, each is one task. */
export function sharedEnsembles({ runs, shared }: Sharing): readonly Ensemble[] {
  const names = shared?.ensembles
  return runs.ensembles.filter(({ name }) => names === undefined || names.includes(name))
}

/**
 * Finds a shared ensemble by name; `kind` is the protocol's term for it.
 *
 * @throws {TuttiError} INVALID_ENSEMBLE, or `code`, naming the shared ensembles.
 */
export function findShared(
  ensembles: readonly Ensemble[],
  name: string,
  { kind = 'ensemble', code = 'INVALID_ENSEMBLE' }: { kind?: string; code?: ErrorCode } = {},
): Ensemble {
  const found = ensembles.find((ensemble) => ensemble.name === name)
  if (found !== undefined) return found
  const names = ensembles.map((ensemble) => ensemble.name)
  throw new TuttiError(code, unknownName(kind, name, names))
}

/** Returns the shared tools. */
export function sharedTools({ tools, shared }: Sharing): readonly AgentTool[] {
  const names = shared?.tools
  return tools.tools.filter(({ name }) => names === undefined || names.includes(name))
}

/** Returns the shared models of the catalog by alias. */
export function sharedModels({ models, shared }: Sharing): ReadonlyMap<string, ChatModel> {
  const names = shared?.models
  if (names === undefined) return models.models
  return new Map([...models.models].filter(([alias]) => names.includes(alias)))
}

/** Returns all shared capabilities, tasks first. */
export function sharedCapabilities(sharing: Sharing): SharedCapability[] {
  const described = (
    type: SharedCapability['type'],
    { name, description }: Pick<SharedCapability, 'name' | 'description'>,
  ): SharedCapability => ({ name, description, type, ...sharedTagsOf(sharing, name) })
  return [
    ...sharedEnsembles(sharing).map((ensemble) => described('TASK', ensemble)),
    ...sharedTools(sharing).map((tool) => described('TOOL', tool)),
  ]
}

/** Returns the tags of a shared ensemble or tool as a field; empty when it has none. */
export function sharedTagsOf(
  { shared }: Pick<Sharing, 'shared'>,
  name: string,
): { readonly tags?: string[] } {
  const tags = shared?.tags?.[name]
  return tags === undefined ? {} : { tags: [...tags] }
}

/**
 * Checks that the shared names exist.
 *
 * @throws {TuttiError} CONFIG_INVALID naming every unknown name.
 */
export function assertShared(sharing: Sharing): void {
  const { runs, tools, models, shared } = sharing
  const missing = (names: readonly string[] = [], known: readonly { readonly name: string }[]) =>
    names.filter((name) => !known.some((one) => one.name === name)).map((name) => `"${name}"`)
  const ensembles = missing(shared?.ensembles, runs.ensembles)
  const unknownTools = missing(shared?.tools, tools.tools)
  const aliases = [...models.models.keys()].map((name) => ({ name }))
  const unknownModels = missing(shared?.models, aliases)
  const offered = [...sharedEnsembles(sharing), ...sharedTools(sharing)]
  const named = [...runs.ensembles, ...aliases]
  const unsampled = missing(shared?.ignoreSampling, named)
  const untagged = missing(Object.keys(shared?.tags ?? {}), offered)
  const problems = [
    ...(ensembles.length === 0 ? [] : [`no ensemble is named ${ensembles.join(', ')}`]),
    ...(unknownTools.length === 0 ? [] : [`no tool is named ${unknownTools.join(', ')}`]),
    ...(unknownModels.length === 0 ? [] : [`no model is named ${unknownModels.join(', ')}`]),
    ...(unsampled.length === 0
      ? []
      : [`ignoreSampling names ${unsampled.join(', ')}, which is neither an ensemble nor a model`]),
    ...(untagged.length === 0 ? [] : [`tags name ${untagged.join(', ')}, which is not shared`]),
  ]
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Cannot share unknown names: ${problems.join('; ')}`)
}
