/**
 * Finds runs whose code no process has: takes those it may continue, and holds the others.
 *
 *   due run of unknown code ─▶ has not begun ─▶ moved to a build that lives ─▶ claimed
 *                           ├▶ mayResume ─▶ moved to the code of this process ─▶ claimed
 *                           └▶ WAITING_FOR_BUILD, until a process with its code starts, or it is moved
 *
 * RUNS-Z10 A process checks held runs of all codes when it starts, and later those of the codes that it has.
 * RUNS-Z15 A due run that no process has taken, and whose chosen build does not live, gets another build that lives, unless
 *    its submission names the build.
 * RUNS-Z18 After its first check, a process reads the store only when its last poll of due runs has found runs to check.
 * RUNS-Z21 A run with a whole code (RUNS-Z20) is compared by its ensemble and those of its tasks, and is held by a process
 *    that lacks one of them. Other ensembles of the build may differ.
 * RUNS-Z19 The reply to a decision names the build that the run waits for, if no living process has its code and none may
 *    continue it with other code. The run is held before the reply.
 */
import { diffManifests, type ManifestDifference } from '@tutti/ensemble/internal'

import { isWholeCode, toWholeCode } from '../domain/claim-key.ts'
import { field } from '../domain/field.ts'
import { listNestedEnsembles } from '../domain/nested-ensembles.ts'
import { every } from '../lifecycle/every.ts'
import { selectDifferences } from './nested-differences.ts'
import { takesTurn } from '../domain/fleet-pace.ts'
import { mayResume } from './resume-policy.ts'

import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { RunCode } from '../domain/run-code.ts'
import type { RequestedRun } from '../domain/run-record.ts'
import type { StrandedRun } from '../ports/build-store.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { LivingBuilds } from './living-builds.ts'
import type { BuiltEnsemble, RunEnsembles } from '../request/run-ensembles.ts'

/** Minimum interval of checks, in milliseconds. */
export const BUILD_CHECK_MS = 5_000

/** Number of processes that suffice to check the store often enough. Of those that poll, only some have found the runs. */
const ENOUGH_CHECKERS = 5

/** Maximum number of runs that are read at once. */
const CHECKED_RUNS = 500

/** Maximum number of times that one check reads runs; the next check continues. */
const MAX_READS = 20

/** Maximum number of cancels of a run that are recorded: one in each mode. */
const MAX_CANCELS = 2

/** Maximum number of differences in a log entry. */
const LOGGED_DIFFERENCES = 20

/** Parts of a build check. */
export interface BuildCheckOptions {
  readonly storage: RunStorage
  readonly ensembles: RunEnsembles
  readonly settings: ResolvedRunServiceOptions
  readonly living: LivingBuilds
  /** Id of the build of this process. */
  readonly build: string
}

/** Checks runs whose code this process does not have. */
export class BuildCheck {
  readonly #options: BuildCheckOptions
  readonly #codes: Readonly<Record<string, string>>
  #isRegistered = false

  constructor(options: BuildCheckOptions) {
    this.#options = options
    this.#codes = options.ensembles.codes
  }

