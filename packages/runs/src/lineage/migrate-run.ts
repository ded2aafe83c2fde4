/** Moves a run that waits to the code of another build. */
import { TuttiError } from '@tutti/core'
import {
  diffManifests,
  type ManifestDifference,
  type ManifestValue,
} from '@tutti/ensemble/internal'
import { isTerminalRunStatus } from '@tutti/protocol'
import { shortList, shortText } from '@tutti/protocol/internal'

import { isWholeCode } from '../domain/claim-key.ts'
import { listNestedEnsembles } from '../domain/nested-ensembles.ts'
import { selectBuilds } from './choose-build.ts'
import { selectDifferences } from './nested-differences.ts'

import type { BuildStore, KnownBuild, StrandedRun } from '../ports/build-store.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { CodeDifference, RunMigrated } from '@tutti/protocol/internal'

/** Maximum number of differences that are returned. */
const MAX_DIFFERENCES = 100

/** Maximum length of a value in a difference, in characters. */
const MAX_VALUE_LENGTH = 2_000

/** A request to move a run. */
export interface RunMigration {
  /** Build whose code continues the run. */
  readonly to: string
  /** Whether only the differences are returned. @default false */
  readonly preview?: boolean | undefined
}

/**
 * Moves a run that waits for an owner, a person or a build.
 *
 * @throws {TuttiError} RUN_NOT_FOUND; RUN_COMPLETED; BAD_REQUEST if a process executes the run, if it has no build yet, or if
 * the build is unknown or lacks the ensemble.
 */
export async function migrateRun(
  { builds, runs }: Pick<RunStorage, 'builds' | 'runs'>,
  runId: string,
  { to, preview = false }: RunMigration,
): Promise<RunMigrated> {
  const record = await runs.get(runId)
  if (record === undefined)
    throw new TuttiError('RUN_NOT_FOUND', `No run with ID ${shortText(runId)}`)
  if (isTerminalRunStatus(record.status)) {
    throw new TuttiError('RUN_COMPLETED', `Run ${runId} has ended and cannot be moved`)
  }
  const run = await builds.findUnowned(runId)
  if (run === undefined) throw refuse(`run ${runId} has no build yet, or a process executes it`)
  const nested = isWholeCode(run.code) ? listNestedEnsembles(record.request) : []
  const target = await findTarget(builds, { run, nested }, to)
  const differences = await compare(builds, { run, nested }, target)
  const { token } = run
  const moved = preview ? [] : await builds.move([{ runId, token, to: target }])
  if (!preview && moved.length === 0)
    throw refuse(`run ${runId} was taken by a process in the meantime`)
  return { runId, from: run.build, to, differences, moved: moved.length > 0 }
}

/** A run, and the ensembles that it has as tasks. */
interface MovedRun {
  readonly run: StrandedRun
  readonly nested: readonly string[]
}

/** Returns the code of the run's ensemble in a build. */
async function findTarget(
  builds: BuildStore,
  { run, nested }: MovedRun,
  to: string,
): Promise<KnownBuild> {
  const known = selectBuilds(await builds.list(), run.ensemble, nested)
  const target = known.find(({ build }) => build === to)
  if (target !== undefined) return target
  const names = shortList([...new Set(known.map(({ build }) => build))])
  const others = nested.length === 0 ? '' : ` and those of its tasks, ${shortList(nested)}`
  throw refuse(
    `no build "${shortText(to)}" has ensemble "${run.ensemble}"${others}. Known builds: [${names}]`,
  )
}

async function compare(
  builds: BuildStore,
  { run, nested }: MovedRun,
  target: KnownBuild,
): Promise<CodeDifference[]> {
  const [from, to] = await Promise.all([builds.manifest(run.code), builds.manifest(target.code)])
  if (from === undefined || to === undefined) {
    return [{ field: 'code', from: run.code, to: target.code }]
  }
  const differences = selectDifferences(diffManifests(from, to), nested) ?? []
  return differences.slice(0, MAX_DIFFERENCES).map(toWireDifference)
}

function toWireDifference({ from, to, ...location }: ManifestDifference): CodeDifference {
  return {
    ...location,
    ...(from === undefined ? {} : { from: formatValue(from) }),
    ...(to === undefined ? {} : { to: formatValue(to) }),
  }
}

function formatValue(value: ManifestValue): string {
  return shortText(typeof value === 'string' ? value : JSON.stringify(value), MAX_VALUE_LENGTH)
}

function refuse(message: string): TuttiError {
  const problems = [{ path: '/to', message }]
  return new TuttiError('BAD_REQUEST', `Cannot move the run: ${message}`, { details: { problems } })
}
