/**
 * The builds that live, as this process read them last, and the choice of one for each new run.
 *
 * The list may be outdated. A run that was given to a build that no longer lives is given to another one by a
 * `BuildCheck`.
 */
import { TuttiError } from '@tutti/core'
import { shortList, shortText } from '@tutti/protocol'

import { chooseBuild } from './choose-build.ts'
import { every } from './every.ts'
import { nextPollMs } from './fleet-pace.ts'

import type { ResolvedRunServiceOptions } from '../options.ts'
import type { ChosenCode, LivingBuild } from '../ports/build-store.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { NewRun } from '../run-record.ts'

/** Minimum interval at which a process reads the list, in milliseconds; that of a large fleet is longer. */
export const BUILD_POLL_MS = 2_000

/** Number of polls for due runs of a large fleet for each time that one of its processes reads the list. */
const POLLS_PER_READ = 4

type LivingBuildSettings = Pick<ResolvedRunServiceOptions, 'clock' | 'logger' | 'pollMs'>

/** Knows the builds that live. */
export class LivingBuilds {
  readonly #storage: RunStorage
  readonly #settings: LivingBuildSettings
  #living: readonly LivingBuild[] = []

  constructor(storage: RunStorage, settings: LivingBuildSettings) {
    this.#storage = storage
    this.#settings = settings
  }

  /** Number of processes that execute runs, at least 1. */
  get processes(): number {
    const byBuild = new Map<string, number>()
    for (const { build, processes } of this.#living) {
      byBuild.set(build, Math.max(byBuild.get(build) ?? 0, processes))
    }
    return Math.max(
      1,
      [...byBuild.values()].reduce((sum, count) => sum + count, 0),
    )
  }

  /** Reads the list again and again, until the returned function is called. */
  start(): () => void {
    const { clock, logger, pollMs } = this.#settings
    const onError = (error: unknown): void => {
      logger.warn('Failed to read the living builds', { error })
    }
    this.refresh().catch(onError)
    const everyMs = (): number => {
      const { processes } = this.#storage.queue.fleet
      const share = processes === 1 ? 1 : POLLS_PER_READ * processes
      return nextPollMs(Math.max(BUILD_POLL_MS, pollMs), share)
    }
    const task = async (): Promise<void> => {
      if (this.#storage.isAvailable) await this.refresh()
    }
    return every({ clock, everyMs, task, onError })
  }

  /** Reads the list. */
  async refresh(): Promise<void> {
    this.#living = await this.#storage.builds.living()
  }

  /** Chooses the build of a run; undefined if no build is known to live. */
  choose(run: Pick<NewRun, 'runId' | 'ensemble'>): ChosenCode | undefined {
    const chosen = chooseBuild(this.#living, run)
    return chosen && { build: chosen.build, code: chosen.code, isFixed: false }
  }

  /**
   * Returns the code of a build that the submission names.
   *
   * @throws {TuttiError} BAD_REQUEST if the build does not live or lacks the ensemble.
   */
  async require(ensemble: string, build: string): Promise<ChosenCode> {
    const find = (): LivingBuild | undefined =>
      this.#living.find((living) => living.ensemble === ensemble && living.build === build)
    if (find() === undefined) await this.refresh()
    const found = find()
    if (found !== undefined) return { build, code: found.code, isFixed: true }
    const names = this.#living
      .filter((living) => living.ensemble === ensemble)
      .map((living) => living.build)
    const message = `no living build "${shortText(build)}" has ensemble "${shortText(ensemble)}". Living builds: [${shortList([...new Set(names)])}]`
    throw new TuttiError('BAD_REQUEST', `Cannot submit the run: ${message}`, {
      details: { problems: [{ path: '/build', message }] },
    })
  }
}
