import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { RunService } from '../run-service.ts'
import { MIGRATIONS } from './migrations.ts'
import { sqliteRunStorage } from './sqlite-run-storage.ts'

const AT = '2026-01-01T00:00:00.000Z'
const ODD_TEXT = 'nul \u0000 lone \ud800 "quoted" 🎻'
const NOTHING_USED = { inputTokens: 0, outputTokens: 0, toolCallCount: 0 }

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-migrations-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

describe('a store of version 1', () => {
  it('gives every run in flight the steps that follow from its events', async () => {
    writeVersion1([
      run('run-a', 'CANCELLING', [
        { type: 'run_queued' },
        { type: 'ensemble_started', startedAt: AT },
        started('one'),
        { type: 'token', token: 'x' },
        completed('one'),
        started('two'),
        { type: 'task_failed', taskName: 'two', attempt: 1, ...FAILURE },
        { type: 'task_skipped', taskName: 'three' },
        started('four'),
        { type: 'run_resumed', epoch: 2 },
        started('four', 2),
        { type: 'run_cancelling', mode: 'abort' },
      ]),
      run('run-b', 'RUNNING', [{ type: 'ensemble_started', startedAt: AT }]),
    ])
    await using storage = sqliteRunStorage(directory)
    expect(await storage.runs.steps('run-a')).toEqual([
      { kind: 'run_begun', runMs: 0, startedAt: Date.parse(AT) },
      { kind: 'task_begun', taskName: 'one', attempt: 1, runMs: 0, taskMs: 0 },
      {
        kind: 'task_completed',
        taskName: 'one',
        attempt: 1,
        output: ODD_TEXT,
        used: { inputTokens: 3, outputTokens: -1, toolCallCount: 2 },
        durationMs: 7,
        runMs: 0,
        taskMs: 7,
      },
      { kind: 'task_begun', taskName: 'two', attempt: 1, runMs: 0, taskMs: 0 },
      {
        kind: 'task_failed',
        taskName: 'two',
        attempt: 1,
        error: { code: 'TOOL_FAILED', message: ODD_TEXT, retryable: false },
        used: NOTHING_USED,
        willRetry: false,
        runMs: 0,
        taskMs: 5,
      },
      { kind: 'task_skipped', taskName: 'three', runMs: 0 },
      { kind: 'task_begun', taskName: 'four', attempt: 1, runMs: 0, taskMs: 0 },
      {
        kind: 'task_failed',
        taskName: 'four',
        attempt: 1,
        error: { code: 'INTERRUPTED', message: 'The attempt was cut off', retryable: true },
        used: NOTHING_USED,
        willRetry: true,
        runMs: 0,
        taskMs: 0,
      },
      { kind: 'cancel_asked', runMs: 0, mode: 'abort' },
    ])
    expect(await storage.runs.steps('run-b')).toHaveLength(1)
  })

  it('gives runs that wait or have ended no steps', async () => {
    const events = [{ type: 'ensemble_started', startedAt: AT }, started('one')]
    writeVersion1([
      run('run-a', 'ACCEPTED', [{ type: 'run_queued' }]),
      ...['COMPLETED', 'FAILED', 'CANCELLED'].map((status) => run(status, status, events)),
    ])
    await using storage = sqliteRunStorage(directory)
    for (const runId of ['run-a', 'COMPLETED', 'FAILED', 'CANCELLED']) {
      expect(await storage.runs.steps(runId)).toEqual([])
    }
  })

  it('goes on with its runs where they were: completed tasks are not run again', async () => {
    writeVersion1([
      run('run-a', 'RUNNING', [
        { type: 'run_queued' },
        { type: 'ensemble_started', startedAt: AT },
        started('one'),
        completed('one'),
        started('two'),
      ]),
    ])
    const model = scriptedModel(['two is done'])
    const one = task({ name: 'one', description: 'One' })
    const two = task({ name: 'two', description: 'Two', context: [one] })
    const team = ensemble({ name: 'team', tasks: [one, two], model })
    const service = new RunService(sqliteRunStorage(directory), [team])
    await service.start()
    const events = []
    for await (const batch of service.follow({ runId: 'run-a', from: 5 })) events.push(...batch)
    expect(events.map(({ type }) => type).slice(0, 2)).toEqual(['run_resumed', 'task_input'])
    expect(model.requests).toHaveLength(1)
    expect(model.requests[0]?.messages[1]?.content).toContain(ODD_TEXT)
    expect(events.at(-1)).toMatchObject({
      status: 'COMPLETED',
      outputs: [
        { taskName: 'one', output: ODD_TEXT },
        { taskName: 'two', output: 'two is done' },
      ],
    })
    await service.close({ drainTimeoutMs: 0 })
  })

  it('does not know what its tasks have cost', async () => {
    writeVersion1([run('run-a', 'COMPLETED', [])])
    const database = new DatabaseSync(join(directory, 'runs.sqlite'))
    database.exec(`INSERT INTO tasks (run, task_index, name, description, agent_role, attempt)
      VALUES (1, 1, 'one', 'One', 'Player', 1), (1, 2, 'two', 'Two', 'Player', 0)`)
    database.close()
    await using storage = sqliteRunStorage(directory)
    const tasks = await storage.runs.tasks('run-a')
    expect(tasks.map(({ costUsd }) => costUsd)).toEqual([undefined, 0])
  })
})

interface OldRun {
  readonly runId: string
  readonly status: string
  readonly events: readonly object[]
}

const FAILURE = { code: 'TOOL_FAILED', reason: ODD_TEXT, durationMs: 5 }

function run(runId: string, status: string, events: readonly object[]): OldRun {
  return { runId, status, events }
}

function started(taskName: string, attempt = 1): object {
  return { type: 'task_started', taskName, attempt }
}

function completed(taskName: string): object {
  const used = { inputTokens: 3, outputTokens: -1, toolCallCount: 2 }
  return { type: 'task_completed', taskName, attempt: 1, output: ODD_TEXT, durationMs: 7, ...used }
}

/** Writes a store as version 1 did, with as much of each run as its migration reads. */
function writeVersion1(runs: readonly OldRun[]): void {
  const database = new DatabaseSync(join(directory, 'runs.sqlite'))
  database.exec(`${MIGRATIONS[0]}; PRAGMA user_version = 1`)
  const insertRun = database.prepare(
    `INSERT INTO runs
       (id, run_id, ensemble, workflow, status, inputs, tags, task_count, created_at, started_at,
        epoch, last_seq)
     VALUES (?, ?, 'team', 'SEQUENTIAL', ?, '{}', '{}', 2, 0, ?, 1, ?)`,
  )
  const insertEvent = database.prepare(
    'INSERT INTO events (run, seq, type, data) VALUES (?, ?, ?, ?)',
  )
  for (const [index, { runId, status, events }] of runs.entries()) {
    insertRun.run(index + 1, runId, status, Date.parse(AT), events.length - 1)
    for (const [seq, event] of events.entries()) {
      const type = 'type' in event ? String(event.type) : ''
      insertEvent.run(index + 1, seq, type, JSON.stringify(event))
    }
  }
  database.close()
}
