/** Pure: the ensembles and tools that a server shares with its peers. */
import { TuttiError, type AgentTool } from '@tutti/core'
import { unknownName, type ErrorCode, type SharedCapability } from '@tutti/protocol'

import type { Sharing } from '../gateway-options.ts'
import type { Ensemble } from '@tutti/ensemble'

/** The ensembles that peers may ask for: to them each is one task. */
export function sharedEnsembles({ runs, shared }: Sharing): readonly Ensemble[] {
  const names = shared?.ensembles
  return runs.ensembles.filter(({ name }) => names === undefined || names.includes(name))
}

/**
 * Finds a shared ensemble by name; `kind` is what the protocol calls it.
 *
 * @throws {TuttiError} INVALID_ENSEMBLE, or the given code, naming those that exist.
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

/** The tools that peers may ask for. */
export function sharedTools({ tools, shared }: Sharing): readonly AgentTool[] {
  const names = shared?.tools
  return tools.tools.filter(({ name }) => names === undefined || names.includes(name))
}

/** Everything that is shared, tasks first. */
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

/** The tags of a shared ensemble or tool, as a field; nothing when it has none. */
export function sharedTagsOf(
  { shared }: Pick<Sharing, 'shared'>,
  name: string,
): { readonly tags?: string[] } {
  const tags = shared?.tags?.[name]
  return tags === undefined ? {} : { tags: [...tags] }
}

/**
 * Checks that what is to be shared is there.
 *
 * @throws {TuttiError} CONFIG_INVALID naming everything that is not.
 */
export function assertShared(sharing: Sharing): void {
  const { runs, tools, shared } = sharing
  const missing = (names: readonly string[] = [], known: readonly { readonly name: string }[]) =>
    names.filter((name) => !known.some((one) => one.name === name)).map((name) => `"${name}"`)
  const ensembles = missing(shared?.ensembles, runs.ensembles)
  const unknownTools = missing(shared?.tools, tools.tools)
  const offered = [...sharedEnsembles(sharing), ...sharedTools(sharing)]
  const untagged = missing(Object.keys(shared?.tags ?? {}), offered)
  const problems = [
    ...(ensembles.length === 0 ? [] : [`no ensemble is named ${ensembles.join(', ')}`]),
    ...(unknownTools.length === 0 ? [] : [`no tool is named ${unknownTools.join(', ')}`]),
    ...(untagged.length === 0 ? [] : [`tags name ${untagged.join(', ')}, which is not shared`]),
  ]
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Cannot share unknown names: ${problems.join('; ')}`)
}
