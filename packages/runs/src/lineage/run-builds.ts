/** The builds on a store, and the runs that move between them. */
import { RunStatus } from '@tutti/protocol'

import { isWholeCode, WHOLE_SEPARATOR } from '../domain/claim-key.ts'
import { buildNotFound } from '../domain/refusals.ts'
import { migrateRun, type RunMigration } from './migrate-run.ts'

import type { RunMigrated } from '@tutti/protocol/internal'
import type { KnownBuild } from '../ports/build-store.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { LivingBuilds } from './living-builds.ts'

/** Lists builds, and changes which runs they get. */
export class RunBuilds {
  /** Id of the build of this process. */
  readonly own: string
  readonly #storage: RunStorage
  readonly #living: LivingBuilds

  constructor(own: string, storage: RunStorage, living: LivingBuilds) {
    this.own = own
    this.#storage = storage
    this.#living = living
  }

  /** Returns the codes of all builds that have started. Those that first started last come first. */
  async list(): Promise<readonly KnownBuild[]> {
    return foldWholeCodes(await this.#storage.builds.list())
  }

  /**
   * Sets the percentage of new runs that a build gets while older builds live. Processes apply it within two seconds.
   *
   * @throws {TuttiError} BUILD_NOT_FOUND.
   */
  async setShare(build: string, share: number): Promise<void> {
    if (!(await this.#storage.builds.setShare(build, share))) throw buildNotFound(build)
    await this.#living.refresh()
  }

  /** Moves a run that waits to the code of another build; see `migrateRun`. */
  migrate(runId: string, request: RunMigration): Promise<RunMigrated> {
    return migrateRun(this.#storage, runId, request)
  }
}

/** Returns the codes of single ensembles, with the runs of whole codes (RUNS-Z20) counted to that of their ensemble. */
function foldWholeCodes(builds: readonly KnownBuild[]): readonly KnownBuild[] {
  const whole = builds.filter(({ code }) => isWholeCode(code))
  return builds
    .filter(({ code }) => !isWholeCode(code))
    .map((one) => {
      const unfinished: Partial<Record<RunStatus, number>> = { ...one.unfinished }
      for (const other of whole) {
        const [code] = other.code.split(WHOLE_SEPARATOR)
        if (other.build !== one.build || other.ensemble !== one.ensemble || code !== one.code) {
          continue
        }
        for (const status of RunStatus.enum) {
          const runs = (unfinished[status] ?? 0) + (other.unfinished[status] ?? 0)
          if (runs > 0) unfinished[status] = runs
        }
      }
      return { ...one, unfinished }
    })
}
