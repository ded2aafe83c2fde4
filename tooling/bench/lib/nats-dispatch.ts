/** Measures the time from a durable submit to the start of the run in another process. */
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '../../test-kit/wait.ts'
import { builtPackage } from './built.ts'
import { sized } from './form.ts'
import { openNatsStorage, type NatsLocations } from './nats-stores.ts'
import { formatNumber, printClaim, printTable } from './report.ts'
import { openStorage } from './runs-locations.ts'
import { quantile } from './runs-table.ts'
import { nowMs } from './runs-teams.ts'

import type { RunStorage } from '../../../packages/runs/src/adapter.ts'

type RunsEntryPoint = typeof import('../../../packages/runs/src/index.ts')
type EnsembleEntryPoint = typeof import('../../../packages/ensemble/src/index.ts')

const WORKERS = 4
const RUNS = sized(400, 10)

/** Runs that are not measured: until the first one of a build starts, NATS creates its consumer, for up to a second. */
const FIRST_RUNS = sized(40, 1)

/** Time between submits, in milliseconds: the machine is not saturated. */
const EVERY_MS = 10

/** Prints the times with NATS, and with Postgres alone. */
export async function measureNatsDispatch({ locations, cluster }: NatsLocations): Promise<void> {
  const location = locations.postgres()
  const nats = await timeStarts(() => openNatsStorage(location, cluster))
  const alone = locations.postgres()
  const postgres = await timeStarts(() => openStorage(alone))
  const cells = (times: readonly number[]): readonly string[] =>
    [0.5, 0.99].map((part) => formatNumber(quantile([...times], part)))
  printTable({
    title: `Submit to start in another process, one API process and ${WORKERS} workers, ms`,
    columns: ['', 'median', '99 %'],
    rows: [
      ['NATS, three servers', ...cells(nats)],
      ['Postgres alone', ...cells(postgres)],
    ],
  })
  printClaim({
    text: 'NATS: from a durable submit to the start in another process at most 5 ms at the median',
    atMost: 5,
    measured: quantile([...nats], 0.5),
    unit: ' ms',
  })
  printClaim({
    text: 'NATS: 99 % of submits start in another process in at most the time that Postgres alone takes',
    atMost: 1,
    measured: quantile([...nats], 0.99) / quantile([...postgres], 0.99),
    unit: ' times',
  })
}

async function timeStarts(open: () => Promise<RunStorage>): Promise<readonly number[]> {
  const { createRunService } = await builtPackage<RunsEntryPoint>('runs')
  const { ensemble, task } = await builtPackage<EnsembleEntryPoint>('ensemble')
  const startedAt = new Map<string, number>()
  const work = task({
    name: 'work',
    description: 'Work',
    handler: ({ runId }) => {
      startedAt.set(runId, nowMs())
      return 'done'
    },
  })
  const team = [ensemble({ name: 'timed', tasks: [work] })]
  const services = []
  for (let n = 0; n <= WORKERS; n += 1) {
    const service = createRunService(await open(), team, { executes: n > 0 })
    await service.start()
    services.push(service)
  }
  const [api] = services
  const submit = async (count: number): Promise<ReadonlyMap<string, number>> => {
    const submittedAt = new Map<string, number>()
    for (let n = 0; n < count; n += 1) {
      const run = await api?.submit({})
      if (run !== undefined) submittedAt.set(run.runId, nowMs())
      await sleep(EVERY_MS)
    }
    await until('all runs have started', () =>
      [...submittedAt.keys()].every((id) => startedAt.has(id)),
    )
    return submittedAt
  }
  await submit(FIRST_RUNS)
  const submittedAt = await submit(RUNS)
  for (const service of services) await service.close({ drainTimeoutMs: 1_000 })
  return [...submittedAt].map(([runId, at]) => Math.max((startedAt.get(runId) ?? NaN) - at, 0))
}
