/**
 * Measures one machine with 1, 2 and 4 server processes: with a file for each process, and with one Postgres on the
 * same machine for all. The client, the servers and Postgres share the processors.
 *
 * How it is fair:
 * - The number of concurrent runs is the same in each row, and divided among the processes.
 * - Every run is checked, as in `server.ts`. Both stores wait for the disk at each commit.
 * - Postgres has its default settings. Forms take turns, and each starts again in each round, with a warm-up.
 */
import { availableParallelism, cpus } from 'node:os'
import { fileURLToPath } from 'node:url'

import { testServer } from '../postgres/test-database.ts'
import { sized } from './lib/form.ts'
import { median } from './lib/measure.ts'
import { formatNumber, printTable } from './lib/report.ts'
import { LoadClient, type LoadBounds } from './lib/server-load.ts'
import { startServerProcess } from './lib/server-process.ts'
import { TUTTI, tuttiCommand } from './lib/server-products.ts'

/** Concurrent runs of all processes together. */
const WIDTH = 40
const ROUNDS = sized(3, 1, 1)
const SHORT_LOAD: LoadBounds = { runs: 50, forMs: 500 }
const WARM_UP = sized<LoadBounds>({ runs: 3_000, forMs: 4_000 }, SHORT_LOAD)
const LOAD = sized<LoadBounds>({ runs: 8_000, forMs: 4_000 }, SHORT_LOAD)
const PROCESSES = sized([1, 2, 4], [2])

const CONFIG = fileURLToPath(new URL('fixtures/server-order.config.mjs', import.meta.url))

// Exiting this process ends the servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

interface Form {
  readonly store: 'a file each' | 'one Postgres'
  readonly processes: number
}

interface Measurements {
  readonly perSecond: number
  readonly resultMs: number
  /** Processor time of the servers per run, in milliseconds. */
  readonly serverMs: number
  /** Processor time of the whole machine per run, in milliseconds. */
  readonly machineMs: number
}

const forms = PROCESSES.flatMap((processes): readonly Form[] => [
  { store: 'a file each', processes },
  { store: 'one Postgres', processes },
])
const measured = new Map<Form, Measurements[]>(forms.map((form) => [form, []]))
for (let round = 0; round < ROUNDS; round += 1) {
  for (const form of forms) measured.get(form)?.push(await measure(form))
}
printTable({
  title: `One machine of ${availableParallelism()} cores, ${WIDTH} runs at once`,
  columns: [
    'store',
    'server processes',
    'runs/s',
    'result, ms',
    'processor ms a run, servers',
    'processor ms a run, whole machine',
  ],
  rows: forms.map((form) => {
    const rounds = measured.get(form) ?? []
    const typical = (read: (measurements: Measurements) => number): string =>
      formatNumber(median(rounds.map(read)))
    return [
      form.store,
      String(form.processes),
      typical(({ perSecond }) => perSecond),
      typical(({ resultMs }) => resultMs),
      typical(({ serverMs }) => serverMs),
      typical(({ machineMs }) => machineMs),
    ]
  }),
})

async function measure({ store, processes }: Form): Promise<Measurements> {
  await using database = store === 'one Postgres' ? await testServer({ durable: true }) : undefined
  await using disposables = new AsyncDisposableStack()
  const env: Record<string, string> = database === undefined ? {} : { DATABASE_URL: database.url }
  const servers = []
  const clients: LoadClient[] = []
  for (let index = 0; index < processes; index += 1) {
    const server = await startServerProcess(tuttiCommand(CONFIG, env), TUTTI.readyPath)
    servers.push(disposables.use(server))
    clients.push(disposables.use(new LoadClient(TUTTI, server.url)))
  }
  const load = ({ runs, forMs }: LoadBounds) =>
    Promise.all(
      clients.map((client) =>
        client.makeRuns(WIDTH / processes, { runs: runs / processes, forMs }),
      ),
    )
  await load(WARM_UP)
  const before = servers.map((server) => server.cpuMs())
  const busyBefore = busyMs()
  const loads = await load(LOAD)
  const machineMs = busyMs() - busyBefore
  const serverMs = servers.reduce((sum, server, at) => sum + server.cpuMs() - (before[at] ?? 0), 0)
  const resultMs = loads.flatMap((measurements) => measurements.resultMs)
  return {
    perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0),
    resultMs: median(resultMs),
    serverMs: serverMs / resultMs.length,
    machineMs: machineMs / resultMs.length,
  }
}

/** Returns the processor time that all processes of the machine have used since it started, in milliseconds. */
function busyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
}
