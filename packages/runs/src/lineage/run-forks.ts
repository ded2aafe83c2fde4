/** Runs that begin with the record of another one. */
import { readFork, type ForkRequest } from './fork-request.ts'
import { planFork, planPreview, type AcceptedFork } from './plan-fork.ts'
import { readReplay, type ReplayRequest } from './replay-request.ts'

import type { ForkPreview } from '@tutti/protocol'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { ForkedLog } from '../ports/run-store.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { NewRun, RunRecord } from '../domain/run-record.ts'
import type { RunEnsembles } from '../request/run-ensembles.ts'
import type { RunSubmission } from '../request/new-run.ts'

/** The parts of a run service that forks use. */
export interface RunForksOptions {
  readonly storage: RunStorage
  readonly settings: ResolvedRunServiceOptions
  readonly ensembles: RunEnsembles
  /** Builds the run of a submission, if the service accepts runs. */
  readonly buildRun: (submission: RunSubmission) => NewRun
  /** Stores a run and starts to execute it. */
  readonly accept: (run: NewRun, submission: RunSubmission, fork: ForkedLog) => Promise<RunRecord>
}

/** Accepts forks and replays. */
export class RunForks {
  readonly #options: RunForksOptions

  constructor(options: RunForksOptions) {
    this.#options = options
  }

  /**
   * Accepts a run that begins with the log of another one, at no cost, and continues from there.
   *
   * @throws {TuttiError} RUN_NOT_FOUND; as `RunService.submit`, as `readFork`, and as `planFork`.
   */
  async create(parentRunId: string, request: ForkRequest): Promise<RunRecord> {
    const { settings, accept } = this.#options
    const { newRun, submission, ...accepted } = await this.#read(parentRunId, request)
    return accept(newRun, submission, await planFork(accepted, settings))
  }

  /**
   * Returns what a fork would do, without creating it. Limits for the number and the cost of runs do not apply.
   *
   * @throws {TuttiError} as `create`, except SIDE_EFFECTS, IDEMPOTENCY_CONFLICT, CONCURRENCY_LIMIT and SPEND_LIMIT.
   */
  async preview(parentRunId: string, request: ForkRequest): Promise<ForkPreview> {
    const { settings, storage } = this.#options
    return planPreview(await this.#read(parentRunId, request), settings, storage.runs)
  }

  /**
   * Accepts a run that executes another one again with the results in its record. The run fails with REPLAY_MISMATCH
   * where its code asks for something that is not recorded.
   *
   * @throws {TuttiError} RUN_NOT_FOUND; as `RunService.submit`, and as `readReplay`.
   */
  async replay(parentRunId: string, request: ReplayRequest): Promise<RunRecord> {
    const { storage, settings, buildRun, accept } = this.#options
    const { submission, fork } = await readReplay(storage, settings, { parentRunId, request })
    return accept(buildRun(submission), submission, fork)
  }

  async #read(
    parentRunId: string,
    request: ForkRequest,
  ): Promise<AcceptedFork & { readonly newRun: NewRun; readonly submission: RunSubmission }> {
    const { storage, settings, ensembles, buildRun } = this.#options
    const { submission, source } = await readFork(storage, settings, { parentRunId, request })
    const newRun = buildRun(submission)
    const { runId } = newRun
    return { newRun, submission, runId, ensemble: ensembles.build(newRun), request, source }
  }
}
