/**
 * Durable runs in one process: takes them in, has them executed, and lets anyone watch.
 *
 *   submit ─▶ store.create ─▶ executor ─▶ group commit ─▶ bus ─▶ readers
 *
 * It leaves what a run does to the engine, whose turn it is to the executor, and where things are kept
 * to the store.
 *
 * S1 A submit is answered after the run is durable; from then on it is executed, also after a crash.
 * S2 At most `maxConcurrentRuns` execute and `maxQueuedRuns` wait; one more is refused.
 * S3 `start` takes up every run that an earlier process left unfinished, oldest first.
 * S4 Cancel answers when the wish is durable; the run is CANCELLED only when its work has stopped.
 * S5 `close` lets running runs end for a while, then lets go of them: the next process takes them up.
 */
import { isoNow, TuttiError } from '@tutti/core'
import { assertInputs, type CancelOptions, type Ensemble } from '@tutti/ensemble'
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'

import { EventBus, type EventListener } from './event-bus.ts'
import { followEvents, type FollowOptions } from './follow-events.ts'
import { GroupCommit } from './group-commit.ts'
import {
  resolveRunServiceOptions,
  type ResolvedRunServiceOptions,
  type RunServiceOptions,
} from './options.ts'
import { RunExecutor } from './run-executor.ts'

import type { EventQuery, RunPage, RunQuery, RunStorage } from './ports/run-store.ts'
import type { NewRun, RunRecord, TaskRecord } from './run-record.ts'

/** What a run is asked to do. */
export interface SubmitRun {
  /** Name of the ensemble. @default the first one */
  readonly ensemble?: string
  readonly inputs?: Readonly<Record<string, string>>
  readonly tags?: Readonly<Record<string, string>>
  /** @default a random id */
  readonly runId?: string
}

/** A run with its tasks. */
export interface RunWithTasks {
  readonly run: RunRecord
  readonly tasks: readonly TaskRecord[]
}

/** How full the service is. */
export interface RunLoad {
  readonly running: number
  readonly queued: number
}

/** How long a caller that was refused should wait, in milliseconds; AgentEnsemble's number. */
const RETRY_AFTER_MS = 5_000

/** Random bytes of a run id: enough that two ids never meet. */
const RUN_ID_BYTES = 8

/** Durable runs of a set of ensembles over one store. */
export class RunService {
  readonly #storage: RunStorage
  readonly #ensembles: ReadonlyMap<string, Ensemble>
  readonly #settings: ResolvedRunServiceOptions
  readonly #bus: EventBus
  readonly #executor: RunExecutor
  #submitting = 0
  #closing: Promise<void> | undefined

