/** Pure: what this server shares with its peers, as every place that tells of it says it. */
import { TuttiError, type AgentTool } from '@tutti/core'

import type { Sharing } from '../gateway-options.ts'
import type { Ensemble } from '@tutti/ensemble'
import type { SharedCapability } from '@tutti/protocol'

/** The ensembles that peers may ask for: to them each is one task. */
export function sharedEnsembles({ runs, shared }: Sharing): readonly Ensemble[] {
  const names = shared?.ensembles
  return runs.ensembles.filter(({ name }) => names === undefined || names.includes(name))
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
  ): SharedCapability => ({ name, description, type, ...tagsOf(sharing, name) })
  return [
    ...sharedEnsembles(sharing).map((ensemble) => described('TASK', ensemble)),
    ...sharedTools(sharing).map((tool) => described('TOOL', tool)),
  ]
}

/** The tags of a shared ensemble or tool, as a field; nothing when it has none. */
export function tagsOf(
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
    ...(untagged.length === 0 ? [] : [`tags are given for ${untagged.join(', ')}`]),
  ]
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Cannot share what is not there: ${problems.join('; ')}`)
}
