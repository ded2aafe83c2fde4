/** Real clusters of three servers that fail while processes execute runs. */
import { createRunService, type RunService, type RunServiceOptions } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { query } from '../../../tooling/bench/lib/query.ts'
import { tcpProxy } from '../../../tooling/net/tcp-proxy.ts'
import { startNatsCluster, type NatsCluster } from '../../../tooling/nats/nats-cluster.ts'
import { hasNatsServer } from '../../../tooling/nats/nats-server.ts'
import { testDatabase, type TestDatabase } from '../../../tooling/postgres/test-database.ts'
import { until } from '../../../tooling/test-kit/wait.ts'
import { countedRuns, type CountedRuns } from './counted-runs.ts'
import { openOverNats, type OpenOptions } from './nats-place.ts'

/** So long that only NATS finds a run in time. */
const NEVER_MS = 600_000

const LIMIT = 5
const QUICK = { leaseMs: 2_000, pollMs: 200, maxConcurrentRuns: LIMIT } as const
const KNOWN = { ensembles: ['band'], othersAfterMs: 600_000 }

describe.skipIf(!hasNatsServer())('a NATS cluster of three servers', () => {
  let database: TestDatabase
  let cluster: NatsCluster
  let services: RunService[] = []
  let tests = 0

  beforeAll(async () => {
    cluster = await startNatsCluster(3)
  })

  afterAll(() => cluster[Symbol.asyncDispose]())

  beforeEach(async () => {
    tests += 1
    database = await testDatabase()
  })

  afterEach(async () => {
    await Promise.all(services.map((service) => service.close({ drainTimeoutMs: 5_000 })))
    services = []
    await database[Symbol.asyncDispose]()
    await Promise.all(cluster.nodes.map((node) => node.start()))
    await cluster.ready()
  })

  const optionsOf = (changes: Partial<OpenOptions> = {}): OpenOptions => ({
    connectionString: database.url,
    servers: cluster.url,
    replicas: 3,
    prefix: `test_${tests}`,
    storePollMs: NEVER_MS,
    ...changes,
  })

  async function startProcess(
    { ensemble }: CountedRuns,
    options: RunServiceOptions = {},
    storage?: RunStorage,
  ): Promise<RunService> {
    const service = createRunService(storage ?? (await openOverNats(optionsOf())), [ensemble], {
      ...QUICK,
      ...options,
    })
    services.push(service)
    await service.start()
    return service
  }

  async function submit(service: RunService, first: number, count: number): Promise<void> {
    for (let n = first; n < first + count; n += 1) {
      await service.submit({ inputs: { topic: `${n}` } })
    }
  }

  const ended = async (service: RunService, count: number): Promise<boolean> =>
    (await service.list({ statuses: ['COMPLETED'], limit: 1, offset: 0 })).total === count

  function expectEachOnce({ executions, most }: CountedRuns, count: number): void {
    expect(executions.size).toBe(count)
    expect([...executions.values()].every((times) => times === 1)).toBe(true)
    expect(most).toBeLessThanOrEqual(LIMIT)
  }

  it('[NATS-E3] A NATS cluster of three servers loses and repeats no run when the leader of the stream is killed', async () => {
    const runs = countedRuns(() => 20)
    const api = await startProcess(runs, { executes: false })
    for (let n = 0; n < 3; n += 1) await startProcess(runs)
    await submit(api, 0, 40)
    const leader = await cluster.findLeader(`test_${tests}_runs`)
    const [, killed] = await Promise.all([submit(api, 40, 40), leader.kill()])
    expect(killed).toBeUndefined()
    await until('all runs have ended', () => ended(api, 80))
    expectEachOnce(runs, 80)
  })

  it('[RUNS-DP6] A NATS cluster of three servers continues over Postgres when all servers are stopped, and returns to NATS', async () => {
    const runs = countedRuns(() => 10)
    const storage = await openOverNats(optionsOf())
    const api = await startProcess(runs, { executes: false }, storage)
    for (let n = 0; n < 3; n += 1) await startProcess(runs)
    await submit(api, 0, 20)
    await Promise.all(cluster.nodes.map((node) => node.kill()))
    await submit(api, 20, 20)
    await until('all runs have ended without NATS', () => ended(api, 40))
    expect(storage.dispatcher.engine.isConnected).toBe(false)
    await Promise.all(cluster.nodes.map((node) => node.start()))
    await until('NATS dispatches again', () => storage.dispatcher.engine.isConnected)
    await submit(api, 40, 20)
    await until('all runs have ended', () => ended(api, 60))
    expectEachOnce(runs, 60)
  })

  it('[RUNS-DP6] A NATS cluster of three servers works when NATS is down at the start, and uses it as soon as it is there', async () => {
    await Promise.all(cluster.nodes.map((node) => node.kill()))
    const runs = countedRuns(() => 1)
    const storage = await openOverNats(optionsOf(), { waits: false })
    const api = await startProcess(runs, {}, storage)
    await submit(api, 0, 3)
    await until('the runs have ended', () => ended(api, 3))
    expect(storage.dispatcher.engine).toEqual({ name: 'nats', isConnected: false })
    await Promise.all(cluster.nodes.map((node) => node.start()))
    await until('NATS dispatches', () => storage.dispatcher.engine.isConnected)
    await submit(api, 3, 3)
    await until('the runs have ended', () => ended(api, 6))
    expectEachOnce(runs, 6)
  })

  it('[NATS-E1] A NATS cluster of three servers continues over Postgres when a server is frozen and the majority is lost', async () => {
    const runs = countedRuns(() => 10)
    const storage = await openOverNats(optionsOf())
    const api = await startProcess(runs, { executes: false }, storage)
    await startProcess(runs)
    await submit(api, 0, 5)
    const frozen = cluster.nodes.slice(0, 2)
    for (const node of frozen) node.pause()
    await submit(api, 5, 20)
    await until('the process notices', () => !storage.dispatcher.engine.isConnected)
    await until('all runs have ended without a majority', () => ended(api, 25))
    for (const node of frozen) node.resume()
    await until('NATS dispatches again', () => storage.dispatcher.engine.isConnected)
    await submit(api, 25, 5)
    await until('all runs have ended', () => ended(api, 30))
    expectEachOnce(runs, 30)
  })

  it('[NATS-E6] A process that cannot reach NATS executes runs and gets commands', async () => {
    await using proxy = await tcpProxy(cluster.nodes[0]?.url ?? '')
    const runs = countedRuns(() => 2_000)
    const cutOff = await openOverNats(optionsOf({ servers: proxy.url }))
    const storage = await openOverNats(optionsOf())
    const worker = await startProcess(runs, {}, cutOff)
    const api = await startProcess(runs, { executes: false }, storage)
    proxy.pause()
    await until('the process notices', () => !cutOff.dispatcher.engine.isConnected)
    expect(storage.dispatcher.engine.isConnected).toBe(true)
    const { runId } = await api.submit({ inputs: { topic: 'partition' } })
    await until('it executes the run', () => worker.status.running === 1)
    await api.send(runId, { kind: 'cancel', mode: 'abort' })
    await until(
      'the run is cancelled',
      async () => (await api.get(runId))?.run.status === 'CANCELLED',
    )
    proxy.resume()
    await until('it returns', () => cutOff.dispatcher.engine.isConnected)
  })

  it('[RUNS-DP2] A NATS cluster of three servers offers a run that is submitted again after a failover that lost it', async () => {
    const runs = countedRuns(() => 1)
    const api = await startProcess(runs, { executes: false })
    await startProcess(runs)
    for (const topic of ['before', 'after']) {
      const { runId } = await api.submit({ runId: 'run-a', inputs: { topic } })
      await until('the run has ended', async () => ended(api, 1))
      await api.delete(runId)
      // The numbers of lost rows recur.
      await query(database.url, 'ALTER TABLE tutti.runs ALTER id RESTART')
      await query(database.url, 'ALTER TABLE tutti.offers ALTER id RESTART')
    }
    expectEachOnce(runs, 2)
  })

  it('[NATS-E4] A NATS cluster of three servers hands the run of a dead process to another one, without polls of the store', async () => {
    const [first, second] = [await openOverNats(optionsOf()), await openOverNats(optionsOf())]
    const runs = countedRuns(() => 1)
    const api = await startProcess(runs, { executes: false })
    const requestOf = ({ processName }: RunStorage) => ({
      owner: `${processName}-a`,
      leaseMs: 1_000,
      wanted: 1,
      maxConcurrentRuns: 1,
      known: KNOWN,
    })
    // The first request of a process also asks the store.
    expect(await first.dispatcher.take(requestOf(first))).toEqual([])
    expect(await second.dispatcher.take(requestOf(second))).toEqual([])
    second.dispatcher.stop()
    const { runId } = await api.submit({ inputs: { topic: 'dead' } })
    await until('the first process has the run', async () => {
      const claims = await first.dispatcher.take(requestOf(first))
      return claims?.some(({ run }) => run.runId === runId) === true
    })
    const third = await openOverNats(optionsOf())
    await third.dispatcher.take(requestOf(third))
    await until('another process has it', async () => {
      const claims = await third.dispatcher.take(requestOf(third))
      return claims?.some(({ run, lostOwners }) => run.epoch === 2 && lostOwners === 1) === true
    })
    for (const storage of [first, second, third]) await storage[Symbol.asyncDispose]()
  })
})
