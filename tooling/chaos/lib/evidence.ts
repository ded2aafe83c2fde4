/** Collects the final state: the data in the store, and the observations from outside. */
import { StoredReader } from '../../../packages/runs/src/commit/read-stored.ts'

import type { CountedCall } from './counter.ts'
import type { Rollout } from './deploys.ts'
import type { ChaosDatabase, Transition } from './database.ts'
import type { Fault } from './faults.ts'
import type { SlotChange } from './judge-limit.ts'
import type { Asked, Seen, Submitted } from './people.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Everything that the judges check. */
export interface Evidence {
  readonly leaseMs: number
  /** Number of runs that may execute at the same time. */
  readonly maxRunning: number
  readonly submitted: readonly Submitted[]
  readonly asked: readonly Asked[]
  readonly seen: readonly Seen[]
  readonly calls: readonly CountedCall[]
  readonly faults: readonly Fault[]
  readonly runs: readonly KeptRun[]
  readonly transitions: readonly Transition[]
  readonly slots: readonly SlotChange[]
  /** Present if builds were deployed. */
  readonly rollout?: Rollout
}

/** A run as stored. */
export interface KeptRun {
  readonly runId: string
  readonly idempotencyKey: string
  readonly ensemble: string
  /** Build of its last owner. */
  readonly build: string
  readonly status: string
  readonly state: string
  readonly hasOwner: boolean
  readonly lastSeq: number
  /** Number of completed tasks in its record. */
  readonly completedTasks: number
  /** Number of unanswered commands. */
  readonly openSignals: number
  readonly openReviews: number
  readonly events: readonly LoggedRunEvent[]
  /** Sequence number of an event that ends a tool call → latest time at which it was written. */
  readonly endedCalls: ReadonlyMap<number, number>
}

/**
 * Returns the evidence about the runs that ended, for a test that reached its time limit. The others violate nothing: the
 * test reports their number.
 */
export function withoutUnended(evidence: Evidence): Evidence {
  const unended = evidence.runs.filter(({ state }) => state !== 'ended')
  const ids = new Set(unended.map(({ runId }) => runId))
  const keys = new Set(unended.map(({ idempotencyKey }) => idempotencyKey))
  const isJudged = ({ runId }: { readonly runId: string }): boolean => !ids.has(runId)
  return {
    ...evidence,
    runs: evidence.runs.filter(isJudged),
    asked: evidence.asked.filter(isJudged),
    seen: evidence.seen.filter(isJudged),
    calls: evidence.calls.filter(isJudged),
    submitted: evidence.submitted.filter(
      ({ planned, answers }) => answers.length > 0 && !keys.has(planned.idempotencyKey),
    ),
  }
}

/** Reads the stored data. */
export async function readRuns(database: ChaosDatabase): Promise<readonly KeptRun[]> {
  const rows = await database.read(
    `SELECT id, run_id, idempotency_key, ensemble, build, status, state, owner, last_seq, completed_tasks,
       (SELECT count(*) FROM tutti.signals WHERE run = runs.id AND answer IS NULL) AS signals,
       (SELECT count(*) FROM tutti.reviews WHERE run = runs.id AND status = 'OPEN') AS reviews
     FROM tutti.runs WHERE id > ${database.lastEarlierRun} ORDER BY id`,
  )
  const events = Map.groupBy(
    await database.read(
      `SELECT run, seq, data FROM tutti.events WHERE run > ${database.lastEarlierRun}
       ORDER BY run, seq`,
    ),
    (row) => row['run'],
  )
  const endedCalls = Map.groupBy(
    await database.read(
      'SELECT run, seq, extract(epoch FROM at) * 1000 AS at FROM chaos.ended_calls',
    ),
    (row) => row['run'],
  )
  return rows.map((row) => {
    const runId = String(row['run_id'])
    return {
      runId,
      idempotencyKey: String(row['idempotency_key']),
      ensemble: String(row['ensemble']),
      build: String(row['build']),
      status: String(row['status']),
      state: String(row['state']),
      hasOwner: row['owner'] !== null,
      lastSeq: Number(row['last_seq']),
      completedTasks: Number(row['completed_tasks']),
      openSignals: Number(row['signals']),
      openReviews: Number(row['reviews']),
      events: toEvents(runId, events.get(row['id']) ?? []),
      endedCalls: new Map(
        (endedCalls.get(row['id']) ?? []).map((call) => [Number(call['seq']), Number(call['at'])]),
      ),
    }
  })
}

function toEvents(
  runId: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): readonly LoggedRunEvent[] {
  const data = new Map(rows.map((row) => [Number(row['seq']), String(row['data'])]))
  const reader = new StoredReader((seq) => data.get(seq) ?? '')
  return [...data].map(([seq, text]): LoggedRunEvent => ({
    // A copy, because events share the values that they refer to.
    ...JSON.parse(JSON.stringify(reader.read(text))),
    id: `${runId}:${seq}`,
    runId,
    seq,
  }))
}
