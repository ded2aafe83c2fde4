/** Stored data of a run, by its capture mode. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { agent, ensemble, task } from '@tutti/ensemble'
import { RunService, sqliteRunStorage } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { temporaryDirectory } from './waiting-ensemble.ts'

import type { CaptureMode } from '@tutti/protocol'

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
  const runs = new RunService(sqliteRunStorage(directory.path), [
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
  const files = readdirSync(directory.path).map((name) => readFileSync(join(directory.path, name)))
  return { bytes: Buffer.concat(files), mode: record?.request?.options?.captureMode }
}

function canariesIn(bytes: Buffer): readonly string[] {
  return CANARIES.filter((canary) => bytes.includes(canary))
}

describe('the store of a run', () => {
  it('[RUNS-J1] has no prompts and no reasoning with capture OFF, but the full output', async () => {
    const { bytes } = await stored({ ofRun: 'OFF' })
    expect(canariesIn(bytes)).toEqual([])
    expect(bytes.includes('An essay')).toBe(true)
  })

  it('[RUNS-J2] has prompts and reasoning in every other mode', async () => {
    for (const ofRun of ['STANDARD', 'DETAILED', 'FULL'] as const) {
      expect(canariesIn((await stored({ ofRun })).bytes)).toEqual(CANARIES)
    }
    expect(canariesIn((await stored({})).bytes)).toEqual(CANARIES)
  })

  it('uses the mode of the ensemble unless the run sets one', async () => {
    const off = await stored({ ofEnsemble: 'OFF' })
    expect([canariesIn(off.bytes), off.mode]).toEqual([[], 'OFF'])
    const full = await stored({ ofEnsemble: 'OFF', ofRun: 'FULL' })
    expect([canariesIn(full.bytes), full.mode]).toEqual([CANARIES, 'FULL'])
  })
})
