/**
 * Finds runs that wait for code that no process has: takes those that this process may continue, and holds the others.
 *
 *   due run of unknown code ─▶ mayResume ─▶ moved to the code of this process ─▶ claimed
 *                                     └───▶ WAITING_FOR_BUILD, until a process with its code starts, or it is moved
 *
 * RUNS-Z10 A process checks held runs of all codes when it starts, and later those of the codes that it has.
 */
import { diffManifests, type ManifestDifference } from '@tutti/ensemble'

import { every } from './every.ts'
import { takesTurn } from './fleet-pace.ts'
import { mayResume } from './resume-policy.ts'

import type { ResolvedRunServiceOptions } from '../options.ts'
import type { RunCode, StrandedRun } from '../ports/build-store.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { BuiltEnsemble, RunEnsembles } from './run-ensembles.ts'

/** Minimum interval of the checks, in milliseconds; otherwise that of the polls for due runs. */
const BUILD_CHECK_MS = 2_000

/** Number of processes on a store that suffices to check it often enough. */
const ENOUGH_CHECKERS = 2

/** Maximum number of runs of one check; the next check continues. */
const CHECKED_RUNS = 100

/** Maximum number of cancels of a run that are recorded: one in each mode. */
const MAX_CANCELS = 2

/** Maximum number of differences in a log entry. */
const LOGGED_DIFFERENCES = 20

/** Parts of a build check. */
export interface BuildCheckOptions {
  readonly storage: RunStorage
  readonly ensembles: RunEnsembles
  readonly settings: ResolvedRunServiceOptions
  /** Id of the build of this process. */
  readonly build: string
}

/** Checks runs whose code this process does not have. */
export class BuildCheck {
  readonly #options: BuildCheckOptions
  readonly #codes: Readonly<Record<string, string>>

  constructor(options: BuildCheckOptions) {
    this.#options = options
    this.#codes = options.ensembles.codes
  }

  /** Registers the codes of this process, and checks runs of other codes until the returned function is called. */
  start(): () => void {
    const { storage, settings } = this.#options
    const { logger, clock } = settings
    const onError = (error: unknown): void => {
      logger.warn('Failed to check runs of other builds', { error })
    }
    const task = async (): Promise<void> => {
      if (takesTurn(ENOUGH_CHECKERS, storage.queue.fleet.processes)) await this.#check()
    }
    this.#checkAll().catch(onError)
    return every({ clock, everyMs: Math.max(BUILD_CHECK_MS, settings.pollMs), task, onError })
  }

  async #checkAll(): Promise<void> {
    const { storage, ensembles, build } = this.#options
    await storage.builds.register(
      ensembles.built.map(({ name, digest, manifest }) => {
        return { build, ensemble: name, code: digest, manifest }
      }),
    )
    await this.#check({ includesHeld: true })
  }

  /** Takes or holds runs of other code. */
  async #check({ includesHeld = false }: { readonly includesHeld?: boolean } = {}): Promise<void> {
    const query = { codes: this.#codes, limit: CHECKED_RUNS, includesHeld }
    for (const run of await this.#options.storage.builds.findStranded(query))
      await this.#checkRun(run)
  }

  async #checkRun(run: StrandedRun): Promise<void> {
    const { ensembles, build, settings, storage } = this.#options
    const { builds } = storage
    const { logger, resumePolicy: policy, compatibleBuilds } = settings
    const built = ensembles.findBuilt(run.ensemble)
    if (built === undefined) return
    const own: RunCode = { build, code: built.digest }
    const differences = await this.#compare(run, built)
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
    const question = { run, own, differences, isAborted, begunTasks }
    if (mayResume(question, { policy, compatibleBuilds })) {
      if (await builds.move(run, own)) {
        if (run.code !== own.code)
          logger.info('Continuing a run with other code', { ...fields, to: own })
      }
    } else if (!run.isHeld && (await builds.hold(run))) {
      const next = `Start build ${run.build} again, or move the run: tutti migrate ${runId} --to ${build}`
      logger.warn('A run waits for a build', { ...fields, own, next })
    }
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
    const cancels = await this.#options.storage.events.read(query)
    return cancels.some((event) => event.type === 'run_cancelling' && event.mode === 'abort')
  }

  /** Returns the tasks that have begun. A delegated task can be any declared one, so all tasks count as begun. */
  async #findBegunTasks(
    { runId }: StrandedRun,
    { manifest }: BuiltEnsemble,
  ): Promise<ReadonlySet<string>> {
    const tasks = await this.#options.storage.runs.tasks(runId)
    const begun = tasks.filter(({ status }) => status !== 'PENDING').map(({ name }) => name)
    const isDelegated = begun.some((name) => manifest.tasks[name] === undefined)
    return new Set(isDelegated ? [...begun, ...Object.keys(manifest.tasks)] : begun)
  }
}

/** Returns the places of the differences, such as `research.description`. */
function describe(differences: readonly ManifestDifference[] | undefined): readonly string[] {
  if (differences === undefined) return ['unknown']
  return differences
    .slice(0, LOGGED_DIFFERENCES)
    .map(({ task, field }) => (task === undefined ? field : `${task}.${field}`))
}
