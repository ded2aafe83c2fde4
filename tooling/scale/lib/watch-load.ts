/** Watches the load of the database and the times of lists while the fleet works. */
import { setTimeout as sleep } from 'node:timers/promises'

import { query } from '../../bench/lib/query.ts'
import {
  readStatements,
  STATEMENTS,
  subtractStatements,
  type StatementLoad,
} from './statement-counts.ts'

import type { ApiClients } from '../../chaos/lib/api-clients.ts'

/** Counters of the server that only grow, until it fails over. */
interface LoadReading {
  readonly atMs: number
  readonly transactions: number
  readonly walBytes: number
  readonly statements: number
  readonly notifying: number
  readonly claims: number
}

/** Load of the database between two readings. All numbers are per second. */
export interface LoadRate {
  readonly transactions: number
  readonly walBytes: number
  readonly statements: number
  /** Number of the statements that notify. */
  readonly notifying: number
  /** Number of the statements that claim. */
  readonly claims: number
  /** Counts of each statement: the most time first. */
  readonly byStatement: readonly StatementLoad[]
}

/** Time after which the statistics of the server contain the transactions of a connection that became idle. */
const SETTLE_MS = 11_000

const LIST_EVERY_MS = 2_000

/** Queries of the list of runs, with and without filters. */
const LISTS = [
  {},
  { status: 'FAILED' },
  { status: 'RUNNING' },
  { tag: 'team:t3' },
  { q: 'no such text' },
  { ensemble: 'shop' },
] as const

/** Returns the load of the database during a time. */
export async function measureLoad(url: string, forMs: number): Promise<LoadRate> {
  await sleep(SETTLE_MS)
  const statements = await readStatements(url)
  const before = await readLoad(url)
  await sleep(forMs)
  const after = await readLoad(url)
  const seconds = (after.atMs - before.atMs) / 1_000
  const byStatement = subtractStatements(await readStatements(url), statements)
  return {
    ...toRates(before, after),
    byStatement: byStatement.map(({ text, calls, execMs, buffers }) => ({
      text,
      calls: calls / seconds,
      execMs: execMs / seconds,
      buffers: buffers / seconds,
    })),
  }
}

/** Lists runs until the signal aborts, and adds the times of lists that were answered to `times`, in milliseconds. */
export async function timeLists(
  clients: ApiClients,
  signal: AbortSignal,
  times: number[],
): Promise<void> {
  for (let index = 0; !signal.aborted; index += 1) {
    const filter = LISTS[index % LISTS.length]
    const startedAt = performance.now()
    try {
      await clients.client(index).runs.list({ limit: 50, ...filter }, { signal })
      times.push(performance.now() - startedAt)
    } catch {
      // A failover ends reads; the judge checks that nothing else is lost.
    }
    await sleep(LIST_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function readLoad(url: string): Promise<LoadReading> {
  const [row] = await query(
    url,
    `SELECT xact_commit AS transactions, pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal,
       counted.statements, counted.notifying, counted.claims
     FROM pg_stat_database, LATERAL (
       SELECT sum(calls) AS statements,
         coalesce(sum(calls) FILTER (WHERE query LIKE '%pg_notify%'), 0) AS notifying,
         coalesce(sum(calls) FILTER (WHERE ${STATEMENTS.claim}), 0) AS claims
       FROM pg_stat_statements WHERE dbid = datid) AS counted
     WHERE datname = current_database()`,
  )
  return {
    atMs: performance.now(),
    transactions: Number(row?.['transactions']),
    walBytes: Number(row?.['wal']),
    statements: Number(row?.['statements']),
    notifying: Number(row?.['notifying']),
    claims: Number(row?.['claims']),
  }
}

function toRates(before: LoadReading, after: LoadReading): Omit<LoadRate, 'byStatement'> {
  const seconds = (after.atMs - before.atMs) / 1_000
  return {
    transactions: (after.transactions - before.transactions) / seconds,
    walBytes: (after.walBytes - before.walBytes) / seconds,
    statements: (after.statements - before.statements) / seconds,
    notifying: (after.notifying - before.notifying) / seconds,
    claims: (after.claims - before.claims) / seconds,
  }
}
