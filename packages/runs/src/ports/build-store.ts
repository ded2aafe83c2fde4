/**
 * The codes of ensembles, and the runs that wait for one.
 *
 * A run gets the code of a build when it is created. From then on it has the digest of the code of its last owner. A run
 * that was created while no build was known to live has no code until a process takes it.
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
 * RUNS-Z11 A build lives while a process that executes runs of it has a lease. A build that starts again keeps the time
 *    of its first start.
 * RUNS-Z12 A build keeps its share of new runs when it starts again, unless it starts with another share than before.
 */
import type { EnsembleManifest } from '@tutti/ensemble/internal'
import type { RunStatus } from '@tutti/protocol'
import type { BuildCode, RunCode } from '../domain/run-code.ts'

/** Maximum number of codes of builds that a store retains: two for each ensemble of a build. */
export const MAX_BUILDS = 2_000

/** Code of one ensemble in a build. Instants are milliseconds since 1970. */
export interface LivingBuild extends BuildCode {
  /** Time at which a process with it started first. */
  readonly firstStartedAt: number
  /** Percentage of new runs that it gets. The others go to older builds. */
  readonly share: number
  /** Number of living processes with it. */
  readonly processes: number
}

/** Code of one ensemble in a build that has started. */
export interface KnownBuild extends LivingBuild {
  /** Time at which a process with it started last. */
  readonly startedAt: number
  /** Number of its runs that have not ended, by status; a status without runs is absent. */
  readonly unfinished: Readonly<Partial<Record<RunStatus, number>>>
}

/** A build that starts in a process. */
export interface NewBuild {
  readonly build: string
  /** Percentage of new runs that it gets. */
  readonly share: number
  readonly ensembles: readonly NewCode[]
}

/** Code of an ensemble that a process registers. */
export interface NewCode extends Omit<BuildCode, 'build'> {
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
  /** Whether a process has taken it. */
  readonly hasBegun: boolean
  /** Whether its submission named the build. */
  readonly isFixed: boolean
}

/** A run that gets other code. */
export interface RunMove extends Pick<StrandedRun, 'runId' | 'token'> {
  readonly to: RunCode
}

/** A query for stranded runs. */
export interface StrandedQuery {
  /** Digest of each ensemble's code in the caller's process. */
  readonly codes: Readonly<Record<string, string>>
  readonly limit: number
  /** Whether held runs of all codes are returned, and not only those of known codes. */
  readonly includesHeld: boolean
}

/** Stores codes, and moves runs between them. */
export interface BuildStore {
  /** Stores the codes of a process that starts. */
  register(build: NewBuild): Promise<void>
  /** Returns the codes of all builds. Those that first started last come first. */
  list(): Promise<readonly KnownBuild[]>
  /** Returns the codes of the builds that live, in the order of `list`. */
  living(): Promise<readonly LivingBuild[]>
  /** Sets the share of a build. Returns false if the build is unknown. */
  setShare(build: string, share: number): Promise<boolean>
  /** Returns the manifest of a code; undefined if it is unknown. */
  manifest(code: string): Promise<EnsembleManifest | undefined>
  /** Returns runs of the caller's ensembles that are stranded, and held runs of a code that it has. */
  findStranded(query: StrandedQuery): Promise<readonly StrandedRun[]>
  /** Returns an unowned run with a code; undefined if the run is unknown, owned or ended, or has no code. */
  findUnowned(runId: string): Promise<StrandedRun | undefined>
  /** Gives runs other code. Returns the ids of those that were neither written nor claimed since they were read. */
  move(moves: readonly RunMove[]): Promise<readonly string[]>
  /** Holds a stranded run. Returns false if it was written or claimed since it was read. */
  hold(run: Pick<StrandedRun, 'runId' | 'token'>): Promise<boolean>
}
