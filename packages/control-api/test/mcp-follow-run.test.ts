import { silentLogger, toolCatalog } from '@tutti/core'
import { modelCatalog } from '@tutti/ensemble'
import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { anyone } from '../src/caller.ts'
import { followRun, type FollowedRun } from '../src/mcp/follow-run.ts'
import { NO_GATES } from '../src/mcp/gates.ts'
import { resolveControlApiOptions } from '../src/options.ts'
import { served } from './served.ts'

/** A control API with the parts that a call follows a run with. */
async function stage() {
  const clock = fakeClock()
  const api = await served()
  const options = resolveControlApiOptions({
    runs: api.runs,
    tools: toolCatalog([]),
    models: modelCatalog({}),
    clock,
    logger: silentLogger,
  })
  const follow = (runId: string, more: Partial<FollowedRun>) =>
    followRun({
      options,
      caller: anyone(),
      runId,
      valueTask: undefined,
      toldSeq: -1,
      gates: NO_GATES,
      signal: new AbortController().signal,
      isSaid: true,
      tell: undefined,
      ...more,
    })
  return { api, options, clock, follow }
}

it('[F2] a client that gave up before its run was followed cancels it all the same', async () => {
  const { api, options, follow } = await stage()
  await using _ = api
  const runId = await api.submit()
  const followed = follow(runId, { signal: AbortSignal.abort() })
  await expect(followed).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  const ends: string[] = []
  for await (const events of api.runs.follow({ runId, from: 0 })) {
    for (const event of events) if (event.type === 'run_result') ends.push(event.status)
  }
  expect(ends).toEqual(['CANCELLED'])
  await options.trail.close()
})

it('[F2] a client that goes after the result cancels nothing, and no timer is left', async () => {
  const { api, options, clock, follow } = await stage()
  await using _ = api
  const asked: string[] = []
  api.runs.cancel = (runId) => {
    asked.push(runId)
    return Promise.resolve('CANCELLING')
  }
  api.play()
  const client = new AbortController()
  const told: string[] = []
  const result = await follow(await api.submit(), {
    signal: client.signal,
    tell: async ({ message }) => {
      told.push(message)
    },
  })
  expect(result).toMatchObject({ structuredContent: { status: 'COMPLETED' } })
  expect(told.at(-1)).toBe('"play" is completed: 2 of 2')
  client.abort()
  expect(asked).toEqual([])
  expect(clock.pending).toBe(0)
  await options.trail.close()
})
