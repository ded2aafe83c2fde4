/**
 * Pure: which tool calls were made more than once, and whether that was right.
 *
 * A process makes a call under its claim of the run: the last one by that process before the call
 * reached the counter, as the notes of the database say (`database.ts`). A call is complete when the
 * event that ends it (`tool_called`) is in the log. From that follows, without comparing clocks:
 *
 * J1 No call is made under a claim that found it complete: its end is not among the events that the run
 *    had when it was claimed.
 * J2 Under one claim a call is made once.
 * J3 A call of a tool that is not idempotent is made once, ever.
 * J4 What the log says was done was done: a call that ended well was answered by the counter.
 *
 * J1 and J2 leave one way to repeat a call that is complete. A process that was frozen, or had no
 * database, for longer than its lease does not know that others have its runs, until its next
 * write or renewal; no store can hold back a call that it makes in that moment. Such a call is *late*:
 *
 * J5 A call that reaches the counter after its end was written is one of an owner that lost the run, and
 *    comes within a lease of a time in which that process was frozen or the database was away.
 */
import type { CountedCall } from './counter.ts'
import type { Transition } from './database.ts'
import type { Evidence, KeptRun } from './evidence.ts'
import type { Fault } from './faults.ts'
import type { RunEventOf, LoggedRunEvent } from '@tutti/protocol'

/** What came of the calls. */
export interface CallVerdict {
  readonly violations: readonly string[]
  /** Calls that reached the counter. */
  readonly made: number
  /** Of those, calls that were made again as nobody knew what had become of them. */
  readonly repeatedInDoubt: number
  /** Of those, calls of an owner that did not know yet that it had lost the run (J5). */
  readonly late: number
  /** Calls of tools that are not idempotent that were cut off; the model was told. */
  readonly leftInDoubt: number
}

/** The call that the counter knows by this key, as the log has it. */
export function callKey(runId: string, event: RunEventOf<'tool_called'>): string {
  const { taskName, attempt, iterationIndex, toolCallId } = event
  return [runId, taskName, attempt, iterationIndex, toolCallId].join('/')
}

type EndedCall = Extract<LoggedRunEvent, { type: 'tool_called' }>

/** The end of each call in the log of a run, by its key. */
export function endedCallsOf({
  runId,
  events,
}: KeptRun): ReadonlyMap<string, readonly EndedCall[]> {
  const ended = events.filter((event) => event.type === 'tool_called')
  return Map.groupBy(ended, (event) => callKey(runId, event))
}

/** Judges all calls. */
export function judgeCalls(evidence: Evidence): CallVerdict {
  const violations: string[] = []
  const calls = Map.groupBy(evidence.calls, ({ key }) => key)
  const claims = Map.groupBy(evidence.transitions, ({ runId }) => runId)
  let repeatedInDoubt = 0
  let late = 0
  let leftInDoubt = 0
  for (const run of evidence.runs) {
    const ended = endedCallsOf(run)
    for (const [key, [event]] of ended) {
      if (event?.outcome === 'SUCCESS') {
        if (calls.get(key)?.some(({ answeredAt }) => answeredAt !== undefined) === true) continue
        violations.push(`J4 ${key} ended well and was never answered by the counter`)
      } else if (/outcome is not known/.test(event?.toolResult ?? '')) leftInDoubt += 1
    }
    for (const [key, made] of Map.groupBy(
      evidence.calls.filter(({ runId }) => runId === run.runId),
      ({ key: k }) => k,
    )) {
      const judged = judgeCall(made, {
        run,
        end: ended.get(key)?.[0],
        claims: claims.get(run.runId) ?? [],
        evidence,
      })
      violations.push(...judged.violations.map((violation) => `${violation}: ${key}`))
      late += judged.late
      repeatedInDoubt += made.length - 1 - judged.late
    }
  }
  return { violations, made: evidence.calls.length, repeatedInDoubt, late, leftInDoubt }
}

interface Surroundings {
  readonly run: KeptRun
  /** The end of the call; undefined when there is none. */
  readonly end: EndedCall | undefined
  /** Who had the run, in order. */
  readonly claims: readonly Transition[]
  readonly evidence: Evidence
}

/** Judges the calls that were made with the same key. */
function judgeCall(
  made: readonly CountedCall[],
  { run, end, claims, evidence }: Surroundings,
): { readonly violations: readonly string[]; readonly late: number } {
  const violations: string[] = []
  const epochs = new Set<number>()
  let late = 0
  if (made[0]?.tool === 'count_once' && made.length > 1) {
    violations.push(`J3 made ${made.length} times although it is not idempotent`)
  }
  const writtenAt = end === undefined ? undefined : run.endedCalls.get(end.seq)
  for (const call of made) {
    const claim = claimOf(call, claims)
    if (claim === undefined) {
      violations.push(`J1 made by process ${call.pid}, which never had the run`)
      continue
    }
    if (end !== undefined && end.seq <= claim.lastSeq) {
      violations.push(`J1 made under epoch ${claim.epoch}, which found it complete`)
    }
    if (epochs.has(claim.epoch)) violations.push(`J2 made twice under epoch ${claim.epoch}`)
    epochs.add(claim.epoch)
    if (writtenAt === undefined || call.at <= writtenAt) continue
    late += 1
    const lostAt = claims.find(({ epoch }) => epoch > claim.epoch)?.at ?? Infinity
    if (call.at < lostAt) violations.push(`J5 begun by its owner after its end was written`)
    else if (!isExcused(call, evidence)) {
      violations.push(`J5 begun ${Math.round(call.at - lostAt)} ms after the run was lost`)
    }
  }
  return { violations, late }
}

/** The claim under which a call was made. */
function claimOf({ pid, at }: CountedCall, claims: readonly Transition[]): Transition | undefined {
  return claims.findLast((claim) => claim.state === 'owned' && claim.pid === pid && claim.at <= at)
}

/** Whether the process of a call may not have known, shortly before, that it had lost its runs. */
function isExcused({ pid, at }: CountedCall, { faults, leaseMs }: Evidence): boolean {
  const isNear = (fault: Fault): boolean => fault.at <= at && at <= fault.until + leaseMs
  return faults.some((fault) => {
    switch (fault.kind) {
      case 'freeze_worker':
        return fault.pids.includes(pid) && isNear(fault)
      case 'stop_database':
      case 'crash_database':
      case 'cut_connections':
        return isNear(fault)
      default:
        return false
    }
  })
}
