/** Creates a run service: the only code that connects its parts. */
import { TuttiError } from '@tutti/core'
import { computeJsonDigest } from '@tutti/core/internal'

import { GroupCommit } from '../commit/group-commit.ts'
import { takesTurn } from '../domain/fleet-pace.ts'
import { EventBus } from '../feed/event-bus.ts'
import { PageCache } from '../feed/page-cache.ts'
import { RunEventFeed } from '../feed/event-feed.ts'
import { RunEvents } from '../feed/run-events.ts'
import { createExpiryLoop } from '../lifecycle/expire-runs.ts'
import { RunExecutor } from '../lifecycle/run-executor.ts'
import { BuildCheck } from '../lineage/build-check.ts'
import { LivingBuilds } from '../lineage/living-builds.ts'
import { RunBuilds } from '../lineage/run-builds.ts'
import { RunForks } from '../lineage/run-forks.ts'
import { ByteBudget } from '../load/byte-budget.ts'
import { buildNewRun } from '../request/new-run.ts'
import { RunEnsembles } from '../request/run-ensembles.ts'
import { RunSchedules } from '../schedules/run-schedules.ts'
import { reportExecuted } from '../settings/activity.ts'
import {
  resolveRunServiceOptions,
  type ResolvedRunServiceOptions,
  type RunServiceOptions,
} from '../settings/options.ts'
import { RunThreads } from '../threads/run-threads.ts'
import { RunExternalEvents } from './external-events.ts'
import { RunAcceptor } from './run-acceptor.ts'
import { RunCommands } from './run-commands.ts'
import { RunRecords } from './run-records.ts'
import { RunReviews } from './run-reviews.ts'
import { ServiceLoop } from './service-loop.ts'
import { ServiceStatus } from './service-status.ts'
import { UnreadableReport } from './unreadable-report.ts'

import type { Ensemble } from '@tutti/ensemble'
import type { RunStorage } from '../ports/run-storage.ts'
import type { RunProcesses } from './run-processes.ts'
import type { RunService, ServiceStores } from './run-service.ts'

/**
 * Creates the service of a set of ensembles over a store, which it closes. It executes runs after `start`.
 *
 * @throws {TypeError} without ensembles, or if two have the same name.
 * @throws {RangeError} naming every option that is out of range.
 */
export function createRunService(
  storage: RunStorage,
  ensembles: readonly Ensemble[],
  options: RunServiceOptions = {},
): RunService {
  const settings = resolveRunServiceOptions(options, storage)
  const { logger, clock, tickMs, reviews, profiles, maxConcurrentRuns } = settings
  const runEnsembles = new RunEnsembles(ensembles, settings, reviews)
  const build = settings.buildId ?? computeJsonDigest(runEnsembles.codes)
  const budget = new ByteBudget(settings.maxBytesInFlight)
  const common = { storage, settings, ensembles: runEnsembles, build, budget }

  const reading = createFeed(storage, settings, (runId) => executor.executes(runId))
  const { feed } = reading
  const commits = new GroupCommit({
    store: storage.runs,
    onWritten: (runId, events) => {
      reportExecuted(settings, runId, events)
      externalEvents.onWritten(events)
      feed.offer(runId, events)
    },
    clock,
    tickMs,
  })
  const executor = new RunExecutor({ ...common, commits })
  const expiry = createExpiryLoop({ ...common, executor })
  const living = new LivingBuilds(storage, settings)
  const buildCheck = new BuildCheck({ ...common, living })
  const commands = new RunCommands({ ...common, executor, buildCheck, feed })
  const externalEvents = new RunExternalEvents({ storage, settings, commands })
  const timers = [expiry, { start: () => schedules.loop.start() }]
  const working = { commits, executor, buildCheck, commands, externalEvents, timers }
  const loop = new ServiceLoop({ ...common, ...reading, ...working })
  const status = new ServiceStatus({ storage, executor, loop, maxConcurrentRuns })

  const threads = new RunThreads(storage, settings)
  const events = new RunEvents({ storage, ...reading })
  const accepting = { ...common, threads, living, executor, expiry, feed, events, status }
  const acceptor = new RunAcceptor(accepting)
  const forks = new RunForks({
    ...common,
    buildRun: (submission) => acceptor.build(submission),
    accept: async (run, submission, fork) => (await acceptor.accept(run, submission, fork)).run,
  })
  const schedules = createSchedules({ ...common, acceptor, commands })
  const unreadable = new UnreadableReport(logger)
  const records = new RunRecords({ storage, feed, unreadable })

  return {
    ensembles: runEnsembles.all,
    profiles,
    clock,
    processes: createProcesses(storage, executor.owner),
    budget,
    status,
    forks,
    builds: new RunBuilds(build, storage, living),
    threads,
    reviews: new RunReviews(storage, unreadable),
    externalEvents,
    listeners: {
      add: (listener) => events.listenToAll(listener),
      connect: () => events.connectListeners(),
    },
    stores: pickStores(storage),
    schedules,
    async start() {
      await schedules.syncConfig()
      return loop.start()
    },
    close: ({ drainTimeoutMs }) => loop.close(drainTimeoutMs),
    beforeStoreCloses: (task) => loop.beforeStoreCloses(task),
    ...runMethods({ acceptor, records, commands, events }),
  }
}

