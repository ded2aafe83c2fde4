/** The parts of a server with NATS_URL, over a real NATS server and Postgres. */
import { serveControlApi } from '@tutti/control-api'
import { toolCatalog } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService } from '@tutti/runs'
import { describe, expect, it } from 'vitest'

import { startNatsCluster } from '../../../tooling/nats/nats-cluster.ts'
import { hasNatsServer } from '../../../tooling/nats/nats-server.ts'
import { testDatabase } from '../../../tooling/postgres/test-database.ts'
import { until } from '../../../tooling/test-kit/wait.ts'
import { askServer } from '../src/cli/doctor/ask-server.ts'
import { checkNats } from '../src/cli/doctor/check-nats.ts'
import { readEnvironment } from '../src/environment/env.ts'
import { openStorage } from '../src/start/open-storage.ts'

const TEAM = ensemble({
  name: 'team',
  tasks: [task({ name: 'work', description: 'Work', handler: () => 'done' })],
})

describe.skipIf(!hasNatsServer())('a server with NATS_URL', () => {
  it('A server with NATS_URL reports whether NATS or the database dispatches runs', async () => {
    await using database = await testDatabase()
    await using cluster = await startNatsCluster(1)
    const environment = readEnvironment({ DATABASE_URL: database.url, NATS_URL: cluster.url })
    const storage = await openStorage(environment, silentLogger)
    const runs = createRunService(storage, [TEAM], { logger: silentLogger })
    await runs.start()
    const api = await serveControlApi(
      { runs, tools: toolCatalog([]), models: modelCatalog({}) },
      { port: 0 },
    )
    const ready = async () => (await fetch(`${api.url}/api/health/ready`)).json()
    const metric = async () => {
      const text = await (await fetch(`${api.url}/metrics`)).text()
      return /^tutti_dispatcher_connected\{engine="nats"\} (.*)$/m.exec(text)?.[1]
    }
    const doctor = async () => {
      const nats = await checkNats({ servers: cluster.url, prefix: 'tutti', replicas: 1 })
      const { findings } = await askServer(api.url, { apiKey: undefined, apiVersion: undefined })
      return [`${nats.level} ${nats.message}`, findings[0]?.message]
    }
    await until('NATS dispatches', () => storage.dispatcher.engine.isConnected)
    const { runId } = await runs.submit({})
    await until('the run ends', async () => (await runs.record(runId))?.status === 'COMPLETED')
    expect(await ready()).toMatchObject({ dispatcher: { engine: 'nats', connected: true } })
    expect(await metric()).toBe('1')
    expect(await doctor()).toEqual([
      expect.stringMatching(/^ok NATS \S+ with JetStream dispatches runs; offers of runs: \d+$/),
      expect.stringContaining('accepts runs; nats dispatches them'),
    ])
    await cluster.nodes[0]?.kill()
    await until('the server notices', () => !storage.dispatcher.engine.isConnected)
    expect(await ready()).toEqual({
      status: 'READY',
      lifecycleState: 'READY',
      dispatcher: { engine: 'nats', connected: false },
    })
    expect(await metric()).toBe('0')
    expect(await doctor()).toEqual([
      expect.stringMatching(
        /^warning NATS of NATS_URL cannot be used, so Postgres dispatches runs/,
      ),
      expect.stringContaining('the database dispatches them, because nats cannot be reached'),
    ])
    await api.close()
    await runs.close({ drainTimeoutMs: 0 })
  })
})
