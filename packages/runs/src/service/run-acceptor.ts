/** Accepts submissions while the service accepts runs. */
import { draining, storeUnavailable } from '../domain/refusals.ts'
import { field } from '../domain/field.ts'
import { buildNewRun, type RunSubmission } from '../request/new-run.ts'
import { acceptRun, type AcceptedRun, type AcceptingParts } from './accept-run.ts'

import type { NewRun, RunRecord } from '../domain/run-record.ts'
import type { RunEvents } from '../feed/run-events.ts'
import type { CreateRunOptions } from '../ports/run-store.ts'
import type { RunEnsembles } from '../request/run-ensembles.ts'
import type { RunWithEvents } from './run-service.ts'
import type { ServiceStatus } from './service-status.ts'

/** Parts that accept submissions. */
export interface RunAcceptorOptions extends AcceptingParts {
  readonly ensembles: RunEnsembles
  readonly events: RunEvents
  readonly status: ServiceStatus
}

/** Accepts submissions. */
export class RunAcceptor {
  readonly #options: RunAcceptorOptions

  constructor(options: RunAcceptorOptions) {
    this.#options = options
  }

  /** Accepts a run; see `RunService.submit`. */
  async submit(request: RunSubmission): Promise<RunRecord> {
    const { run } = await this.accept(this.build(request), request)
    return run
  }

  /** Accepts a run and follows it; see `RunService.submitAndFollow`. */
  async submitAndFollow(request: RunSubmission): Promise<RunWithEvents> {
    const newRun = this.build(request)
    const events = this.#options.events.followNew(newRun.runId)
    let isFollowed = false
    try {
      const { run, isNew } = await this.accept(newRun, request)
      isFollowed = isNew
      return { run, events: isNew ? events : undefined }
    } finally {
      if (!isFollowed) await events.return?.()
    }
  }

  /** Builds the run of a submission. @throws {TuttiError} DRAINING; STORE_UNAVAILABLE; and as `buildNewRun`. */
  build(request: RunSubmission): NewRun {
    const { settings, ensembles, status } = this.#options
    const run = buildNewRun(request, { ...settings, ensembles })
    const { state } = status
    if (state === 'DRAINING') throw draining()
    if (state === 'STORE_UNAVAILABLE') throw storeUnavailable()
    return run
  }

  /** Stores a run and starts to execute it. */
  accept(
    run: NewRun,
    request: RunSubmission,
    fork?: CreateRunOptions['fork'],
  ): Promise<AcceptedRun> {
    return acceptRun(this.#options, { run, request, ...field('fork', fork) })
  }
}
