/** Costs of lists in a database with many runs, in numbers that do not depend on the machine. */
import { afterAll, beforeAll, expect, it } from 'vitest'

import { connectClient } from '../../../../../../tooling/postgres/connect-client.ts'
import { ownDatabase } from '../../../../test/own-database.ts'
import { PLAN_LISTS } from '../database/database.ts'
import { toGrams } from './grams.ts'
import { postgresRunStorage } from '../index.ts'
import { explainStatement } from '../testing/explain.ts'
import { recordStatements } from '../testing/record-statements.ts'

import type { Client } from 'pg'
import type { RunStorage } from '../../../ports/run-storage.ts'
import type { ChangedRunsQuery, RunQuery } from '../../../ports/run-store.ts'

const database = ownDatabase({ isPrepared: true })

/** Number of runs: enough that reading all of them exceeds the limit of a statement. */
const RUNS = 100_000
/** Number of the oldest runs, which have their own status: more than a list counts. */
const OLDEST = 12_000
const TOPICS = 1_000

/** Time to load the database, in milliseconds. */
const LOAD_MS = 120_000

const PAGE = { limit: 50 }

const MAX_BUFFERS = 2_500
/** For 1,100 runs that are looked up one by one. */
const MAX_BUFFERS_BY_RUN = 4_000
const MAX_BUFFERS_BY_CHANGE = 600
const MAX_BUFFERS_BY_INDEX = 600

/** A connection that plans like those of lists. */
let reader: Client

afterAll(() => reader.end())

beforeAll(async () => {
  await (await open())[Symbol.asyncDispose]()
  const texts = Array.from({ length: TOPICS }, (_, n) => `REPORT ${n} OF THE BAND`)
  const grams = texts.map((text) => `{${toGrams(text)?.join() ?? ''}}`)
  await database.client.query(
    `WITH added AS (
       INSERT INTO tutti.runs (run_id, ensemble, workflow, status, inputs, tags, tag_index, task_count,
         created_at, completed_at, state, due_at)
       SELECT 'run-' || g, CASE WHEN g % 100 = 7 THEN 'choir' ELSE 'band' END, 'SEQUENTIAL',
         CASE WHEN g <= ${OLDEST} THEN 'REJECTED' WHEN g % 10000 = 5 THEN 'CANCELLED' WHEN g % 50 = 0 THEN 'FAILED' WHEN g % 50 = 1 THEN 'WAITING_REVIEW'
           ELSE 'COMPLETED' END,
         '{}', '{}', ARRAY['"team"="t' || g % 1000 || '"'], 1, 1.8e12 + g,
         CASE WHEN g % 50 <> 1 THEN 1.8e12 + g END, CASE WHEN g % 50 = 1 THEN 'parked' ELSE 'ended' END, NULL
       FROM generate_series(1, ${RUNS}) AS g RETURNING id
     ), texts AS (
       INSERT INTO tutti.run_texts (run, text, grams)
       SELECT id, ($1::text[])[1 + id % ${TOPICS}], ($2::text[])[1 + id % ${TOPICS}]::int2[] FROM added
     )
     INSERT INTO tutti.tasks (run, task_index, name, description, agent_role, status, attempt, input_tokens,
       output_tokens, tool_call_count, earlier_input_tokens, earlier_output_tokens, earlier_tool_call_count)
     SELECT id, 1, 'play', '', '', 'COMPLETED', 1, 1, 1, 0, 0, 0, 0 FROM added`,
    [texts, grams],
  )
  await database.client.query(
    `INSERT INTO tutti.reviews (run, review_id, kind, status, request, opened_at)
       SELECT id, 'review', 'TASK_OUTPUT', 'OPEN', '{}', created_at + 5 FROM tutti.runs WHERE status = 'WAITING_REVIEW'`,
  )
  await database.client.query('VACUUM ANALYZE')
  reader = await connectClient({ connectionString: database.url, options: PLAN_LISTS })
}, LOAD_MS)

