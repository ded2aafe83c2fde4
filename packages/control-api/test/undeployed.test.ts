/** Commands for runs whose ensemble is not deployed. */
import { serveControlApi } from '@tutti/control-api'
import { toolCatalog } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { temporaryDirectory } from '../../runs/test/waiting-ensemble.ts'

function createEnsemble(name: string): Ensemble {
  const model = scriptedModel(() => 'Done')
  return ensemble({
    name,
    model,
    tasks: [task({ name: 'work', description: 'Work', beforeReview: true })],
  })
}

async function serve(path: string, deployed: Ensemble) {
  const options = { logger: silentLogger, parkAfterMs: 1, pollMs: 20 }
  const runs = createRunService(await sqliteRunStorage(path), [deployed], options)
  const parts = { runs, tools: toolCatalog([]), models: modelCatalog({}), logger: silentLogger }
  const server = await serveControlApi(parts, { port: 0 })
  await runs.start()
  return {
    runs,
    decide: (reviewId: string) =>
      fetch(`${server.url}/api/reviews/${reviewId}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ decision: 'CONTINUE' }),
      }),
    async [Symbol.asyncDispose]() {
      await runs.close({ drainTimeoutMs: 0 })
      await server.close()
    },
  }
}

it('A decision of a run whose ensemble is not deployed is refused with ENSEMBLE_UNAVAILABLE, and can be repeated', async () => {
  using directory = temporaryDirectory()
  let reviewId = ''
  let runId = ''
  {
    await using first = await serve(directory.path, createEnsemble('trip'))
    const { runs } = first
    runId = (await runs.submit({})).runId
    await until('it is parked', async () => (await runs.status.load()).parked === 1)
    reviewId = (await runs.reviews.open({ runId }))[0]?.reviewId ?? ''
  }
  {
    await using second = await serve(directory.path, createEnsemble('other'))
    const refused = await second.decide(reviewId)
    expect([
      refused.status,
      refused.headers.get('retry-after'),
      await refused.json(),
    ]).toMatchObject([
      503,
      '5',
      {
        error: 'ENSEMBLE_UNAVAILABLE',
        message: expect.stringContaining('Ensemble "trip" is no longer registered'),
      },
    ])
  }
  await using third = await serve(directory.path, createEnsemble('trip'))
  expect((await third.decide(reviewId)).status).toBe(200)
  const { runs } = third
  await until('it is done', async () => (await runs.record(runId))?.status === 'COMPLETED')
})
