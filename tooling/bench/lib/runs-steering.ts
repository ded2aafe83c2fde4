/** Measures the time of a command to its run: in the same process, and on Postgres between processes. */
import { openReporter, type Reports } from './runs-reports.ts'
import { openService, watchRun } from './runs-services.ts'
import { startProcess } from './runs-processes.ts'
import { printStores, typicalMs } from './runs-table.ts'
import { nowMs, teamNamed } from './runs-teams.ts'
import { sized } from './form.ts'

import type { StoreLocations } from './runs-locations.ts'
import type { RunService } from '../../../packages/runs/src/index.ts'

const CANCELS = sized(40, 2)
const INJECTS = sized(40, 2)

interface Steering {
  /** Measures from the call of `cancel` until the tool's signal aborts. */
  readonly aborted: number[]
  readonly cancelAnswered: number[]
  readonly cancelled: number[]
  readonly injectAnswered: number[]
  /** Measures until the sender reads `directive_active`. */
  readonly active: number[]
}

/** Prints the times of a cancel and a directive. */
export async function measureSteering(locations: StoreLocations, reports: Reports): Promise<void> {
  const own = await steerHere(locations, reports)
  const other = await steerElsewhere(locations, reports)
  const labels = {
    aborted: 'cancel to the signal of the tool',
    cancelAnswered: 'cancel to its answer',
    cancelled: 'cancel to CANCELLED at a reader',
    injectAnswered: 'inject to its answer',
    active: 'inject to directive_active at a reader',
  }
  const keys = ['aborted', 'cancelAnswered', 'cancelled', 'injectAnswered', 'active'] as const
  printStores(
    'Commands: in the same process, and on Postgres to another process',
    keys.map((key) => [labels[key], typicalMs(own[key]), typicalMs(other[key])]),
  )
}

async function steerHere(locations: StoreLocations, reports: Reports): Promise<Steering> {
  using reporter = await openReporter(reports.port, 'here')
  const team = await teamNamed('held', (kind, runId) => {
    reporter.report({ kind, runId })
  })
  await using opened = await openService(locations.embedded(), team)
  return await steer(opened.service, reports)
}

async function steerElsewhere(locations: StoreLocations, reports: Reports): Promise<Steering> {
  const location = locations.postgres()
  const { port } = reports
  await using worker = startProcess('runs-worker', { port, name: 'worker', location, team: 'held' })
  await reports.next({ kind: 'ready', from: worker.name })
  await using opened = await openService(location, await teamNamed('held'), { executes: false })
  return await steer(opened.service, reports)
}

async function steer(service: RunService, reports: Reports): Promise<Steering> {
  const times: Steering = {
    aborted: [],
    cancelAnswered: [],
    cancelled: [],
    injectAnswered: [],
    active: [],
  }
  for (let index = 0; index < CANCELS; index += 1) await cancelOne(service, reports, times)
  const runId = await held(service, reports)
  const watch = watchRun(service, runId)
  for (let index = 0; index < INJECTS; index += 1) {
    const id = `directive-${index}`
    const beginMs = nowMs()
    const directive = { id, content: `Say ${index}` }
    const answered = service.send(runId, { kind: 'inject', directive }).then(nowMs)
    const active = await watch.cameAt(
      (event) => event.type === 'directive_active' && event.directiveId === id,
    )
    times.active.push(active - beginMs)
    times.injectAnswered.push((await answered) - beginMs)
  }
  await service.send(runId, { kind: 'cancel' })
  await watch.ended
  return times
}

async function cancelOne(service: RunService, reports: Reports, times: Steering): Promise<void> {
  const runId = await held(service, reports)
  const watch = watchRun(service, runId)
  await watch.cameAt(({ type }) => type === 'ensemble_started')
  const beginMs = nowMs()
  const answered = service.send(runId, { kind: 'cancel' }).then(nowMs)
  const { atMs } = await reports.next({ kind: 'aborted', runId })
  times.aborted.push(atMs - beginMs)
  times.cancelAnswered.push((await answered) - beginMs)
  times.cancelled.push((await watch.cameAt(({ type }) => type === 'run_result')) - beginMs)
  await watch.ended
}

/** A run in its tool call. */
async function held(service: RunService, reports: Reports): Promise<string> {
  const { runId } = await service.submit({})
  await reports.next({ kind: 'called', runId })
  return runId
}