  /** Registers the codes of this process, and checks runs of other codes until the returned function is called. */
  start(): () => void {
    const { settings, storage } = this.#options
    const { logger, clock, pollMs } = settings
    const onError = (error: unknown): void => {
      logger.warn('Failed to check runs of other builds', { error })
    }
    const task = async (): Promise<void> => {
      // The first check is repeated until the store could be reached.
      if (!this.#isRegistered) return this.#checkFirst()
      const { hasStranded, fleet } = storage.queue
      if (hasStranded && takesTurn(ENOUGH_CHECKERS, fleet.pollers)) await this.#check(false)
    }
    this.#checkFirst().catch(onError)
    return every({ clock, everyMs: Math.max(BUILD_CHECK_MS, pollMs), task, onError })
  }

  /**
   * Checks a run that has just become due, as in RUNS-Z19. Returns the build that it waits for; undefined if it can
   * continue.
   */
  async checkDue(runId: string): Promise<string | undefined> {
    const { living, storage } = this.#options
    const run = await storage.builds.findUnowned(runId)
    if (run === undefined || run.code === this.#ownCode(run).code) return undefined
    if (await living.has(run)) return undefined
    await this.#checkRun(run)
    const record = await storage.runs.get(runId)
    return record?.status === 'WAITING_FOR_BUILD' ? run.build : undefined
  }

  /** Whether this process lacks the code of an unowned run, and another one that lives has it. */
  async livesElsewhere(runId: string): Promise<boolean> {
    const { living, storage } = this.#options
    const run = await storage.builds.findUnowned(runId)
    return run !== undefined && run.code !== this.#ownCode(run).code && living.has(run)
  }

  async #checkFirst(): Promise<void> {
    const { storage, ensembles, settings, build } = this.#options
    await storage.builds.register({
      build,
      share: settings.buildShare,
      ensembles: [...ensembles.built, ...ensembles.builtWhole].map(
        ({ name, digest, manifest }) => ({ ensemble: name, code: digest, manifest }),
      ),
    })
    await this.#check(true)
    this.#isRegistered = true
  }

  /** Moves, takes or holds runs of other code. */
  async #check(includesHeld: boolean): Promise<void> {
    const query = { codes: this.#codes, limit: CHECKED_RUNS, includesHeld }
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      const runs = await this.#options.storage.builds.findStranded(query)
      const moved = await this.#moveUnbegun(runs.filter(isFree))
      let changed = moved.size
      for (const run of runs) {
        if (!moved.has(run.runId) && (await this.#checkRun(run))) changed += 1
      }
      if (changed < CHECKED_RUNS) return
    }
  }

  /** Gives runs that have not begun to builds that live. Returns the ids of those that need no further check. */
  async #moveUnbegun(runs: readonly StrandedRun[]): Promise<ReadonlySet<string>> {
    if (runs.length === 0) return new Set()
    const { storage, living, settings } = this.#options
    await living.refresh()
    const found = await Promise.all(
      runs.map(async (run) => {
        const { runId, token, ensemble } = run
        const request = await this.#findRequest(run)
        const own = this.#lacks(request).length > 0 ? undefined : this.#ownCode(run)
        const to = (await living.choose({ runId, ensemble, ...field('request', request) })) ?? own
        return to === undefined ? [] : [{ runId, token, to }]
      }),
    )
    const moves = found.flat()
    const moved = await storage.builds.move(moves)
    settings.logger.info('Gave runs that had not begun to builds that live', {
      runs: moved.length,
      from: [...new Set(runs.map(({ build }) => build))],
      to: [...new Set(moves.map(({ to }) => to.build))],
    })
    return new Set(moves.map(({ runId }) => runId))
  }

  /** Returns the code of this process for a run. */
  #ownCode({ ensemble, code }: Pick<StrandedRun, 'ensemble' | 'code'>): RunCode {
    const { build } = this.#options
    const own = isWholeCode(code) ? toWholeCode(ensemble, this.#codes) : this.#codes[ensemble]
    return { build, code: own ?? '' }
  }

  /** Returns the request of a run with ensembles as tasks; undefined for others. */
  async #findRequest({
    runId,
    code,
  }: Pick<StrandedRun, 'runId' | 'code'>): Promise<RequestedRun | undefined> {
    if (!isWholeCode(code)) return undefined
    return (await this.#options.storage.runs.get(runId))?.request
  }

  /** Returns the names of the ensembles that a request has as tasks and this process lacks. */
  #lacks(request: RequestedRun | undefined): readonly string[] {
    return listNestedEnsembles(request).filter((name) => this.#codes[name] === undefined)
  }

  /** Takes or holds a run. Returns whether it changed. */
  async #checkRun(run: StrandedRun): Promise<boolean> {
    const { ensembles, build, settings, storage } = this.#options
    const { builds } = storage
    const { logger, resumePolicy: policy, compatibleBuilds } = settings
    const built = ensembles.findBuilt(run.ensemble, isWholeCode(run.code))
    if (built === undefined) return false
    const own = this.#ownCode(run)
    const request = await this.#findRequest(run)
    const differences = selectDifferences(
      await this.#compare(run, built),
      listNestedEnsembles(request),
    )
    const begunTasks = await this.#findBegunTasks(run, built)
    const isAborted = await this.#isAborted(run)
    const { runId, ensemble } = run
    const fields = {
      runId,
      ensemble,
      build: run.build,
      code: run.code,
      differences: describe(differences),
    }
    const { workflow } = built.manifest.settings
    const question = { run, own, differences, isAborted, begunTasks, workflow }
    const isComplete = isAborted || this.#lacks(request).length === 0
    const isUntouched = request !== undefined && !run.hasBegun && !run.isFixed
    const mayTake = isUntouched || mayResume(question, { policy, compatibleBuilds })
    if (isComplete && mayTake) {
      const { token } = run
      const isMoved = (await builds.move([{ runId, token, to: own }])).length > 0
      if (isMoved && run.code !== own.code)
        logger.info('Continuing a run with other code', { ...fields, to: own })
      return isMoved
    }
    if (run.isHeld || !(await builds.hold(run))) return false
    const next = `Start build ${run.build} again, or move the run: tutti migrate ${runId} --to ${build}`
    logger.warn('A run waits for a build', { ...fields, own, next })
    return true
  }

  /** Returns the differences from the code of the run; undefined if that code is unknown. */
  async #compare(
    run: StrandedRun,
    built: BuiltEnsemble,
  ): Promise<readonly ManifestDifference[] | undefined> {
    const manifest = await this.#options.storage.builds.manifest(run.code)
    return manifest === undefined ? undefined : diffManifests(manifest, built.manifest)
  }

  /** Whether the run is being cancelled in mode `abort`; a cancel in mode `boundary` may have preceded it. */
  async #isAborted({ runId, isCancelling }: StrandedRun): Promise<boolean> {
    if (!isCancelling) return false
    const query = { runId, from: 0, limit: MAX_CANCELS, types: ['run_cancelling'] } as const
    const { events } = await this.#options.storage.events.read(query)
    return events.some((event) => event.type === 'run_cancelling' && event.mode === 'abort')
  }

  /** Returns the tasks that have begun. A delegated task can be any declared one, so all tasks count as begun. */
  async #findBegunTasks(
    { runId }: StrandedRun,
    { manifest }: BuiltEnsemble,
  ): Promise<ReadonlySet<string>> {
    const tasks = await this.#options.storage.runs.tasks(runId)
    const begun = tasks.filter(({ status }) => status !== 'PENDING').map(({ name }) => name)
    // A task that was skipped may be one that other code had removed.
    const isDelegated = tasks.some(
      ({ name, status }) =>
        status !== 'PENDING' && status !== 'SKIPPED' && manifest.tasks[name] === undefined,
    )
    return new Set(isDelegated ? [...begun, ...Object.keys(manifest.tasks)] : begun)
  }
}

/** Whether any build may take the run. */
function isFree({ hasBegun, isFixed, isHeld }: StrandedRun): boolean {
  return !hasBegun && !isFixed && !isHeld
}

/** Returns the paths of the differences, such as `research.description`. */
function describe(differences: readonly ManifestDifference[] | undefined): readonly string[] {
  if (differences === undefined) return ['unknown']
  return differences
    .slice(0, LOGGED_DIFFERENCES)
    .map(({ task, field }) => (task === undefined ? field : `${task}.${field}`))
}
