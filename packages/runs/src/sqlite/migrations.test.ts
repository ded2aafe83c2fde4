import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { RunService } from '../run-service.ts'
import { newRun, queued, token } from '../testing/index.ts'
import { SQLITE_MIGRATIONS } from './migrations.ts'
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
  it('creates the steps of every run in flight from its events', async () => {
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

  it('creates no steps for waiting or ended runs', async () => {
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

  it('continues its runs without repeating completed tasks', async () => {
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

  it('has unknown costs of its tasks', async () => {
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

describe('a store of version 2', () => {
  it('has its unfinished runs ready, the oldest first, with all their data', async () => {
    writeVersion2(`
      ${insertRun(1, 'run-old', { status: 'RUNNING', created: 10, epoch: 3, lastSeq: 1 })}
      ${insertRun(2, 'run-cancelling', { status: 'CANCELLING', created: 30 })}
      ${insertRun(3, 'run-accepted', { status: 'ACCEPTED', created: 20 })}
      INSERT INTO events (run, seq, type, data)
        VALUES (1, 0, 'run_queued', '{"type":"run_queued"}'), (1, 1, 'token', '{"type":"token"}');
      INSERT INTO steps (run, n, data) VALUES (1, 0, '{"kind":"run_begun"}');`)
    await using storage = sqliteRunStorage(directory)
    expect(await storage.queue.load()).toEqual({ running: 0, queued: 3, waiting: 0, parked: 0 })
    expect(await storage.queue.reclaimAll()).toEqual([])
    const claimed =
      (await storage.dispatcher.take({
        owner: 'x',
        leaseMs: Infinity,
        wanted: 9,
        maxConcurrentRuns: 9,
      })) ?? []
    expect(claimed.map(({ run: { runId, status } }) => [runId, status])).toEqual([
      ['run-old', 'RUNNING'],
      ['run-accepted', 'ACCEPTED'],
      ['run-cancelling', 'CANCELLING'],
    ])
    const [{ run, token: held, lostOwners } = expect.fail('nothing was claimed')] = claimed
    const steps = await storage.runs.steps(run.runId)
    expect([run.epoch, steps, lostOwners]).toEqual([4, [{ kind: 'run_begun' }], 0])
    const write = { runId: 'run-old', token: held, writeNo: 1, events: [token('x')], steps: [] }
    expect(await storage.runs.commit([write])).toMatchObject([{ events: [{ seq: 2 }] }])
  })

  it('has its other runs ended: they cannot be claimed, and the oldest are deleted first', async () => {
    writeVersion2(`
      ${insertRun(1, 'run-1', { status: 'COMPLETED', created: 10, completed: 500 })}
      ${insertRun(2, 'run-2', { status: 'FAILED', created: 20, completed: 400 })}
      ${insertRun(3, 'run-3', { status: 'CANCELLED', created: 450 })}
      ${insertRun(4, 'run-4', { status: 'REJECTED', created: 40, completed: 600 })}`)
    await using storage = sqliteRunStorage(directory)
    expect(await storage.queue.load()).toEqual({ running: 0, queued: 0, waiting: 0, parked: 0 })
    expect(await storage.events.follow({ runIds: [], all: true })).toEqual([])
    expect(Object.keys((await storage.runs.get('run-1')) ?? {})).not.toContain('error')
    expect(await storage.commands.send('run-1', { kind: 'cancel', mode: 'abort' })).toMatchObject({
      kind: 'ended',
    })
    expect(await storage.runs.deleteEnded({ keep: 1, limit: 9 })).toEqual([
      'run-2',
      'run-3',
      'run-1',
    ])
  })

  it('retains all texts unchanged', async () => {
    const texts = ['plain', 'say "x" \\ {}', 'nul \u0000 bell \u0007', '🎻 é', '"quoted"', '']
    writeVersion2(
      texts
        .map((_, at) => insertRun(at + 1, `run-${at}`, { status: 'FAILED', created: at }))
        .join(''),
    )
    const database = new DatabaseSync(join(directory, 'runs.sqlite'))
    const setError = database.prepare('UPDATE runs SET error = ? WHERE id = ?')
    const insertTask = database.prepare(
      `INSERT INTO tasks (run, task_index, name, description, agent_role, output, error)
       VALUES (?, 1, ?, ?, ?, ?, ?)`,
    )
    for (const [at, text] of texts.entries()) {
      setError.run(text, at + 1)
      insertTask.run(at + 1, `name ${text}`, `description ${text}`, `role ${text}`, text, text)
    }
    database.exec(`INSERT INTO tasks (run, task_index, name, description, agent_role)
      VALUES (1, 2, 'second', 'no output', 'Player')`)
    database.close()
    await using storage = sqliteRunStorage(directory)
    for (const [at, text] of texts.entries()) {
      expect((await storage.runs.get(`run-${at}`))?.error).toBe(text)
      const [one] = await storage.runs.tasks(`run-${at}`)
      expect([one?.name, one?.description, one?.agentRole, one?.output, one?.error]).toEqual([
        `name ${text}`,
        `description ${text}`,
        `role ${text}`,
        text,
        text,
      ])
    }
    const [, second] = await storage.runs.tasks('run-0')
    expect(Object.keys(second ?? {})).not.toContain('output')
    expect(Object.keys(second ?? {})).not.toContain('error')
  })

  it('accepts runs, commands and reviews like a new store', async () => {
    writeVersion2(insertRun(1, 'run-1', { status: 'RUNNING', created: 10 }))
    await using storage = sqliteRunStorage(directory)
    const submission = { idempotencyKey: 'key', fingerprint: 'print' }
    const made = newRun('run-2', { submission })
    const how = { firstEvent: queued(made), maxUnfinishedRuns: 2 }
    expect((await storage.runs.create(made, how)).kind).toBe('created')
    expect((await storage.runs.create(made, how)).kind).toBe('repeated')
    await storage.queue.claim('run-1', { owner: 'x', leaseMs: Infinity })
    expect(await storage.commands.send('run-1', { kind: 'cancel', mode: 'abort' })).toMatchObject({
      kind: 'sent',
    })
    expect(await storage.runs.reviews({})).toEqual([])
    expect((await storage.runs.get('run-1'))?.status).toBe('CANCELLING')
  })
})

/** Returns SQL that adds a run in the format of version 2. */
function insertRun(
  id: number,
  runId: string,
  of: {
    readonly status: string
    readonly created: number
    readonly completed?: number
    readonly epoch?: number
    readonly lastSeq?: number
  },
): string {
  const { status, created, completed = null, epoch = 0, lastSeq = -1 } = of
  return `
    INSERT INTO runs (id, run_id, ensemble, workflow, status, inputs, tags, task_count,
      created_at, completed_at, epoch, last_seq)
    VALUES (${id}, '${runId}', 'team', 'SEQUENTIAL', '${status}', '{}', '{}', 2,
      ${created}, ${completed}, ${epoch}, ${lastSeq});`
}

function writeVersion2(sql: string): void {
  const database = new DatabaseSync(join(directory, 'runs.sqlite'))
  database.exec(`${SQLITE_MIGRATIONS[0]}; ${SQLITE_MIGRATIONS[1]}; PRAGMA user_version = 2; ${sql}`)
  database.close()
}

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

/** Writes a store in the format of version 1, with the data that its migration reads. */
function writeVersion1(runs: readonly OldRun[]): void {
  const database = new DatabaseSync(join(directory, 'runs.sqlite'))
  database.exec(`${SQLITE_MIGRATIONS[0]}; PRAGMA user_version = 1`)
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
