/** Claimed runs, as a store returns them. */
import type { ClaimedRun, RunRecord } from '@tutti/runs/adapter'

/** Returns a run that was claimed for the first time, with `changes`. */
export function claimed(
  runId: string,
  {
    run,
    ...changes
  }: Partial<Omit<ClaimedRun, 'run'>> & { readonly run?: Partial<RunRecord> } = {},
): ClaimedRun {
  const record = ownedRecord(runId, run)
  return { run: record, token: toToken(record.epoch), commands: [], lostOwners: 0, ...changes }
}

/** Returns the token of the claim with that epoch. */
export function toToken(epoch: number): string {
  return `token-${epoch}`
}

/** Returns the record of an accepted, owned run. */
export function ownedRecord(runId: string, changes: Partial<RunRecord> = {}): RunRecord {
  return {
    runId,
    ensemble: 'band',
    workflow: 'SEQUENTIAL',
    status: 'ACCEPTED',
    inputs: { topic: 'Bach' },
    tags: {},
    taskCount: 1,
    completedTasks: 0,
    createdAt: Date.UTC(2026, 0, 1),
    epoch: 1,
    lastSeq: 0,
    ...changes,
  }
}
