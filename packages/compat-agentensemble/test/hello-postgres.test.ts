import { serveControlApi } from '@tutti/control-api'
import { toolCatalog } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService } from '@tutti/runs'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'

import { agentEnsemble } from '../src/index.ts'
import { testDatabase } from '../../../tooling/postgres/test-database.ts'

it('A connection to all runs on PostgreSQL gets hello, however many runs there are', async () => {
  await using database = await testDatabase()
  const model = scriptedModel(() => 'done', { maxRequests: 0 })
  const short = ensemble({ name: 'short', model, tasks: [task({ description: 'Say done' })] })
  const storage = await postgresRunStorage({ connectionString: database.url, maxConnections: 4 })
  const service = createRunService(storage, [short])
  await service.start()
  const parts = {
    runs: service,
    tools: toolCatalog([]),
    models: modelCatalog({}),
    extensions: [agentEnsemble()],
  }
  const server = await serveControlApi(parts, { port: 0 })
  try {
    for (let index = 0; index < 5; index += 1) {
      const runId = `run-${index}`
      await service.submit({ runId })
      await expect.poll(async () => (await service.record(runId))?.status).toBe('COMPLETED')
      expect(await readFirstMessage(`${server.url.replace(/^http/, 'ws')}/ws`)).toMatchObject({
        type: 'hello',
        ensembleId: runId,
      })
    }
  } finally {
    await service.close({ drainTimeoutMs: 1_000 })
    await server.close()
  }
})

async function readFirstMessage(url: string): Promise<unknown> {
  const socket = new WebSocket(url)
  try {
    return await new Promise((resolve, reject) => {
      socket.once('message', (data: Buffer) => {
        resolve(JSON.parse(data.toString()))
      })
      socket.once('close', (code, reason) => {
        reject(new Error(`closed with ${code} ${String(reason)}`))
      })
      socket.once('error', reject)
    })
  } finally {
    socket.terminate()
  }
}
