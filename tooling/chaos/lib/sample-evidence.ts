/** Samples for tests of the judges. */
import type { Evidence, KeptRun } from './evidence.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Evidence of a test without runs. */
export const NO_EVIDENCE: Evidence = {
  leaseMs: 2_000,
  maxRunning: 16,
  maxRetained: 1_000_000,
  submitted: [],
  asked: [],
  seen: [],
  calls: [],
  faults: [],
  runs: [],
  transitions: [],
  slots: [],
  deleted: [],
  leftovers: [],
  streams: [],
  readAfterwards: [],
  deliveries: [],
  openDeliveries: [],
  health: [],
}

/** A completed run without events. */
export const ENDED_RUN: KeptRun = {
  runId: 'r',
  idempotencyKey: 'chaos-1-0',
  ensemble: 'relay',
  build: 'v1',
  status: 'COMPLETED',
  state: 'ended',
  hasOwner: false,
  lastSeq: 2,
  completedTasks: 4,
  openCommands: 0,
  openReviews: 0,
  endedAt: 3_000,
  stepSeqs: [],
  events: [],
  endedCalls: new Map(),
}

/** Returns the log of a run: numbers events from 0. */
export function toLog(bare: readonly object[], runId = 'r'): readonly LoggedRunEvent[] {
  // NOTE: the judges read only these fields.
  return bare.map((event, seq) => ({ ...event, seq, runId })) as unknown as LoggedRunEvent[]
}