  /**
   * @throws {TypeError} when there is no ensemble or two have the same name.
   * @throws {RangeError} naming every option that is out of range.
   */
  constructor(
    storage: RunStorage,
    ensembles: readonly Ensemble[],
    options: RunServiceOptions = {},
  ) {
    this.#storage = storage
    this.#ensembles = ensemblesByName(ensembles)
    this.#settings = resolveRunServiceOptions(options)
    const { logger, clock, tickMs } = this.#settings
    this.#bus = new EventBus((error) => {
      logger.error('A reader of run events threw', { error })
    })
    this.#executor = new RunExecutor({
      store: storage.runs,
      commits: new GroupCommit({ store: storage.runs, bus: this.#bus, clock, tickMs }),
      ensembles: this.#ensembles,
      settings: this.#settings,
    })
  }

  /** The ensembles that runs may name; the first is the default. */
  get ensembles(): readonly Ensemble[] {
    return [...this.#ensembles.values()]
  }

  get load(): RunLoad {
    return { running: this.#executor.running, queued: this.#executor.queued }
  }

  /** Whether new runs are taken. */
  get accepting(): boolean {
    return this.#closing === undefined
  }

  /** Takes up the runs that an earlier process left; resolves with their ids. */
  async start(): Promise<readonly string[]> {
    const unfinished = await this.#storage.runs.unfinished()
    this.#executor.enqueue(unfinished)
    return unfinished
  }

  /**
   * Takes a run in.
   *
   * @throws {TuttiError} INVALID_ENSEMBLE for an unknown name; INPUT_MISSING when template variables
   * have no value, with their names in `details.missing`; RUN_EXISTS when the id is taken;
   * CONCURRENCY_LIMIT when too many wait; DRAINING when no more are taken.
   */
  async submit(request: SubmitRun): Promise<RunRecord> {
    const ensemble = this.#ensembleNamed(request.ensemble)
    assertInputs(ensemble, request.inputs ?? {})
    this.#assertRoom()
    const run: NewRun = {
      runId: request.runId ?? newRunId(),
      ensemble: ensemble.name,
      workflow: ensemble.plan.workflow,
      inputs: request.inputs ?? {},
      tags: request.tags ?? {},
      taskCount: ensemble.tasks.length,
      createdAt: this.#settings.clock.now(),
    }
    await this.#keep(run, ensemble)
    this.#executor.enqueue([run.runId])
    return { ...run, status: 'ACCEPTED', completedTasks: 0, epoch: 0, lastSeq: 0 }
  }

  /** A run with its tasks, or undefined. */
  async get(runId: string): Promise<RunWithTasks | undefined> {
    const run = await this.#storage.runs.get(runId)
    return run === undefined ? undefined : { run, tasks: await this.#storage.runs.tasks(runId) }
  }

  /** The first task of a run that is being worked on, or undefined. */
  async currentTask({ runId, status }: RunRecord): Promise<TaskRecord | undefined> {
    if (isTerminalRunStatus(status)) return undefined
    const tasks = await this.#storage.runs.tasks(runId)
    return tasks.find((task) => task.status === 'RUNNING')
  }

  /** Runs, newest first. */
  list(query: RunQuery): Promise<RunPage> {
    return this.#storage.runs.list(query)
  }

  /** A run's events from `from` on, first from the log and then live, until its end. */
  follow(options: FollowOptions): AsyncGenerator<readonly LoggedRunEvent[]> {
    return followEvents({ events: this.#storage.events, bus: this.#bus }, options)
  }

  /** Events of a run as they are in the log now. */
  readEvents(query: EventQuery): Promise<readonly LoggedRunEvent[]> {
    return this.#storage.events.read(query)
  }

  /** Tells `listener` of the events of every run, each after it is durable, until stopped. */
  listenToAll(listener: EventListener): () => void {
    return this.#bus.listenToAll(listener)
  }

  /**
   * Cancels a run: what runs is aborted, or in mode `boundary` let finish, and the run is CANCELLED when
   * it has stopped; in mode `boundary` it is COMPLETED when nothing was left to start. Asked again it can
   * only become harder. Resolves with the status the run has now, when the wish is durable.
   *
   * @throws {TuttiError} RUN_NOT_FOUND; RUN_COMPLETED when it has ended already.
   */
  async cancel(
    runId: string,
    { mode = 'abort' }: CancelOptions = {},
  ): Promise<'CANCELLING' | 'CANCELLED'> {
    const run = await this.#unended(runId)
    const status = await this.#executor.cancel(run, mode)
    if (status !== undefined) return status
    await this.#unended(runId)
    throw new TuttiError('INTERRUPTED', `Run ${runId} goes on in another process`, {
      retryable: true,
    })
  }

  async #unended(runId: string): Promise<RunRecord> {
    const run = await this.#storage.runs.get(runId)
    if (run === undefined) throw new TuttiError('RUN_NOT_FOUND', `No run with ID ${runId}`)
    if (!isTerminalRunStatus(run.status)) return run
    const message = `Run ${runId} already completed with status ${run.status}`
    throw new TuttiError('RUN_COMPLETED', message)
  }

  /**
   * Takes and starts no more runs, waits up to `drainTimeoutMs` for those that execute, lets go of the
   * rest, and closes the store. A second call waits for the first.
   */
  close({ drainTimeoutMs }: { readonly drainTimeoutMs: number }): Promise<void> {
    this.#closing ??= this.#close(drainTimeoutMs)
    return this.#closing
  }

  async #close(drainTimeoutMs: number): Promise<void> {
    await this.#executor.stop(drainTimeoutMs)
    await this.#storage[Symbol.asyncDispose]()
  }

  async #keep(run: NewRun, { plan }: Ensemble): Promise<void> {
    this.#submitting += 1
    try {
      const first = await this.#storage.runs.create(run, {
        type: 'run_queued',
        queuedAt: isoNow(this.#settings.clock),
        ensemble: run.ensemble,
        workflow: plan.workflow,
        totalTasks: run.taskCount,
        inputs: { ...run.inputs },
        tags: { ...run.tags },
      })
      this.#bus.publish(run.runId, [first])
    } finally {
      this.#submitting -= 1
    }
  }

  #ensembleNamed(name: string | undefined): Ensemble {
    const [first] = this.#ensembles.values()
    const found = name === undefined ? first : this.#ensembles.get(name)
    if (found !== undefined) return found
    const known = [...this.#ensembles.keys()].join(', ')
    throw new TuttiError('INVALID_ENSEMBLE', `Unknown ensemble '${name}'. Available: [${known}]`)
  }

  #assertRoom(): void {
    if (!this.accepting) {
      throw new TuttiError('DRAINING', 'This server is shutting down and takes no new runs', {
        retryable: true,
      })
    }
    const { maxConcurrentRuns, maxQueuedRuns } = this.#settings
    const { running, queued } = this.load
    if (running + queued + this.#submitting < maxConcurrentRuns + maxQueuedRuns) return
    throw new TuttiError(
      'CONCURRENCY_LIMIT',
      `Maximum concurrent runs (${maxConcurrentRuns}) and queued runs (${maxQueuedRuns}) reached. ` +
        'Retry later.',
      { retryable: true, details: { retryAfterMs: RETRY_AFTER_MS } },
    )
  }
}

function ensemblesByName(ensembles: readonly Ensemble[]): ReadonlyMap<string, Ensemble> {
  const byName = new Map<string, Ensemble>()
  for (const ensemble of ensembles) {
    if (byName.has(ensemble.name)) {
      throw new TypeError(`Cannot serve two ensembles named "${ensemble.name}"`)
    }
    byName.set(ensemble.name, ensemble)
  }
  if (byName.size === 0) throw new TypeError('Cannot serve runs without an ensemble')
  return byName
}

function newRunId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(RUN_ID_BYTES))
  return `run-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
