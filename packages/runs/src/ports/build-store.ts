/**
 * The codes of ensembles, and the runs that wait for one.
 *
 * A run has no code until a process takes it. From then on it has the digest of the code of its last owner.
 *
 * RUNS-Z1 A claim with `KnownEnsembles.code` gives the run the code and the build of its owner. A claim without it
 *    changes neither.
 * RUNS-Z2 A claim with known ensembles takes a run that has a code only if it knows that code of its ensemble, however
 *    long the run has waited. Runs of unknown ensembles are claimed as in RUNS-L9.
 * RUNS-Z3 A run is stranded when it is due, its ensemble is known but not its code, and no living process knows the code.
 * RUNS-Z4 A held run is parked as WAITING_FOR_BUILD until it is moved or cancelled. It is not due.
 * RUNS-Z5 A stranded or held run is moved to another code only if it was neither claimed nor written since it was read.
 *    A held run becomes ready.
 * RUNS-Z6 The store has the manifest of each code that a process has registered, up to {@link MAX_BUILDS} newest builds.
 */
import type { EnsembleManifest } from '@tutti/ensemble'

/** Maximum number of codes of builds that a store retains. */
export const MAX_BUILDS = 1_000

/** The build and the code of a run or a process. */
export interface RunCode {
  readonly build: string
  /** Digest of the code of the ensemble. */
  readonly code: string
}

/** Code of one ensemble in a build. */
export interface BuildCode extends RunCode {
  readonly ensemble: string
}

/** Code of one ensemble in a build, and the last time that a process with it started, in milliseconds since 1970. */
export interface KnownBuild extends BuildCode {
  readonly startedAt: number
}

/** Code that a process registers. */
export interface NewBuild extends BuildCode {
  readonly manifest: EnsembleManifest
}

/** A run whose code the caller does not have. */
export interface StrandedRun extends BuildCode {
  readonly runId: string
  /** Fencing token, for {@link BuildStore.move} and {@link BuildStore.hold}. */
  readonly token: string
  /** Whether it is held as WAITING_FOR_BUILD. */
  readonly isHeld: boolean
  /** Whether it is being cancelled. */
  readonly isCancelling: boolean
}

/** A query for stranded runs. */
export interface StrandedQuery {
  /** Digest of the code of each ensemble of the caller. */
  readonly codes: Readonly<Record<string, string>>
  readonly limit: number
  /** Whether held runs of all codes are returned, and not only those of known codes. */
  readonly includesHeld: boolean
}

/** Stores codes, and moves runs between them. */
export interface BuildStore {
  /** Stores the codes of a process that starts. */
  register(builds: readonly NewBuild[]): Promise<void>
  /** Returns the codes of all builds, those that started last first. */
  list(): Promise<readonly KnownBuild[]>
  /** Returns the manifest of a code; undefined if it is unknown. */
  manifest(code: string): Promise<EnsembleManifest | undefined>
  /** Returns runs of the caller's ensembles that are stranded, and held runs of a code that it has. */
  findStranded(query: StrandedQuery): Promise<readonly StrandedRun[]>
  /** Returns an unowned run with a code; undefined if the run is unknown, owned or ended, or has no code. */
  findUnowned(runId: string): Promise<StrandedRun | undefined>
  /** Gives a run another code. Returns false if it was written or claimed since it was read. */
  move(run: Pick<StrandedRun, 'runId' | 'token'>, to: RunCode): Promise<boolean>
  /** Holds a stranded run. Returns false if it was written or claimed since it was read. */
  hold(run: Pick<StrandedRun, 'runId' | 'token'>): Promise<boolean>
}
