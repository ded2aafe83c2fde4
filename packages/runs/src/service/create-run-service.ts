/** Creates a run service: the only code that connects its parts. */
import { computeJsonDigest } from '@tutti/core/internal'

import { GroupCommit } from '../commit/group-commit.ts'
import { takesTurn } from '../domain/fleet-pace.ts'
import { EventBus } from '../feed/event-bus.ts'
import { PageCache } from '../feed/page-cache.ts'
import { RunEventFeed } from '../feed/event-feed.ts'
import { RunEvents } from '../feed/run-events.ts'
import { RunExecutor } from '../lifecycle/run-executor.ts'
import { BuildCheck } from '../lineage/build-check.ts'
import { LivingBuilds } from '../lineage/living-builds.ts'
import { RunBuilds } from '../lineage/run-builds.ts'
import { RunForks } from '../lineage/run-forks.ts'
import { ByteBudget } from '../load/byte-budget.ts'
import { RunEnsembles } from '../request/run-ensembles.ts'
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
import type { RunService, ServiceStores } from './run-service.ts'

/**
 * Creates the service of a set of ensembles over a store, which it closes. It executes runs after `start`.
 *
 * @throws {TypeError} when there is no ensemble or two have the same name.
 * @throws {RangeError} naming every option that is out of range.
 */
export function createRunService(
  storage: RunStorage,
  ensembles: readonly Ensemble[],
  options: RunServiceOptions = {},
): RunService {
  const settings = resolveRunServiceOptions(options, storage.isShared)
  const { logger, clock, tickMs, reviews, profiles, maxConcurrentRuns } = settings
  const runEnsembles = new RunEnsembles(ensembles, settings, reviews)
  const build = settings.buildId ?? computeJsonDigest(runEnsembles.codes)
  const budget = new ByteBudget(settings.maxBytesInFlight)
  const common = { storage, settings, ensembles: runEnsembles, build, budget }

  const bus = new EventBus((error) => logger.error('A reader of run events threw', { error }))
  const pages = new PageCache(storage.events, clock)
  const feed = createFeed({ storage, bus, pages, settings }, (runId) => executor.executes(runId))
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
  const living = new LivingBuilds(storage, settings)
  const buildCheck = new BuildCheck({ ...common, living })
  const commands = new RunCommands({ ...common, executor, buildCheck, feed })
  const externalEvents = new RunExternalEvents({ storage, settings, commands })
  const loopParts = { bus, feed, commits, executor, buildCheck, commands, externalEvents }
  const loop = new ServiceLoop({ ...common, ...loopParts })
  const status = new ServiceStatus({ storage, executor, loop, maxConcurrentRuns })

  const threads = new RunThreads(storage, settings)
  const events = new RunEvents({ storage, bus, feed, pages })
  const acceptor = new RunAcceptor({ ...common, threads, living, executor, feed, events, status })
  const forks = new RunForks({
    ...common,
    buildRun: (submission) => acceptor.build(submission),
    accept: async (run, submission, fork) => (await acceptor.accept(run, submission, fork)).run,
  })
  const unreadable = new UnreadableReport(logger)
  const records = new RunRecords({ storage, feed, unreadable })

  return {
    ensembles: runEnsembles.all,
    profiles,
    processes: {
      own: executor.owner,
      hasLease: (id) => storage.queue.hasLease(id),
      takesTurn: (enough) => takesTurn(enough, storage.queue.fleet.processes),
    },
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
    start: () => loop.start(),
    close: ({ drainTimeoutMs }) => loop.close(drainTimeoutMs),
    beforeStoreCloses: (task) => loop.beforeStoreCloses(task),
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
  }
}

function createFeed(
  {
    storage,
    bus,
    pages,
    settings: { clock, logger },
  }: {
    readonly storage: RunStorage
    readonly bus: EventBus
    readonly pages: PageCache
    readonly settings: Pick<ResolvedRunServiceOptions, 'clock' | 'logger'>
  },
  isOwn: (runId: string) => boolean,
): RunEventFeed {
  return new RunEventFeed({
    events: storage.events,
    bus,
    pages,
    isOwn,
    clock,
    onError: (error) => logger.warn('Failed to read events of other processes', { error }),
  })
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
