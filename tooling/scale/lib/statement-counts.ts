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

/** Starts counting. */
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
