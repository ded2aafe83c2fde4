/** Pure: profiles that directives can apply to a run. */
import { TuttiError } from '@tutti/core'
import { suggest } from '@tutti/protocol/internal'

export interface RunProfile {
  /** Name of the tier to which the run's models switch; absent if the profile does not apply to runs. */
  readonly modelTier?: string | undefined
}

/** Profiles by name. */
export type RunProfiles = Readonly<Record<string, RunProfile>>

/**
 * Returns the tier of a profile.
 *
 * @throws {TuttiError} BAD_REQUEST for an unknown profile, and for one without a tier.
 */
export function findProfile(name: string, profiles: RunProfiles): { readonly tier: string } {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile === undefined) {
    const names = Object.keys(profiles)
    const near = suggest(name, names)
    const hint = near === undefined ? '' : ` Did you mean "${near}"?`
    throw new TuttiError(
      'BAD_REQUEST',
      `Unknown profile "${name}". Available: [${names.join(', ')}]${hint}`,
    )
  }
  if (profile.modelTier !== undefined) return { tier: profile.modelTier }
  throw new TuttiError(
    'BAD_REQUEST',
    `Profile "${name}" has no modelTier, so it changes nothing in a run; it can only be applied to the server`,
  )
}
