/** Collects the final state: the data in the store, and the observations from outside. */
import { StoredReader } from '../../../packages/runs/src/log/read-stored.ts'

import type { CountedCall } from './counter.ts'
import type { Rollout } from './deploys.ts'
import {
  toKey,
  type ChaosDatabase,
  type DeletedRun,
  type SlotChange,
  type Transition,
} from './database.ts'
import type { Fault } from './faults.ts'
import type { HealthCheck } from './health.ts'
import type { Asked, Seen, Submitted } from './people.ts'
import type { Delivery } from './receiver.ts'
import type { RawStream, StoredText } from './raw-events.ts'
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
  readonly deleted: readonly DeletedRun[]
  /** Maximum number of ended runs that are retained. */
  readonly maxRetained: number
  /** Tables that have rows of deleted runs. */
  readonly leftovers: readonly string[]
  /** Texts of live streams. */
  readonly streams: readonly RawStream[]
  /** Replies to reads after the end: streams of runs, also of deleted ones. */
  readonly readAfterwards: readonly StoredText[]
  readonly deliveries: readonly Delivery[]
  /** Ids of deliveries that will be attempted again. */
  readonly openDeliveries: readonly string[]
  readonly health: readonly HealthCheck[]
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
  readonly openCommands: number
  readonly openReviews: number
  readonly events: readonly LoggedRunEvent[]
  /** Time in milliseconds since 1970. */
  readonly endedAt: number
  /** Sequence number of the event of each step. */
  readonly stepSeqs: readonly number[]
  /** The run that it was forked from, and the last copied event. */
  readonly parent?: { readonly runId: string; readonly at: number }
  /** Its thread, and its number there, from 1. */
  readonly thread?: { readonly id: string; readonly number: number }
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
    streams: evidence.streams.filter(isJudged),
    calls: evidence.calls.filter(isJudged),
    submitted: evidence.submitted
      .filter(({ planned, answers }) => answers.length > 0 && !keys.has(planned.idempotencyKey))
      .map(({ planned, answers }) => ({ answers, planned: { ...planned, hasWebhook: false } })),
    deliveries: [],
  }
}

/** Reads the stored data. */
export async function readRuns(database: ChaosDatabase): Promise<readonly KeptRun[]> {
  const { dialect, lastEarlierRun } = database
  const rows = await database.read(
    `SELECT id, run_id, idempotency_key, ensemble, build, status, state, owner, last_seq, completed_tasks,
       parent, runs.thread_id, thread_runs.n, ${dialect.toMs('ended_at')} AS ended_at,
       (SELECT count(*) FROM tutti.commands WHERE run = runs.id AND answer IS NULL) AS commands,
       (SELECT count(*) FROM tutti.reviews WHERE run = runs.id AND status = 'OPEN') AS reviews
     FROM tutti.runs LEFT JOIN tutti.thread_runs ON run = runs.id
     WHERE id > ${lastEarlierRun} ORDER BY id`,
  )
  const readLog = (columns: string): ReturnType<ChaosDatabase['read']> =>
    database.read(`SELECT * FROM (SELECT ${columns}) AS log WHERE run > ${lastEarlierRun}`)
  const byRun = (log: Awaited<ReturnType<typeof readLog>>) =>
    Map.groupBy(log, (row) => Number(row['run']))
  const events = byRun(await readLog(`${dialect.eventKey}, data FROM tutti.events`))
  const steps = byRun(await readLog(`${dialect.stepRun}, seq FROM tutti.steps`))
  const endedCalls = byRun(await readLog('run, seq, at FROM tutti.chaos_ended_calls'))
  return rows.map((row) => {
    const id = Number(row['id'])
    const { parent, thread_id: threadId } = row
    const runId = String(row['run_id'])
    return {
      runId,
      idempotencyKey: toKey(row['idempotency_key']),
      ensemble: String(row['ensemble']),
      build: String(row['build']),
      status: String(row['status']),
      state: String(row['state']),
      hasOwner: row['owner'] !== null,
      lastSeq: Number(row['last_seq']),
      completedTasks: Number(row['completed_tasks']),
      openCommands: Number(row['commands']),
      openReviews: Number(row['reviews']),
      endedAt: Number(row['ended_at']),
      stepSeqs: (steps.get(id) ?? []).map(({ seq }) => Number(seq)).toSorted((a, b) => a - b),
      ...(typeof parent === 'string' ? { parent: JSON.parse(parent) } : {}),
      ...(typeof threadId === 'string'
        ? { thread: { id: threadId, number: Number(row['n']) } }
        : {}),
      events: toEvents(runId, events.get(id) ?? []),
      endedCalls: new Map(
        (endedCalls.get(id) ?? []).map((call) => [Number(call['seq']), Number(call['at'])]),
      ),
    }
  })
}

function toEvents(
  runId: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): readonly LoggedRunEvent[] {
  const data = new Map(
    rows
      .map((row) => [Number(row['seq']), String(row['data'])] as const)
      .toSorted(([a], [b]) => a - b),
  )
  const reader = new StoredReader((seq) => data.get(seq) ?? '')
  return [...data].map(([seq, text]): LoggedRunEvent => ({
    // A copy, because events share the values that they refer to.
    ...JSON.parse(JSON.stringify(reader.read(text))),
    id: `${runId}:${seq}`,
    runId,
    seq,
  }))
}
