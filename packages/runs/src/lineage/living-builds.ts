/**
 * The builds that live, and the choice of one for each new run. Only processes that accept runs read the list often.
 *
 * The list may be outdated by two seconds. A `BuildCheck` assigns the runs of a build without living processes to
 * another build.
 */
import { TuttiError } from '@tutti/core'
import { shortList, shortText } from '@tutti/protocol/internal'

import { listNestedEnsembles } from '../domain/nested-ensembles.ts'
import { chooseBuild, selectBuilds } from './choose-build.ts'

import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { BuildCode, ChosenCode } from '../domain/run-code.ts'
import type { BuildStore, LivingBuild } from '../ports/build-store.ts'
import type { NewRun } from '../domain/run-record.ts'

/** Maximum age of the list when a new run gets its build, in milliseconds. */
const MAX_AGE_MS = 2_000

/** The part of a storage that has the list. */
interface LivingBuildsStorage {
  readonly builds: Pick<BuildStore, 'living'>
}

/** Knows the builds that live. */
export class LivingBuilds {
  readonly #storage: LivingBuildsStorage
  readonly #settings: Pick<ResolvedRunServiceOptions, 'clock'>
  #living: readonly LivingBuild[] = []
  #readAt = -Infinity

  constructor(storage: LivingBuildsStorage, settings: Pick<ResolvedRunServiceOptions, 'clock'>) {
    this.#storage = storage
    this.#settings = settings
  }

  /** Reads the list, unless it was read within the last `maxAgeMs` milliseconds. */
  async refresh(maxAgeMs = 0): Promise<void> {
    if (this.#isRead(maxAgeMs)) return
    // Submits during the read use the earlier list.
    this.#readAt = this.#settings.clock.elapsed()
    try {
      this.#living = await this.#storage.builds.living()
    } catch (error) {
      this.#readAt = -Infinity
      throw error
    }
  }

  #isRead(maxAgeMs: number): boolean {
    return this.#settings.clock.elapsed() - this.#readAt < maxAgeMs
  }

  /** Whether a process that lives has the code of a run. */
  async has({ ensemble, code }: Pick<BuildCode, 'ensemble' | 'code'>): Promise<boolean> {
    await this.refresh()
    return this.#living.some((living) => living.ensemble === ensemble && living.code === code)
  }

  /** Chooses the build of a run; undefined if no build is known to live that has its ensembles. */
  async choose(
    run: Pick<NewRun, 'runId' | 'ensemble' | 'request'>,
  ): Promise<ChosenCode | undefined> {
    if (!this.#isRead(MAX_AGE_MS)) await this.refresh(MAX_AGE_MS)
    const chosen = chooseBuild(this.#listFor(run), run)
    return chosen && { build: chosen.build, code: chosen.code, isFixed: false }
  }

  /** Returns the codes of the builds that have the ensemble of a run and those of its tasks. */
  #listFor({ ensemble, request }: Pick<NewRun, 'ensemble' | 'request'>): readonly LivingBuild[] {
    return selectBuilds(this.#living, ensemble, listNestedEnsembles(request))
  }

  /** Returns the code of a build that the submission names; a BAD_REQUEST if it does not live or lacks an ensemble. */
  async find(
    run: Pick<NewRun, 'ensemble' | 'request'>,
    build: string,
  ): Promise<ChosenCode | TuttiError> {
    const { ensemble } = run
    const find = (): LivingBuild | undefined =>
      this.#listFor(run).find((living) => living.build === build)
    if (find() === undefined) await this.refresh()
    const found = find()
    if (found !== undefined) return { build, code: found.code, isFixed: true }
    const names = this.#listFor(run).map((living) => living.build)
    const nested = listNestedEnsembles(run.request).filter((name) => name !== ensemble)
    const wanted =
      nested.length === 0
        ? `ensemble "${shortText(ensemble)}"`
        : `the ensembles ${shortList([ensemble, ...nested])}`
    const message = `no living build "${shortText(build)}" has ${wanted}. Living builds: [${shortList([...new Set(names)])}]`
    return new TuttiError('BAD_REQUEST', `Cannot submit the run: ${message}`, {
      details: { problems: [{ path: '/build', message }] },
    })
  }
}
