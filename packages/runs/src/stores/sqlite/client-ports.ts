/**
 * The ports of the embedded store, for all other code. They turn events and steps into text, once, and complete
 * results. The store itself gets and returns plain data, so it may be in another thread.
 */
import { TuttiError } from '@tutti/core/basics'

import { StoredReader } from '../../log/read-stored.ts'
import { prepareWrite, toWriteResult } from '../shared/log/prepare-write.ts'
import { toLoggedEvent } from '../../log/serialize-once.ts'
import { readEvent } from '../shared/read-records.ts'
import { prepareRun } from './runs/prepare-run.ts'
import { WritePositions } from './write-positions.ts'

import type { PreparedWrite } from '../../log/prepared-write.ts'
import type { AuditLog } from '../../ports/audit-log.ts'
import type { EventPage, StoredEventLog } from '../../ports/event-log.ts'
import type { ClaimedRun, ClaimRequest, RunQueue } from '../../ports/run-queue.ts'
import type { RunStore, RunWrite, WriteResult } from '../../ports/run-store.ts'
import type { SqlitePorts, StoreClient } from './open-store.ts'
import type { StoredPage } from './log/event-log.ts'
import type { PreparedRunWrite, SqliteWriteResult } from './log/write-runs.ts'

/** The ports of an open store. */
export interface ClientPorts extends Omit<SqlitePorts, 'runs' | 'queue' | 'events' | 'audit'> {
  readonly audit: AuditLog
  readonly runs: RunStore
  readonly queue: RunQueue
  readonly events: StoredEventLog
  /** Claims due runs; see `Dispatcher.take`. */
  take(request: ClaimRequest): Promise<readonly ClaimedRun[]>
}

/** The methods of each port. */
const METHODS: { readonly [P in keyof SqlitePorts]: Readonly<Record<keyof SqlitePorts[P], true>> } =
  {
    runs: {
      create: true,
      commit: true,
      commitUnowned: true,
      get: true,
      tasks: true,
      steps: true,
      list: true,
      listByChange: true,
      reviews: true,
      countReviews: true,
      deleteEnded: true,
      deleteSteps: true,
      delete: true,
    },
    queue: {
      take: true,
      claim: true,
      claimOffered: true,
      renew: true,
      markWaiting: true,
      release: true,
      excuse: true,
      hasLease: true,
      reclaimAll: true,
      findExpired: true,
      load: true,
      metrics: true,
    },
    events: { read: true, follow: true },
    threads: {
      create: true,
      get: true,
      setTags: true,
      list: true,
      runs: true,
      delete: true,
      deleteEmpty: true,
    },
    commands: { send: true, pending: true, answer: true },
    outbox: { claim: true, settle: true },
    audit: { append: true, list: true, trim: true },
    builds: {
      register: true,
      list: true,
      living: true,
      setShare: true,
      manifest: true,
      findStranded: true,
      findUnowned: true,
      move: true,
      hold: true,
    },
    secrets: { get: true },
    externalEvents: {
      add: true,
      state: true,
      data: true,
      assign: true,
      giveBack: true,
      refuse: true,
      remove: true,
      trim: true,
    },
    schedules: {
      list: true,
      get: true,
      add: true,
      replace: true,
      delete: true,
      findDue: true,
      claim: true,
      settle: true,
    },
    memories: { append: true, retrieve: true },
    reflections: { get: true, put: true },
  }

/** Returns the ports of a store. */
export function clientPorts(client: Pick<StoreClient, 'call'>): ClientPorts {
  const positions = new WritePositions()
  const runs = callPort(client, 'runs')
  const queue = callPort(client, 'queue')
  const events = callPort(client, 'events')
  return {
    runs: { ...runs, ...writePort(runs, positions) },
    threads: callPort(client, 'threads'),
    queue: {
      ...queue,
      async claim(runId, owner) {
        const claim = await queue.claim(runId, owner)
        if (claim !== undefined) positions.claimed(claim)
        return claim
      },
      async claimOffered(offers, request) {
        const outcomes = await queue.claimOffered(offers, request)
        for (const outcome of outcomes) if ('claim' in outcome) positions.claimed(outcome.claim)
        return outcomes
      },
      // Callers may hold a run in an object with more than these fields.
      markWaiting: ({ runId, token }, waitsFor) => queue.markWaiting({ runId, token }, waitsFor),
      release: ({ runId, token }, how) => {
        positions.released(runId)
        return queue.release({ runId, token }, how)
      },
      excuse: (lost) =>
        queue.excuse(lost.map(({ runId, token, epoch }) => ({ runId, token, epoch }))),
      fleet: { processes: 1, pollers: 1 },
      hasStranded: true,
    },
    async take(request) {
      const claims = await queue.take(request)
      for (const claim of claims) positions.claimed(claim)
      return claims
    },
    commands: callPort(client, 'commands'),
    events: {
      ...events,
      read: async (query) => readPage(query.runId, await events.read(query)),
    },
    outbox: callPort(client, 'outbox'),
    audit: {
      ...callPort(client, 'audit'),
      joinsWrites: true,
    },
    builds: callPort(client, 'builds'),
    secrets: callPort(client, 'secrets'),
    externalEvents: callPort(client, 'externalEvents'),
    schedules: callPort(client, 'schedules'),
    memories: callPort(client, 'memories'),
    reflections: callPort(client, 'reflections'),
  }
}

