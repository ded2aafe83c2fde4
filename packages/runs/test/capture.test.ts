/** Stored data of a run, by its capture mode. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { agent, ensemble, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage, type RunSubmission } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { cancel } from './commands.ts'
import { STORES } from './stores.ts'
import { allEvents, startRuns, temporaryDirectory } from './waiting-ensemble.ts'

import type { CaptureMode } from '@tutti/protocol/internal'

/** Texts that are only in prompts, and one that is only in the reasoning of the model. */
const CANARIES = ['canary-goal', 'canary-background', 'canary-thought']

interface Modes {
  readonly ofEnsemble?: CaptureMode
  readonly ofRun?: CaptureMode
}

/** Completes a run and returns every byte of its store, and the capture mode of its record. */
async function stored({ ofEnsemble, ofRun }: Modes) {
  using directory = temporaryDirectory()
  const write = task({
    name: 'write',
    description: 'Write about {topic}',
    agent: agent({ role: 'Writer', goal: 'canary-goal', background: 'canary-background' }),
  })
  const runs = createRunService(await sqliteRunStorage(directory.path), [
    ensemble({
      name: 'desk',
      tasks: [write],
      model: scriptedModel([{ reasoning: 'canary-thought', text: 'An essay' }]),
      ...(ofEnsemble === undefined ? {} : { captureMode: ofEnsemble }),
    }),
  ])
  await runs.start()
  const { runId } = await runs.submit({
    inputs: { topic: 'jazz' },
    ...(ofRun === undefined ? {} : { options: { captureMode: ofRun } }),
  })
  await until('it is done', async () => (await runs.record(runId))?.status === 'COMPLETED')
  const record = await runs.record(runId)
  await runs.close({ drainTimeoutMs: 0 })
  return { bytes: readFiles(directory.path), mode: record?.request?.options?.captureMode }
}

function readFiles(path: string): Buffer {
  return Buffer.concat(readdirSync(path).map((name) => readFileSync(join(path, name))))
}

function canariesIn(bytes: Buffer, canaries = CANARIES): readonly string[] {
  return canaries.filter((canary) => bytes.includes(canary))
}

/** Texts of a request that are only part of prompts: a short one of each kind, and one that fills several pages. */
const SECRET = {
  options: { captureMode: 'OFF' },
  tasks: [
    {
      name: 'q',
      description: 'Ask',
      instructions: `canary-instructions ${'canary-long '.repeat(2000)}`,
      additionalContext: 'canary-context',
      review: { timeoutMs: 60_000, onTimeout: 'CONTINUE' },
    },
  ],
  taskOverrides: { q: { additionalContext: 'canary-override', maxIterations: 3 } },
  history: [
    { role: 'user', content: 'canary-history' },
    { role: 'assistant', content: 'ok' },
  ],
} satisfies RunSubmission

describe.each(Object.entries(STORES))('the request of a run with capture OFF (%s)', (_, make) => {
  it('[RUNS-J3] The request of a run with capture OFF loses its prompts when the run ends, and not before', async () => {
    await using place = await make()
    const model = scriptedModel(() => 'Answer')
    const service = await startRuns(await place.open(), [
      ensemble({ name: 'desk', tasks: [task({ description: 'x' })], model }),
    ])
    const { runId } = await service.submit(SECRET)
    await until('it waits', async () => (await service.reviews.open({ runId })).length === 1)
    expect((await service.record(runId))?.request).toEqual(SECRET)
    const [review] = await service.reviews.open({ runId })
    await service.send(runId, {
      kind: 'decide',
      reviewId: review?.reviewId ?? '',
      decision: { action: 'CONTINUE' },
    })
    await allEvents(service, runId)
    expect(JSON.stringify(model.requests)).toContain('canary-override')
    expect((await service.record(runId))?.request).toEqual({
      options: SECRET.options,
      tasks: [{ name: 'q', description: 'Ask', review: SECRET.tasks[0]?.review }],
      taskOverrides: { q: { maxIterations: 3 } },
      isErased: true,
    })
    await expect(service.forks.create(runId, { at: 0 })).rejects.toMatchObject({
      code: 'STEPS_NOT_RETAINED',
    })
    await expect(service.forks.replay(runId, { mode: 'models' })).rejects.toMatchObject({
      code: 'STEPS_NOT_RETAINED',
    })
    const cancelled = await service.submit(SECRET)
    await cancel(service, cancelled.runId)
    await allEvents(service, cancelled.runId)
    expect(JSON.stringify(await service.record(cancelled.runId))).not.toContain('canary')
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-J3] The request of a run is unchanged if it has no prompts, and in every other mode', async () => {
    await using place = await make()
    const service = await startRuns(await place.open(), [
      ensemble({
        name: 'desk',
        tasks: [task({ description: 'x' })],
        model: scriptedModel(() => 'A'),
      }),
    ])
    for (const request of [
      { options: { captureMode: 'OFF' }, tasks: [{ description: 'Ask' }] },
      { options: { captureMode: 'FULL' }, history: SECRET.history },
    ] satisfies RunSubmission[]) {
      const { runId } = await service.submit(request)
      await allEvents(service, runId)
      expect((await service.record(runId))?.request).toEqual(request)
      await allEvents(service, (await service.forks.create(runId, { at: 0 })).runId)
    }
    await service.close({ drainTimeoutMs: 0 })
  })
})

describe('the files of the embedded store', () => {
  it('[RUNS-J3] The files of the embedded store have no byte of prompts of ended runs', async () => {
    using directory = temporaryDirectory()
    const model = scriptedModel(() => 'Answer')
    const service = await startRuns(await sqliteRunStorage(directory.path), [
      ensemble({ name: 'desk', tasks: [task({ description: 'x' })], model }),
    ])
    const { tasks, ...more } = SECRET
    const unreviewed = tasks.map(({ review: _, ...asked }) => asked)
    const ids = await Promise.all(
      Array.from(
        { length: 5 },
        async () => (await service.submit({ ...more, tasks: unreviewed })).runId,
      ),
    )
    for (const runId of ids) await allEvents(service, runId)
    expect(canariesIn(readFiles(directory.path), ['canary'])).toEqual([])
    expect(readFiles(directory.path).includes('Answer')).toBe(true)
    await service.close({ drainTimeoutMs: 0 })
  })
})

describe('the store of a run', () => {
  it('[RUNS-J1] The store of a run has no prompts and no reasoning with capture OFF, but the full output', async () => {
    const { bytes } = await stored({ ofRun: 'OFF' })
    expect(canariesIn(bytes)).toEqual([])
    expect(bytes.includes('An essay')).toBe(true)
  })

  it('[RUNS-J2] The store of a run has prompts and reasoning in every other mode', async () => {
    for (const ofRun of ['STANDARD', 'DETAILED', 'FULL'] as const) {
      expect(canariesIn((await stored({ ofRun })).bytes)).toEqual(CANARIES)
    }
    expect(canariesIn((await stored({})).bytes)).toEqual(CANARIES)
  })

  it('The store of a run uses the mode of the ensemble unless the run sets one', async () => {
    const off = await stored({ ofEnsemble: 'OFF' })
    expect([canariesIn(off.bytes), off.mode]).toEqual([[], 'OFF'])
    const full = await stored({ ofEnsemble: 'OFF', ofRun: 'FULL' })
    expect([canariesIn(full.bytes), full.mode]).toEqual([CANARIES, 'FULL'])
  })
})