/** Creates the parts that read events. `isOwn` says whether a run executes here. */
function createFeed(
  storage: RunStorage,
  { clock, logger }: Pick<ResolvedRunServiceOptions, 'clock' | 'logger'>,
  isOwn: (runId: string) => boolean,
) {
  const bus = new EventBus((error) => logger.error('A reader of run events threw', { error }))
  const pages = new PageCache(storage.events, clock)
  const feed = new RunEventFeed({
    events: storage.events,
    bus,
    pages,
    isOwn,
    clock,
    onError: (error) => logger.warn('Failed to read events of other processes', { error }),
  })
  return { bus, pages, feed }
}

/** Parts that schedules need. */
interface SchedulingParts {
  readonly storage: RunStorage
  readonly settings: ResolvedRunServiceOptions
  readonly ensembles: RunEnsembles
  readonly acceptor: RunAcceptor
  readonly commands: RunCommands
}

function createSchedules({
  storage,
  settings,
  ensembles,
  acceptor,
  commands,
}: SchedulingParts): RunSchedules {
  return new RunSchedules({
    storage,
    settings,
    submit: (submission) => acceptor.submit(submission),
    check: (submission) => buildNewRun(submission, { ...settings, ensembles }),
    cancel: (runId) => commands.send(runId, { kind: 'cancel', cause: 'SERVER' }).catch(ignoreEnd),
  })
}

/** Parts that serve the runs of a service. */
interface ServingParts {
  readonly acceptor: RunAcceptor
  readonly records: RunRecords
  readonly commands: RunCommands
  readonly events: RunEvents
}

/** Returns the methods of a service that submit, read and steer runs. */
function runMethods({ acceptor, records, commands, events }: ServingParts) {
  return {
    submit: (request) => acceptor.submit(request),
    submitAndFollow: (request) => acceptor.submitAndFollow(request),
    record: (runId) => records.find(runId),
    get: (runId) => records.get(runId),
    list: (query) => records.list(query),
    listByChange: (query) => records.listByChange(query),
    delete: (runId) => records.delete(runId),
    send: (runId, command) => commands.send(runId, command),
    follow: (query) => events.follow(query),
    readEvents: (query) => events.read(query),
  } satisfies Partial<RunService>
}

/** Ignores that a run to cancel has ended, or has been deleted. */
function ignoreEnd(error: unknown): void {
  const isOver = TuttiError.isInstance(error) && ENDED.includes(error.code)
  if (!isOver) throw error
}

const ENDED: readonly string[] = ['RUN_COMPLETED', 'RUN_NOT_FOUND']

function createProcesses({ queue }: RunStorage, own: string): RunProcesses {
  return {
    own,
    hasLease: (id) => queue.hasLease(id),
    takesTurn: (enough) => takesTurn(enough, queue.fleet.processes),
  }
}

function pickStores(storage: RunStorage): ServiceStores {
  const { audit, secrets, outbox } = storage
  return {
    audit,
    secrets,
    outbox,
    listenToOutbox: (listener) =>
      storage.listen(({ kind }) => {
        if (kind === 'delivery' || kind === 'missed') listener()
      }),
  }
}
