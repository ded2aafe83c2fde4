/** Tests of runs that other code has begun, in the embedded store: a developer edits an ensemble and restarts. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Type } from '@tutti/core'
import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'
import {
  createRunService,
  type RunService,
  sqliteRunStorage,
  type RunServiceOptions,
} from '@tutti/runs'
import { runStateAfter } from '@tutti/protocol'
import { scriptedModel } from '@tutti/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-builds-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

interface Code {
  readonly first?: string
  readonly last?: string
  readonly isTyped?: boolean
  /** Whether the first task is reviewed. */
  readonly isReviewed?: boolean
  /** Names of the tasks between the first and the last one, which have handlers. */
  readonly between?: readonly string[]
  readonly lastName?: string
}

/** Returns a first task that never ends while `isStuck`, and a last one. */
function createTeam(
  {
    first = 'Play',
    last = 'Bow',
    isTyped = false,
    isReviewed = false,
    between = [],
    lastName = 'bow',
  }: Code,
  calls: string[],
  isStuck: boolean,
): Ensemble {
  const script = scriptedModel(({ messages }) => {
    const text = messages.map(({ content }) => content).join(' ')
    calls.push(text.includes('Context from Previous Tasks') ? 'last' : 'first')
    return '{"notes": "C"}'
  })
  const { provider, name } = script
  const stuck: ChatModel = {
    provider,
    name,
    async *stream(_, { signal }) {
      calls.push('first')
      yield { type: 'text', text: 'C' }
      await once(signal, 'abort')
      throw signal.reason
    },
  }
  const model = isStuck ? stuck : script
  const play = task({
    name: 'play',
    description: first,
    model,
    ...(isReviewed ? { review: true } : {}),
    ...(isTyped ? { output: Type.Object({ notes: Type.String() }) } : {}),
  })
  const bow = task({ name: lastName, description: last, model, context: [play] })
  const others = between.map((name) => {
    return task({ name, description: name, context: [play], handler: () => `${name} done` })
  })
  return ensemble({ name: 'band', tasks: [play, ...others, bow] })
}

interface Logged {
  readonly message: string
  readonly fields: unknown
}

/** Starts a process; `logged` has its warnings. */
async function startProcess(
  code: Code,
  { isStuck = false, ...options }: RunServiceOptions & { readonly isStuck?: boolean } = {},
) {
  const calls: string[] = []
  const logged: Logged[] = []
  const ignore = (): void => undefined
  const log = (message: string, fields?: unknown): void => {
    logged.push({ message, fields })
  }
  const runs = createRunService(
    await sqliteRunStorage(directory),
    [createTeam(code, calls, isStuck)],
    {
      ...options,
      logger: { debug: ignore, info: log, warn: log, error: log },
    },
  )
  await runs.start()
  return { runs, calls, logged, close: () => runs.close({ drainTimeoutMs: 0 }) }
}

/** Leaves a run whose first task has begun, in build v1. */
async function leaveRun(code: Code = {}): Promise<string> {
  const old = await startProcess(code, { isStuck: true, buildId: 'v1' })
  const { runId } = await old.runs.submit({})
  await vi.waitFor(() => {
    expect(old.calls).toEqual(['first'])
  })
  await old.close()
  return runId
}

async function waitForStatus(runs: RunService, runId: string, status: string): Promise<void> {
  await vi.waitFor(async () => {
    expect((await runs.record(runId))?.status).toBe(status)
  })
}

