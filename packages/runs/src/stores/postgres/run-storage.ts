/**
 * Durable runs in Postgres 15 or later, for any number of processes: tables in a separate schema, connection pools for
 * leases, requests and lists, and one connection that listens. The clock of the database counts.
 */
import { systemClock, TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { notificationGatherMs, notifiesOfEvents } from '../../domain/fleet-pace.ts'
import { storeDispatcher } from '../../ports/dispatcher.ts'
import { Availability } from './database/availability.ts'
import { classifyError, unavailable } from './database/connection-errors.ts'
import { PostgresClaims } from './queue/claims.ts'
import { awaitClosing } from './database/connections.ts'
import { Database, PLAN_LISTS, PLAN_ONCE } from './database/database.ts'
import { DatabaseClock } from './database/database-clock.ts'
import { PostgresEventLog } from './log/event-log.ts'
import { leaveFleet } from './queue/leases.ts'
import { migratePostgres } from './schema/migrations.ts'
import { PostgresOfferOutbox } from './queue/offer-outbox.ts'
import { OwnedRuns } from '../shared/log/owned-runs.ts'
import { NotificationSender } from './notifications/notification-sender.ts'
import { PostgresNotifications, toSharedChannel } from './notifications/notifications.ts'
import {
  resolvePostgresRunStorageOptions,
  type PostgresRunStorageOptions,
  type ResolvedPostgresRunStorageOptions,
} from './database/options.ts'
import { ProcessWaker } from './notifications/process-waker.ts'
import { PostgresRunQueue } from './queue/run-queue.ts'
import { PostgresCommandQueue } from './queue/command-queue.ts'
import { ExternalEventTable } from '../shared/tables/external-events.ts'
import { auditLog } from '../shared/tables/audit-log.ts'
import { runMemory } from '../shared/tables/run-memory.ts'
import { scheduleStore } from '../shared/tables/schedule-store.ts'
import { secretStore } from '../shared/tables/secret-store.ts'
import { webhookOutbox } from '../shared/tables/webhook-outbox.ts'
import { threadStore } from '../shared/runs/thread-store.ts'
import { postgresDialect } from './schema/dialect.ts'
import {
  postgresAuditInserter,
  postgresDeliveryClaimer,
  postgresEventAssigner,
  postgresMemoryAppender,
} from './tables/table-writes.ts'
import { PostgresRunStore } from './runs/run-store.ts'
import { postgresBuildStore } from './tables/build-store.ts'
import { LastUnfinishedCount } from './rows/unfinished-count.ts'

import type { DispatchEngine } from '../../ports/dispatch-engine.ts'
import type { Notifications } from '../../ports/notifications.ts'
import type { StoreParts } from '../shared/schema/dialect.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { PostgresParts } from './rows/parts.ts'
import type { CreatingParts } from './runs/create-run.ts'

/** The oldest supported version of Postgres, as `server_version_num`. */
const OLDEST_VERSION = 150_000

/**
 * Opens the run store in a database, and creates its tables if they do not exist.
 *
 * @throws {RangeError} naming every option that is out of range.
 * @throws {TuttiError} STORE_UNAVAILABLE when the database cannot be reached or used, with host, port and
 * reason; SCHEMA_TOO_NEW when a newer release has written it.
 */
export async function postgresRunStorage(options: PostgresRunStorageOptions): Promise<RunStorage> {
  const settings = resolvePostgresRunStorageOptions(options)
  const { connectionString, listenConnectionString, logger, schema } = settings
  const availability = new Availability({
    connectionString,
    logger,
    notify(changes) {
      notifications.notify(changes)
    },
  })
  const onLost = availability.reportLost.bind(availability)
  const clock = new DatabaseClock(logger)
  const notifications = new PostgresNotifications({
    connectionString: listenConnectionString,
    schema,
    logger,
    clock,
    onLost,
    isIdle: () => owned.isEmpty,
  })
  const owned = new OwnedRuns()
  const databases = openDatabases(settings, onLost)
  const { database, requests, searches } = databases
  const sender = createSender(settings, { database, notifications }, () => claims.fleet.processes)
  const outbox = new PostgresOfferOutbox(database)
  const close = async (): Promise<void> => {
    availability.close()
    sender.close()
    await Promise.all([notifications.close(), database.close(), requests.close(), searches.close()])
  }
  try {
    await open({ database, notifications, settings })
    if (settings.engine !== undefined) await outbox.open()
  } catch (error) {
    await close()
    throw error
  }
  const leave = async (): Promise<void> => {
    await engine?.[Symbol.asyncDispose]()
    if (availability.isAvailable) await awaitClosing(leaveFleet(database, notifications.channel))
  }
  const parts = {
    ...databases,
    notifications,
    carrier: carryOver(sender, () => engine?.notifications),
    waker: new ProcessWaker({ notifications, sender, findEngine: () => engine }),
    owned,
    unfinished: new LastUnfinishedCount(() => systemClock.elapsed()),
    sharedChannel: toSharedChannel(schema),
  }
  const claims = new PostgresClaims(parts)
  const queue = new PostgresRunQueue(parts, claims)
  const store = storeDispatcher((request) => claims.take(request))
  const engine: DispatchEngine | undefined = settings.engine?.({
    processName: notifications.channel,
    queue,
    outbox,
    dispatcher: store,
    notifications: sender,
    receive: (received) => {
      notifications.notify(received)
    },
    logger,
  })
  let closing: Promise<void> | undefined
  return {
    ...createPorts({ ...parts, claims }),
    queue,
    dispatcher: engine?.dispatcher ?? store,
    processName: notifications.channel,
    isShared: true,
    clock,
    get isAvailable() {
      return availability.isAvailable
    },
    listen: (listener) => notifications.listen(listener),
    [Symbol.asyncDispose]: () => (closing ??= leave().then(close)),
  }
}

/** Creates the sender of notifications; the more processes there are, the longer it gathers them. */
function createSender(
  { logger }: ResolvedPostgresRunStorageOptions,
  { database, notifications }: Pick<PostgresParts, 'database' | 'notifications'>,
  countProcesses: () => number,
): NotificationSender {
  return new NotificationSender({
    channel: notifications.channel,
    schema: database.schema,
    query: (sql, values) => database.query(sql, values),
    logger,
    gatherMs: () => notificationGatherMs(countProcesses()),
    notifiesOfEvents: () => notifiesOfEvents(countProcesses()),
  })
}

/** Creates the ports that only read and write. */
function createPorts(
  parts: CreatingParts,
): Omit<
  RunStorage,
  | 'queue'
  | 'dispatcher'
  | 'processName'
  | 'isShared'
  | 'clock'
  | 'isAvailable'
  | 'listen'
  | typeof Symbol.asyncDispose
> {
  const { requests, searches } = parts
  const shared: StoreParts = { dialect: postgresDialect, requests, searches }
  return {
    runs: new PostgresRunStore(parts),
    threads: threadStore(shared),
    commands: new PostgresCommandQueue(parts),
    events: new PostgresEventLog(parts),
    outbox: webhookOutbox(shared, postgresDeliveryClaimer(requests)),
    audit: auditLog(shared, postgresAuditInserter(requests)),
    builds: postgresBuildStore(parts),
    secrets: secretStore(shared),
    externalEvents: new ExternalEventTable(shared, postgresEventAssigner(requests)),
    schedules: scheduleStore(shared),
    ...runMemory(shared, postgresMemoryAppender(requests)),
  }
}

/** Sends notifications over the engine, or over the database if there is none. */
function carryOver(
  sender: NotificationSender,
  findEngine: () => Notifications | undefined,
): Notifications {
  return {
    send: (notifications) => {
      ;(findEngine() ?? sender).send(notifications)
    },
    publish: (written) => findEngine()?.publish(written),
    follow: async (query) => (await findEngine()?.follow(query)) ?? false,
  }
}

/** Divides the connections by what they are for, so that leases never wait for requests, or requests for lists. */
function openDatabases(
  settings: ResolvedPostgresRunStorageOptions,
  onLost: (error: unknown) => void,
): Pick<PostgresParts, 'database' | 'requests' | 'searches'> {
  const { maxConnections, queryLimitMs, ...shared } = settings
  const { connectionString, readConnectionString } = settings
  const share = Math.floor(maxConnections / 3)
  const common = { ...shared, maxConnections: share, onLost }
  return {
    // An idle process polls more rarely than a pool closes its idle connections.
    database: new Database({ ...common, minConnections: 1, planner: PLAN_ONCE }),
    requests: new Database({
      ...common,
      maxConnections: maxConnections - 2 * share,
      queryLimitMs,
    }),
    searches: new Database({
      ...common,
      connectionString: readConnectionString,
      queryLimitMs,
      // The plan of a search depends on its values.
      preparedStatements: false,
      planner: PLAN_LISTS,
      // A replica that cannot be reached fails its own reads only.
      ...(readConnectionString === connectionString
        ? {}
        : { isReplica: true, onLost: () => undefined }),
    }),
  }
}

async function open({
  database,
  notifications,
  settings,
}: {
  readonly database: Database
  readonly notifications: PostgresNotifications
  readonly settings: ResolvedPostgresRunStorageOptions
}): Promise<void> {
  const { connectionString, listenConnectionString } = settings
  try {
    await assertUsable(database)
    await migratePostgres(database, settings)
  } catch (error) {
    if (TuttiError.isInstance(error) || classifyError(error) === 'collision') throw error
    throw unavailable(error, connectionString)
  }
  try {
    await notifications.open()
  } catch (error) {
    throw unavailable(error, listenConnectionString)
  }
}

async function assertUsable(database: Database): Promise<void> {
  const [server] = await database.query(
    `SELECT current_setting('server_version_num')::int AS version,
       current_setting('server_version') AS name, current_setting('server_encoding') AS encoding`,
  )
  const problems = [
    ...(Number(server?.['version']) >= OLDEST_VERSION
      ? []
      : [`the server has version ${String(server?.['name'])}, expected 15 or later`]),
    ...(server?.['encoding'] === 'UTF8'
      ? []
      : [`the encoding is ${String(server?.['encoding'])}, expected UTF8`]),
  ]
  if (problems.length > 0) throw new Error(problems.map(errorMessage).join('; '))
}