/** Returns the writing methods of the run store. */
function writePort(
  runs: Pick<SqlitePorts['runs'], 'create' | 'commit' | 'commitUnowned'>,
  positions: WritePositions,
): Pick<RunStore, 'create' | 'commit' | 'commitUnowned'> {
  return {
    async create(run, how) {
      const created = await runs.create(prepareRun(run, how))
      if (created.kind === 'refused') throw how.refusal
      if (created.kind !== 'created') return created
      if (created.claim !== undefined) positions.claimed(created.claim)
      return { ...created, event: toLoggedEvent(run.runId, 0, how.firstEvent) }
    },
    async commit(writes) {
      const attempts = writes.map((write) => ({ write, ...tryPrepare(write, positions) }))
      const prepared = attempts.flatMap(({ sent }) => (sent === undefined ? [] : [sent]))
      const results = (await sendWrites(prepared, runs)).values()
      return attempts.map(({ write, refused }): WriteResult => {
        const result = refused ?? results.next().value
        if (result === undefined)
          throw new TypeError(`The store returned no result for a write of run ${write.runId}`)
        if (result.kind === 'written') positions.written(write, result.firstSeq)
        return toWriteResult(write, result)
      })
    },
    async commitUnowned(write) {
      const { runId, token, lastSeq, next } = write
      try {
        const prepared = prepareWrite(write, lastSeq)
        const result = await runs.commitUnowned({ runId, token, lastSeq, next, prepared })
        return toWriteResult(write, result)
      } catch (error) {
        return toFailure(error)
      }
    },
  }
}

/** A write to send, or the result of one that can never be stored (RUNS-P5). */
interface Attempt {
  readonly sent?: PreparedRunWrite
  readonly refused?: FailedWrite
}

type FailedWrite = Extract<WriteResult, { kind: 'failed' | 'unavailable' }>

function tryPrepare(write: RunWrite, positions: WritePositions): Attempt {
  const { runId, token, writeNo } = write
  const lastSeq = positions.find(write)
  try {
    return { sent: { runId, token, writeNo, lastSeq, prepared: prepareKnown(write, lastSeq) } }
  } catch (error) {
    return { refused: toFailure(error) }
  }
}

function toFailure(error: unknown): FailedWrite {
  const isLost = TuttiError.isInstance(error) && error.code === 'STORE_UNAVAILABLE'
  return { kind: isLost ? 'unavailable' : 'failed', error }
}

/** Prepares a write. One that follows an unknown event refers to no values of earlier writes. */
function prepareKnown(write: RunWrite, lastSeq: number | undefined): PreparedWrite {
  if (lastSeq !== undefined) return prepareWrite(write, lastSeq)
  const { stored, ...others } = write
  stored?.forgetUnconfirmed()
  return prepareWrite(others, 0)
}

/** Sends writes. Without an answer, whether they were stored is unknown. */
async function sendWrites(
  writes: readonly PreparedRunWrite[],
  runs: Pick<SqlitePorts['runs'], 'commit'>,
): Promise<readonly SqliteWriteResult[]> {
  if (writes.length === 0) return []
  try {
    return await runs.commit(writes)
  } catch (error) {
    return writes.map(() => toFailure(error))
  }
}

/** Decodes the events of a page. */
function readPage(runId: string, { events, referred, lastSeq }: StoredPage): EventPage {
  const data = new Map(referred)
  for (const [seq, , text] of events) data.set(seq, text)
  const reader = new StoredReader((seq) => String(data.get(seq)))
  return {
    events: events.map(([seq, type, text]) => readEvent(runId, reader, { seq, type, data: text })),
    lastSeq,
  }
}

/** Returns a port whose methods are calls of the store. */
function callPort<P extends keyof SqlitePorts>(
  client: Pick<StoreClient, 'call'>,
  port: P,
): SqlitePorts[P] {
  const entries = Object.keys(METHODS[port]).map((method) => [
    method,
    (...given: readonly unknown[]) => client.call(port, method, given),
  ])
  // NOTE: a cast at the boundary: the store has the same ports.
  return Object.fromEntries(entries) as SqlitePorts[P]
}
