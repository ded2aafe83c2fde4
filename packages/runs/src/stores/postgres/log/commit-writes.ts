/**
 * Commits writes in one round trip: they are decided in memory, from what this process knows of their runs, and stored by
 * one statement on condition that it is still true. Writes to runs that are unknown, or have changed, are decided again
 * from what the database has.
 */
import { toWriteResult } from '../../shared/log/prepare-write.ts'
import { readKnownRuns } from '../rows/read-known-runs.ts'
import { storeWrites } from './store-writes.ts'

import type { RunWrite, WriteResult } from '../../../ports/run-store.ts'
import type { KnownWrite } from '../../shared/log/compute-write.ts'
import type { Decision } from '../../shared/log/decide-write.ts'
import type { KnownRun } from '../../shared/log/owned-runs.ts'
import type { PostgresParts } from '../rows/parts.ts'
import type { RunRow } from '../../shared/read-records.ts'

/** A write to commit. */
export interface CommitAttempt {
  /** The state of the run, if this process knows it; otherwise it is read. */
  readonly known: KnownRun | undefined
  readonly write: Pick<RunWrite, 'runId' | 'events'>
  readonly decide: (row: RunRow | undefined) => Decision
}

/** Maximum number of times that a write is decided: a run changes only once or twice meanwhile. */
const TRIES = 10

/** Commits writes, at most one per run. Returns one result per write, in their order. */
export async function commitWrites(
  parts: PostgresParts,
  attempts: readonly CommitAttempt[],
): Promise<readonly WriteResult[]> {
  const results = new Map<string, WriteResult>()
  let open = attempts
  for (let tried = 0; open.length > 0; tried += 1) {
    if (tried === TRIES)
      throw new Error(`The run ${open[0]?.write.runId} changes too often to be written`)
    open = await commitOnce(parts, open, results)
  }
  return attempts.map(({ write: { runId } }) => results.get(runId) ?? { kind: 'fenced' })
}

/** Adds results to `results`. Returns the attempts that must be repeated because their runs have changed. */
async function commitOnce(
  parts: PostgresParts,
  attempts: readonly CommitAttempt[],
  results: Map<string, WriteResult>,
): Promise<readonly CommitAttempt[]> {
  const { database, notifications, waker, carrier, owned } = parts
  const unknown = attempts.filter(({ known }) => known === undefined)
  const read = await readKnownRuns(
    database,
    unknown.map(({ write: { runId } }) => runId),
  )
  const writes: KnownWrite[] = []
  const waiting = new Map<
    string,
    { readonly attempt: CommitAttempt; readonly result: WriteResult }
  >()
  for (const attempt of attempts) {
    const { runId } = attempt.write
    const known = attempt.known ?? read.get(runId)
    const { accepted: write, result: decided } = attempt.decide(known?.row)
    const result = toWriteResult(attempt.write, decided)
    if (known !== undefined && write !== undefined) {
      writes.push({ known, write })
      waiting.set(runId, { attempt, result })
    } else {
      owned.forget(runId)
      results.set(runId, result)
    }
  }
  const own = notifications.channel
  const {
    stored,
    written,
    notifications: sent,
    woken,
  } = await storeWrites(
    { schema: database.schema, query: (sql, values = []) => database.change(sql, values) },
    writes,
    own,
  )
  for (const known of stored) {
    const { runId } = known.row.run
    const done = waiting.get(runId)
    if (done !== undefined) results.set(runId, done.result)
    waiting.delete(runId)
    if (known.row.state === 'owned') owned.remember(known)
    else {
      // A run is known before its write only to its owner, whose slot is free now.
      if (done?.attempt.known !== undefined) waker.onRunEnded()
      owned.forget(runId)
    }
  }
  const here = sent.filter(({ channel }) => channel === own)
  notifications.notify(
    here.map(({ notification }) => notification).filter(({ kind }) => kind !== 'events'),
  )
  carrier.publish(written)
  waker.wake(woken, sent)
  return [...waiting.values()].map(({ attempt }) => ({ ...attempt, known: undefined }))
}