it.for<[string, Partial<RunQuery>, number?]>([
  ['all runs', {}],
  ['a common status', { statuses: ['COMPLETED'] }],
  ['a status of 1,760 runs', { statuses: ['FAILED'] }],
  ['a status of 9 runs', { statuses: ['CANCELLED'] }],
  ['a status of the oldest 12,000 runs', { statuses: ['REJECTED'] }],
  ['two statuses', { statuses: ['CANCELLED', 'REJECTED'] }],
  ['a status of no run', { statuses: ['RUNNING'] }],
  ['a tag value of 100 runs', { tag: { key: 'team', value: 't7' } }],
  ['an ensemble of 1,000 runs', { ensemble: 'choir' }],
  ['a common ensemble', { ensemble: 'band' }],
  [
    'a common ensemble and the status of the oldest runs',
    { ensemble: 'band', statuses: ['REJECTED'] },
  ],
  ['a rare ensemble and a common status', { ensemble: 'choir', statuses: ['COMPLETED'] }],
  ['a common ensemble and a common tag', { ensemble: 'band', tag: { key: 'team' } }],
  ['a text of all runs', { text: 'report' }],
  ['a text of 100 runs', { text: 'report 77 of' }],
  ['a text of no run', { text: 'no such text' }],
  ['two characters of all runs', { text: 'of' }],
  ['two characters of no run', { text: 'zz' }],
  ['one character of no run', { text: 'z' }],
  ['the start of an id', { text: 'run-4711' }],
  ['a text of all runs and a status of 9', { text: 'report', statuses: ['CANCELLED'] }],
  ['a text of all runs and a status of no run', { text: 'report', statuses: ['RUNNING'] }],
  ['a text of 100 runs and a common status', { text: 'report 77 of', statuses: ['COMPLETED'] }],
  [
    'a text of 1,100 runs and a status of 1,760',
    { text: 'report 77', statuses: ['FAILED'] },
    // The sample of ANALYZE decides whether each run of the text is looked up, in three pages.
    MAX_BUFFERS_BY_RUN,
  ],
])('[RUNS-P13] A list of %s reads few pages', async ([, filter, maxBuffers = MAX_BUFFERS]) => {
  await using storage = await open()
  const buffers = await countBuffers(() => storage.runs.list({ ...PAGE, ...filter }))
  expect(buffers).toBeLessThanOrEqual(maxBuffers)
})

it.for<[string, Partial<ChangedRunsQuery>]>([
  ['all runs', {}],
  ['a status of 9 runs', { statuses: ['CANCELLED'] }],
  ['a status of no run', { statuses: ['RUNNING'] }],
  ['runs that wait for a review', { awaitsReview: true }],
  ['runs that do not wait for a review', { awaitsReview: false }],
  ['runs that changed since an instant', { since: 1.8e12 + RUNS - 100 }],
  ['the runs after another one', { after: { runId: 'run-777', changedAt: 1.8e12 + 777 } }],
  ['a rare ensemble', { ensembles: ['choir'] }],
  ['a group', { group: { tag: 'team', value: 't7' } }],
])('[RUNS-P13] A list by change of %s reads few pages', async ([, filter]) => {
  await using storage = await open()
  const query = { ensembles: ['band', 'choir', 'none'], ...PAGE, ...filter }
  const buffers = await countBuffers(() => storage.runs.listByChange(query))
  expect(buffers).toBeLessThanOrEqual(MAX_BUFFERS_BY_CHANGE)
})

it('[RUNS-P13] A list of an ensemble and a status does not read newer runs with another status', async () => {
  await database.client.query(
    `INSERT INTO tutti.runs (run_id, ensemble, workflow, status, inputs, tags, tag_index, task_count, created_at)
     SELECT 'new-' || g, 'band', 'SEQUENTIAL', 'RUNNING', '{}', '{}', '{}', 1, 1.9e12 + g
     FROM generate_series(1, 40000) AS g`,
  )
  await database.client.query('VACUUM ANALYZE tutti.runs')
  await using storage = await open()
  const statuses = ['COMPLETED'] as const
  const list = () => storage.runs.list({ ...PAGE, ensemble: 'band', statuses })
  expect(await countBuffers(list)).toBeLessThanOrEqual(MAX_BUFFERS_BY_INDEX)
  expect(await list()).toMatchObject({ isCapped: true, runs: { length: PAGE.limit } })
})

function open(): Promise<RunStorage> {
  return postgresRunStorage({ connectionString: database.url })
}

/** Returns the number of pages that the statements of `ask` access. */
async function countBuffers(ask: () => Promise<unknown>): Promise<number> {
  const recorded = recordStatements()
  await ask()
  recorded.stop()
  let buffers = 0
  for (const { text, values } of recorded.statements) {
    buffers += (await explainStatement(reader, text, values)).buffers
  }
  expect(recorded.statements.length).toBeGreaterThan(0)
  return buffers
}
