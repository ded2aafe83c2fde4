/** Runs and owners for the cases. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { StoredValues } from '../../log/stored-values.ts'
import { AT_MS, queued, result, started, step, token as tokenEvent } from './event-fixtures.ts'

import type { ClaimedRun, ClaimRequest, LeaseOwner } from '../../ports/run-queue.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { Claimant, UnownedWrite, RunWrite, WriteResult } from '../../ports/run-store.ts'
import type { NewRun, RunRecord } from '../../domain/run-record.ts'
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

/** The default owner of claims. */
export const OWNER: LeaseOwner = { owner: 'owner-a', leaseMs: Infinity }

/** Returns a run to create. */
export function newRun(runId: string, changes: Partial<NewRun> = {}): NewRun {
  return {
    runId,
    ensemble: 'band',
    workflow: 'SEQUENTIAL',
    inputs: { topic: 'käse & "quotes"' },
    tags: {},
    taskCount: 2,
    createdAt: AT_MS,
    ...changes,
  }
}

/** An owner of a run, which numbers its writes. */
export interface Owner {
  readonly claimed: ClaimedRun
  readonly runId: string
  readonly epoch: number
  readonly token: string
  /** Returns the next write. */
  next(events: readonly RunEvent[], more?: WriteExtras): RunWrite
  /** Commits the next write in a batch of one. */
  commit(events: readonly RunEvent[], more?: WriteExtras): Promise<WriteResult>
}

type WriteExtras = Partial<Pick<RunWrite, 'steps' | 'stepEvents' | 'answers'>>

/** Returns the owner of a claimed run. */
export function toOwner(storage: RunStorage, claimed: ClaimedRun): Owner {
  const { token } = claimed
  const { runId, epoch } = claimed.run
  const stored = new StoredValues()
  let writeNo = 0
  const next = (events: readonly RunEvent[], more: WriteExtras = {}): RunWrite => {
    writeNo += 1
    return { runId, token, writeNo, events, steps: [], stored, ...more }
  }
  return {
    claimed,
    runId,
    epoch,
    token,
    next,
    async commit(events, more) {
      const written = await commitOne(storage, next(events, more))
      if (written.kind === 'written') stored.confirm()
      return written
    },
  }
}

/** Commits a batch of one write. */
export async function commitOne(storage: RunStorage, write: RunWrite): Promise<WriteResult> {
  const results = await storage.runs.commit([write])
  strictEqual(results.length, 1)
  const [only] = results
  ok(only !== undefined)
  return only
}

/** Creates an unowned run and returns its record. */
export async function createRun(
  storage: RunStorage,
  runId: string,
  changes: Partial<NewRun> = {},
): Promise<RunRecord> {
  const run = newRun(runId, changes)
  const made = await storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 1000 })
  strictEqual(made.kind, 'created')
  return readRecord(storage, runId)
}

/** A process that can take the runs of {@link newRun}. */
export const CLAIMANT: Omit<Claimant, 'maxConcurrentRuns'> = {
  ...OWNER,
  hasFreeSlot: true,
  code: { build: 'build-1', codes: { band: 'code-1' } },
}

/** Creates a run for a claimant. Returns the claim, if it has one. */
export async function createOwned(
  storage: RunStorage,
  runId: string,
  claimant: Claimant,
): Promise<ClaimedRun | undefined> {
  const run = newRun(runId)
  const firstEvent = queued(run)
  const made = await storage.runs.create(run, { firstEvent, maxUnfinishedRuns: 99, claimant })
  return made.kind === 'created' ? made.claim : undefined
}

/** Claims an unowned run. */
export async function claimRun(
  storage: RunStorage,
  runId: string,
  leaseOwner: LeaseOwner = OWNER,
): Promise<Owner> {
  const claimed = await storage.queue.claim(runId, leaseOwner)
  ok(claimed !== undefined, `${runId} can be claimed`)
  return toOwner(storage, claimed)
}

/** Creates a run and claims it. */
export async function ownedRun(
  storage: RunStorage,
  runId: string,
  { leaseOwner = OWNER, ...changes }: Partial<NewRun> & { readonly leaseOwner?: LeaseOwner } = {},
): Promise<Owner> {
  await createRun(storage, runId, changes)
  return claimRun(storage, runId, leaseOwner)
}

/** A token that no claim has. */
export const UNKNOWN_TOKEN = '00000000-0000-4000-8000-000000000000'

/** An unowned run, with the token for a write to it. */
export interface UnownedRun extends RunRecord {
  readonly token: string
}

/** Reads an unowned run like the sender of a command. */
export async function readUnowned(storage: RunStorage, runId: string): Promise<UnownedRun> {
  const sent = await storage.commands.send(runId, { kind: 'switch_model', model: 'm' })
  ok(sent?.kind === 'unowned', `${runId} is unowned`)
  return { ...sent.run, token: sent.token }
}

/** Creates a parked run. */
export async function parkedRun(
  storage: RunStorage,
  runId: string,
  {
    wakeInMs,
    events = [],
    ...changes
  }: Partial<NewRun> & { readonly wakeInMs?: number; readonly events?: RunEvent[] } = {},
): Promise<UnownedRun> {
  const owner = await ownedRun(storage, runId, changes)
  await owner.commit([started, ...events], { steps: [step(1)] })
  const how = { kind: 'parked', ...(wakeInMs === undefined ? {} : { wakeInMs }) } as const
  strictEqual(await storage.queue.release(owner, how), 'parked')
  return readUnowned(storage, runId)
}

/** Creates a run that has ended. */
export async function endedRun(
  storage: RunStorage,
  runId: string,
  changes: Partial<NewRun> = {},
): Promise<RunRecord> {
  const owner = await ownedRun(storage, runId, changes)
  await owner.commit([result(runId)])
  return readRecord(storage, runId)
}

/** Returns a write to an unowned run; one event and no step unless `changes` set others. */
export function newUnownedWrite(
  { runId, token, lastSeq }: Pick<UnownedRun, 'runId' | 'token' | 'lastSeq'>,
  next: UnownedWrite['next'],
  changes: Partial<Omit<UnownedWrite, 'next'>> = {},
): UnownedWrite {
  return { runId, token, lastSeq, events: [tokenEvent('at rest')], steps: [], ...changes, next }
}

/** Returns the record of an existing run. */
export async function readRecord(storage: RunStorage, runId: string): Promise<RunRecord> {
  const run = await storage.runs.get(runId)
  ok(run !== undefined, `${runId} is there`)
  return run
}

/** Returns all events of a run. */
export async function readAll(
  storage: RunStorage,
  runId: string,
): Promise<readonly LoggedRunEvent[]> {
  return (await storage.events.read({ runId, from: 0, limit: 10_000 })).events
}

/** Claims up to `wanted` due runs for an owner, in order. */
export async function claimDue(
  storage: RunStorage,
  { wanted = 10, maxConcurrentRuns = 1000, ...more }: Partial<ClaimRequest> = {},
): Promise<readonly ClaimedRun[]> {
  const request = { ...OWNER, ...more, wanted, maxConcurrentRuns }
  return (await storage.dispatcher.take(request)) ?? []
}

/** Checks that these runs were claimed, in this order. */
export function assertClaimed(claimed: readonly ClaimedRun[], runIds: readonly string[]): void {
  deepStrictEqual(
    claimed.map(({ run }) => run.runId),
    runIds,
  )
}
