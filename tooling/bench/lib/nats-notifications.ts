/** Measures notifications of events to processes that follow the runs. */
import { setTimeout as sleep } from 'node:timers/promises'

import { builtPackage } from './built.ts'
import { sized } from './form.ts'
import { formatNumber, printClaim, printTable } from './report.ts'
import { nowMs } from './runs-teams.ts'

import type { ConnectEngine, DispatchEngine } from '../../../packages/runs/src/adapter.ts'
import type { NatsLocations } from './nats-stores.ts'

type NatsEntryPoint = typeof import('../../../packages/nats/src/index.ts')

const READERS = 50
const RUNS = 1_000
const NOTIFICATIONS = sized(200_000, 2_000)

/** Number of notifications after which the publisher lets others work. */
const BATCH = 1_000
const LIMIT_MS = 60_000

/** Prints the rate of notifications; one of many readers follows each. */
export async function measureNatsNotifications({ cluster }: NatsLocations): Promise<void> {
  const { natsEngine } = await builtPackage<NatsEntryPoint>('nats')
  const connect = await natsEngine({
    servers: cluster.url,
    prefix: 'bench_notifications',
    replicas: 3,
  })
  let received = 0
  const readers = Array.from({ length: READERS }, (_, reader) =>
    openEngine(connect, `reader-${reader}`, () => {
      received += 1
    }),
  )
  const writer = openEngine(connect, 'writer', () => undefined)
  await waitFor(() => [writer, ...readers].every(({ dispatcher }) => dispatcher.engine.isConnected))
  for (const [reader, { notifications }] of readers.entries()) {
    const runIds = Array.from({ length: RUNS / READERS }, (_, n) => `run-${n * READERS + reader}`)
    await notifications.follow({ runIds, all: false })
  }
  received = 0
  const beginMs = nowMs()
  for (let n = 0; n < NOTIFICATIONS; n += 1) {
    const runId = `run-${n % RUNS}`
    writer.notifications.publish([{ kind: 'events', runId, from: n, to: n }])
    if (n % BATCH === 0) await sleep(0)
  }
  await waitFor(() => received >= NOTIFICATIONS)
  const perSecond = received / ((nowMs() - beginMs) / 1_000)
  for (const engine of [writer, ...readers]) await engine[Symbol.asyncDispose]()
  printTable({
    title: `Notifications of events, 1 writer, ${READERS} readers that follow ${formatNumber(RUNS)} runs`,
    columns: ['', 'sent', 'received', 'per second'],
    rows: [
      [
        'NATS, three servers',
        formatNumber(NOTIFICATIONS),
        formatNumber(received),
        formatNumber(perSecond),
      ],
    ],
  })
  printClaim({
    text: 'NATS: at least 50,000 notifications/s reach the readers that follow their runs',
    atLeast: 50_000,
    measured: perSecond,
    unit: '/s',
  })
}

/** Connects the engine to a store without runs. */
function openEngine(
  connect: ConnectEngine,
  processName: string,
  onEvents: () => void,
): DispatchEngine {
  return connect({
    processName,
    queue: { claimOffered: () => Promise.resolve([]) },
    outbox: { claim: () => Promise.resolve([]), settle: () => Promise.resolve() },
    dispatcher: { take: () => Promise.resolve([]) },
    notifications: { send: () => undefined },
    receive(notifications) {
      for (const { kind } of notifications) if (kind === 'events') onEvents()
    },
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: () => undefined,
    },
  })
}

async function waitFor(holds: () => boolean): Promise<void> {
  const until = nowMs() + LIMIT_MS
  while (!holds() && nowMs() < until) await sleep(5)
}
