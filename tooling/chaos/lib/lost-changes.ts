/**
 * Decides what a failover to an asynchronous standby may lose: changes that were acknowledged between the moment at which the
 * standby last had everything and the promotion. A synchronous standby loses nothing. Pure.
 */
import type { Interval } from './api-clients.ts'
import type { Evidence } from './evidence.ts'
import type { Fault } from './faults.ts'

type Times = Pick<Evidence, 'faults' | 'leaseMs'>

/** Returns whether a change may be lost: its request was sent before the promotion, and answered after the last catch-up. */
export function mayBeLost({ faults }: Times, { from, to }: Interval): boolean {
  return losses(faults).some((loss) => from <= loss.until && loss.at <= to)
}

/**
 * Returns whether a process may at that time have acted on changes that were lost. The lease of a claim that the new
 * primary does not know ends within its duration after the failover.
 */
export function mayRestOnLost({ faults, leaseMs }: Times, at: number): boolean {
  return losses(faults).some((loss) => loss.at <= at && at <= loss.until + leaseMs)
}

/** Returns the ids of acknowledged runs that may be lost and are not stored. */
export function findLostRuns(evidence: Evidence): ReadonlySet<string> {
  const stored = new Set([...evidence.runs, ...evidence.deleted].map(({ runId }) => runId))
  const answers = evidence.submitted.flatMap((submit) => submit.answers)
  const lost = answers.filter((answer) => !stored.has(answer.runId) && mayBeLost(evidence, answer))
  return new Set(lost.map(({ runId }) => runId))
}

/** Returns the ids of runs that are deleted, or may be lost and are not stored. */
export function findGoneRuns(evidence: Evidence): ReadonlySet<string> {
  return new Set([...findLostRuns(evidence), ...evidence.deleted.map(({ runId }) => runId)])
}

function losses(faults: readonly Fault[]): readonly Fault[] {
  return faults.filter(({ kind }) => kind === 'fail_over')
}
