/** Pure: the profiles that a run can be given, by name. */
import { TuttiError } from '@tutti/core'
import { suggest } from '@tutti/protocol'

/** Settings of a profile. */
export interface RunProfile {
  /** Name of the tier that the models of the run switch to; absent for a profile that is not for runs. */
  readonly modelTier?: string | undefined
}

/** Profiles by name. */
export type RunProfiles = Readonly<Record<string, RunProfile>>

/**
 * The tier of a profile.
 *
 * @throws {TuttiError} BAD_REQUEST for an unknown profile, and for one that changes nothing in a run.
 */
export function profileNamed(name: string, profiles: RunProfiles): { readonly tier: string } {
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
