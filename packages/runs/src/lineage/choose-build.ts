/**
 * Pure: chooses the build that executes a new run.
 *
 *   newest living build ─ its share of the runs ─▶ that build
 *                       └ the others ─▶ the next older one … ─▶ the oldest gets all that remain
 *
 * RUNS-Z13 A new run goes to the newest build that lives and has its ensemble: the one that first started last. A build with
 *    a share below 100 gets that percentage of the runs, and older builds get the others.
 * RUNS-Z14 The choice depends only on the living builds and the id of the run. A run that a build would get at some share
 *    goes to it at every greater share.
 */
import { computeDigest } from '@tutti/core/internal'

import { isWholeCode } from '../domain/claim-key.ts'

import type { BuildCode } from '../domain/run-code.ts'
import type { LivingBuild } from '../ports/build-store.ts'

/** Resolution of a share: the number of values of 32 digest bits. */
const DIGEST_RANGE = 2 ** 32
const DIGEST_DIGITS = 8

/** Returns the build for a run of an ensemble; undefined if no build has it. `living` has the newest first. */
export function chooseBuild(
  living: readonly LivingBuild[],
  { runId, ensemble }: { readonly runId: string; readonly ensemble: string },
): LivingBuild | undefined {
  const candidates = living.filter((build) => build.ensemble === ensemble)
  return candidates.find((build) => gets(build, runId)) ?? candidates.at(-1)
}

/** Whether the run is among the share of the build. */
function gets({ build, share }: LivingBuild, runId: string): boolean {
  if (share >= 100) return true
  const digest = computeDigest(JSON.stringify([build, runId]))
  return Number.parseInt(digest.slice(0, DIGEST_DIGITS), 16) * 100 < share * DIGEST_RANGE
}

/**
 * Returns the codes of the builds that have an ensemble for a run with `nested` ensembles as tasks: the codes of the ensemble
 * alone if there are none, else the whole codes of the builds that have all of them (RUNS-Z20).
 */
export function selectBuilds<Build extends BuildCode>(
  builds: readonly Build[],
  ensemble: string,
  nested: readonly string[],
): readonly Build[] {
  const isWhole = nested.length > 0
  const candidates = builds.filter(
    (one) => one.ensemble === ensemble && isWholeCode(one.code) === isWhole,
  )
  if (!isWhole) return candidates
  const known = new Set(builds.map((one) => JSON.stringify([one.build, one.ensemble])))
  return candidates.filter(({ build }) =>
    nested.every((name) => known.has(JSON.stringify([build, name]))),
  )
}