describe('a run that other code has begun', () => {
  it('[RUNS-Z1] [RUNS-Z7] A run that other code has begun continues with the same code in another build', async () => {
    const runId = await leaveRun()
    const present = await startProcess({}, { buildId: 'v2' })
    await waitForStatus(present.runs, runId, 'COMPLETED')
    expect((await present.runs.record(runId))?.build).toBe('v2')
    await present.close()
  })

  it('[RUNS-Z4] [RUNS-Z7] [RUNS-Z10] A run that other code has begun waits for its build when a task that has begun differs, and continues there', async () => {
    const runId = await leaveRun()
    const present = await startProcess({ first: 'Play louder' }, { buildId: 'v2' })
    await waitForStatus(present.runs, runId, 'WAITING_FOR_BUILD')
    expect(present.calls).toEqual([])
    expect(present.logged).toContainEqual({
      message: 'A run waits for a build',
      fields: expect.objectContaining({
        runId,
        build: 'v1',
        differences: ['play.description'],
        next: expect.stringContaining(`tutti migrate ${runId} --to v2`),
      }),
    })
    await present.close()
    const old = await startProcess({}, { buildId: 'v1' })
    await waitForStatus(old.runs, runId, 'COMPLETED')
    await old.close()
  })

  it('[RUNS-Z5] [RUNS-Z7] A run that other code has begun continues when only a task that has not begun differs', async () => {
    const runId = await leaveRun()
    const present = await startProcess({ last: 'Bow deeply' }, { buildId: 'v2' })
    await waitForStatus(present.runs, runId, 'COMPLETED')
    expect(present.calls).toEqual(['first', 'last'])
    expect(present.logged).toContainEqual({
      message: 'Continuing a run with other code',
      fields: expect.objectContaining({ differences: ['bow.description'] }),
    })
    await present.close()
  })

  it('[RUNS-Z17] A run that other code has begun continues when tasks that have not begun were added and removed, each at its place', async () => {
    const runId = await leaveRun({ between: ['clap'] })
    const present = await startProcess({ between: ['sing', 'dance'] }, { buildId: 'v2' })
    await waitForStatus(present.runs, runId, 'COMPLETED')
    const found = await present.runs.get(runId)
    expect(
      found?.tasks.map(({ taskIndex, name, status, output }) => [taskIndex, name, status, output]),
    ).toEqual([
      [1, 'play', 'COMPLETED', '{"notes": "C"}'],
      [2, 'clap', 'SKIPPED', undefined],
      [3, 'bow', 'COMPLETED', '{"notes": "C"}'],
      [4, 'sing', 'COMPLETED', 'sing done'],
      [5, 'dance', 'COMPLETED', 'dance done'],
    ])
    expect(found?.run.taskCount).toBe(5)
    const events = await present.runs.readEvents({ runId, from: 0, limit: 1_000 })
    expect(
      runStateAfter(events).tasks.map(({ index, name, status }) => [index, name, status]),
    ).toEqual(found?.tasks.map(({ taskIndex, name, status }) => [taskIndex, name, status]))
    await present.close()
  })

  it('[RUNS-Z17] A run that other code has begun waits for its build when the last task, which has the output of the run, was replaced', async () => {
    const runId = await leaveRun()
    const present = await startProcess({ lastName: 'leave' }, { buildId: 'v2' })
    await waitForStatus(present.runs, runId, 'WAITING_FOR_BUILD')
    await present.close()
  })

  it.each<[string, Code, RunServiceOptions]>([
    [
      'the policy compatible and another text',
      { first: 'Play on' },
      { resumePolicy: 'compatible' },
    ],
    ['the build in compatibleBuilds', { first: 'Play on' }, { compatibleBuilds: ['v1'] }],
    ['the same build id', { first: 'Play on' }, { buildId: 'v1' }],
    ['the policy latest', { first: 'Play on' }, { resumePolicy: 'latest' }],
  ])(
    '[RUNS-Z7] [RUNS-Z8] A run that other code has begun continues with %s',
    async (_, code, options) => {
      const runId = await leaveRun()
      const present = await startProcess(code, { buildId: 'v2', ...options })
      await waitForStatus(present.runs, runId, 'COMPLETED')
      await present.close()
    },
  )

  it('[RUNS-Z8] A run that other code has begun waits with the policy compatible when an output differs, and fails with latest without a call', async () => {
    const runId = await leaveRun()
    const compatible = await startProcess({ isTyped: true }, { resumePolicy: 'compatible' })
    await waitForStatus(compatible.runs, runId, 'WAITING_FOR_BUILD')
    await compatible.close()
    const latest = await startProcess({ isTyped: true }, { resumePolicy: 'latest' })
    await waitForStatus(latest.runs, runId, 'FAILED')
    expect((await latest.runs.record(runId))?.error).toContain('Cannot replay step task_begun')
    expect(latest.calls).toEqual([])
    await latest.close()
  })

  it('[RUNS-Z9] A run that other code has begun is cancelled while it waits for its build', async () => {
    const runId = await leaveRun()
    const present = await startProcess({ first: 'Play louder' }, { buildId: 'v2' })
    await waitForStatus(present.runs, runId, 'WAITING_FOR_BUILD')
    await present.runs.send(runId, { kind: 'cancel', mode: 'abort' })
    await waitForStatus(present.runs, runId, 'CANCELLED')
    expect(present.calls).toEqual([])
    await present.close()
  })

  it('[RUNS-Z9] A run that other code has begun waits for its build to finish its running task after a cancel in mode boundary', async () => {
    const runId = await leaveRun()
    const present = await startProcess({ first: 'Play louder' }, { buildId: 'v2' })
    await waitForStatus(present.runs, runId, 'WAITING_FOR_BUILD')
    await present.runs.send(runId, { kind: 'cancel', mode: 'boundary' })
    expect((await present.runs.record(runId))?.status).toBe('CANCELLING')
    await present.close()
    // A process checks when it starts, and later every two seconds.
    const next = await startProcess({ first: 'Play louder' }, { buildId: 'v2' })
    await waitForStatus(next.runs, runId, 'WAITING_FOR_BUILD')
    expect([...present.calls, ...next.calls]).toEqual([])
    await next.close()
    const old = await startProcess({}, { buildId: 'v1' })
    await waitForStatus(old.runs, runId, 'CANCELLED')
    expect(old.calls).toEqual(['first'])
    await old.close()
  })

  it.each<[string, Code, object, string]>([
    [
      'names the build of the run',
      { first: 'Play louder' },
      { waitsForBuild: 'v1' },
      'WAITING_FOR_BUILD',
    ],
    ['names none with the same code', {}, {}, 'COMPLETED'],
    ['names none where the policy continues the run', { last: 'Bow deeply' }, {}, 'COMPLETED'],
  ])('[RUNS-Z19] The reply to its decision %s', async (_, code, reply, status) => {
    const old = await startProcess({ isReviewed: true }, { buildId: 'v1' })
    const { runId } = await old.runs.submit({})
    await waitForStatus(old.runs, runId, 'WAITING_REVIEW')
    await old.close()
    const present = await startProcess({ ...code, isReviewed: true }, { buildId: 'v2' })
    const [review] = await present.runs.reviews.open({ runId })
    const decision = { action: 'CONTINUE' } as const
    const reviewId = review?.reviewId ?? ''
    expect(await present.runs.send(runId, { kind: 'decide', reviewId, decision })).toEqual(reply)
    await waitForStatus(present.runs, runId, status)
    await present.close()
    const again = await startProcess({ isReviewed: true }, { buildId: 'v1' })
    await waitForStatus(again.runs, runId, 'COMPLETED')
    await again.close()
  })

  it('[RUNS-Z5] A run that other code has begun is moved to another build after the differences are shown', async () => {
    const runId = await leaveRun()
    const present = await startProcess({ first: 'Play louder' }, { buildId: 'v2' })
    const { runs } = present
    await waitForStatus(runs, runId, 'WAITING_FOR_BUILD')
    const preview = await runs.builds.migrate(runId, { to: 'v2', preview: true })
    expect(preview).toMatchObject({ runId, from: 'v1', to: 'v2', moved: false })
    expect(preview.differences[0]).toEqual({
      task: 'play',
      field: 'description',
      from: 'Play',
      to: 'Play louder',
    })
    expect((await runs.record(runId))?.status).toBe('WAITING_FOR_BUILD')
    await expect(runs.builds.migrate(runId, { to: 'v3' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: 'Cannot move the run: no build "v3" has ensemble "band". Known builds: [v2, v1]',
    })
    expect((await runs.builds.migrate(runId, { to: 'v2' })).moved).toBe(true)
    await waitForStatus(runs, runId, 'COMPLETED')
    await expect(runs.builds.migrate(runId, { to: 'v2' })).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
    })
    await expect(runs.builds.migrate('x', { to: 'v2' })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    })
    await present.close()
  })
})
