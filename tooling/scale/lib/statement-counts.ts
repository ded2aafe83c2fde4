/** Reads the counts of `pg_stat_statements`, which do not depend on the speed of the machine. */
import { query } from '../../bench/lib/query.ts'

/** Setting of a server that counts statements. */
export const COUNTING = 'shared_preload_libraries=pg_stat_statements'

/** Statements of the store, by a condition on their text. */
export const STATEMENTS = {
  claim: `query LIKE '%claimed_at = clock_timestamp()%' AND query LIKE '%SKIP LOCKED%'`,
  renewal: `query LIKE '%UPDATE %leases SET %' AND query NOT LIKE '%claimed_at%'`,
} as const

/** Counts of one kind of statement. */
export interface StatementCounts {
  readonly calls: number
  readonly buffers: number
  readonly walBytes: number
}

export async function startCounting(url: string): Promise<void> {
  await query(url, 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
}

/** Returns the counts so far of a kind of statement, in the database of `url`. */
export async function readCounts(
  url: string,
  kind: keyof typeof STATEMENTS,
): Promise<StatementCounts> {
  const [row] = await query(
    url,
    `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(wal_bytes), 0) AS wal_bytes,
       coalesce(sum(shared_blks_hit + shared_blks_read), 0) AS buffers
     FROM pg_stat_statements WHERE ${STATEMENTS[kind]}
       AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  return {
    calls: Number(row?.['calls']),
    buffers: Number(row?.['buffers']),
    walBytes: Number(row?.['wal_bytes']),
  }
}

/** Returns what was counted between two readings. */
export function subtractCounts(after: StatementCounts, before: StatementCounts): StatementCounts {
  return {
    calls: after.calls - before.calls,
    buffers: after.buffers - before.buffers,
    walBytes: after.walBytes - before.walBytes,
  }
}

/** Counts of one statement, by its text. */
export interface StatementLoad {
  readonly text: string
  readonly calls: number
  readonly execMs: number
  readonly buffers: number
}

/** Returns the counts so far of each statement in the database of `url`. */
export async function readStatements(url: string): Promise<readonly StatementLoad[]> {
  const rows = await query(
    url,
    `SELECT query AS text, sum(calls) AS calls, sum(total_exec_time) AS exec_ms,
       sum(shared_blks_hit + shared_blks_read) AS buffers
     FROM pg_stat_statements
     WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY query`,
  )
  return rows.map((row) => ({
    text: String(row['text']),
    calls: Number(row['calls']),
    execMs: Number(row['exec_ms']),
    buffers: Number(row['buffers']),
  }))
}

/** Returns what was counted of each statement between two readings: the most time first. */
export function subtractStatements(
  after: readonly StatementLoad[],
  before: readonly StatementLoad[],
): readonly StatementLoad[] {
  const earlier = new Map(before.map((statement) => [statement.text, statement]))
  return after
    .map((statement) => {
      const { calls = 0, execMs = 0, buffers = 0 } = earlier.get(statement.text) ?? {}
      return {
        text: statement.text,
        calls: statement.calls - calls,
        execMs: statement.execMs - execMs,
        buffers: statement.buffers - buffers,
      }
    })
    .filter(({ calls }) => calls > 0)
    .toSorted((a, b) => b.execMs - a.execMs)
}
