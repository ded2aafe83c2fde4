/**
 * Checks which tool calls were made more than once, and whether that was right. Pure.
 *
 * A process makes a call under its claim of the run: the last claim by that process before the body of the tool
 * began, according to the database (`database.ts`). A process that claims a run again which it owned before may for
 * a moment still make a call under its earlier claim. A call is complete when the event that ends it
 * (`tool_called`) is in the log.
 *
 * CHAOS-J1 No call is made under a claim that found it complete: its end is not among the events that the run had when
 *    it was claimed.
 * CHAOS-J2 Under one claim a call is made once.
 * CHAOS-J3 A call of a tool that is not idempotent is made at most once.
 * CHAOS-J4 A call that succeeded according to the log was answered by the counter; in the copied part of a fork, for
 *    its parent.
 *
 * CHAOS-J1 and CHAOS-J2 leave one way to repeat a complete call. A process that was frozen, or had no database, for
 *    longer than its lease does not know that other processes own its runs until its next write or renewal; no store
 *    can prevent its calls at that moment. Such a call is *late*:
 *
 * CHAOS-J5 A call that begins after its end was written was made by an owner that lost the run, and begins within a
 *    lease of a time in which that process was frozen or the database was unavailable.
 *
 * A failover to an asynchronous standby loses claims, ends of calls, and the record that a call of a tool that is not
 * idempotent has begun. CHAOS-J1, CHAOS-J2 and CHAOS-J5 therefore do not apply to calls that may rest on lost changes
 * (`lost-changes.ts`), and CHAOS-J3 does not count them, except the last one.
 *
 * CHAOS-J6 A call of a run that is neither stored nor deleted may rest on lost changes.
 */
import { mayRestOnLost } from './lost-changes.ts'

import type { CountedCall } from './counter.ts'
import type { Transition } from './database.ts'
import type { Evidence, KeptRun } from './evidence.ts'
import type { Fault } from './faults.ts'
import type { RunEventOf, LoggedRunEvent } from '@tutti/protocol'

/** Results of the check. */
export interface CallVerdict {
  readonly violations: readonly string[]
  /** Number of calls that reached the counter. */
  readonly made: number
  /** Number of these that were repeated because their outcome was unknown. */
  readonly repeatedInDoubt: number
  /** Number of these that were made by an owner that did not know yet that it had lost the run (CHAOS-J5). */
  readonly late: number
  /** Number of interrupted calls of tools that are not idempotent; the model saw that the outcome is unknown. */
  readonly leftInDoubt: number
}

/** Returns the key of a call in the log, as the counter knows it. */
export function callKey(runId: string, event: RunEventOf<'tool_called'>): string {
  const { taskName, attempt, iterationIndex, toolCallId } = event
  return [runId, taskName, attempt, iterationIndex, toolCallId].join('/')
}

type EndedCall = Extract<LoggedRunEvent, { type: 'tool_called' }>

/** Returns the end of each call in the log of a run, by key. */
export function endedCallsOf({
  runId,
  events,
}: KeptRun): ReadonlyMap<string, readonly EndedCall[]> {
  const ended = events.filter((event) => event.type === 'tool_called')
  return Map.groupBy(ended, (event) => callKey(runId, event))
}

/** Checks all calls. */
export function judgeCalls(evidence: Evidence): CallVerdict {
  const callsOf = Map.groupBy(evidence.calls, ({ runId }) => runId)
  const claimsOf = Map.groupBy(evidence.transitions, ({ runId }) => runId)
  const verdicts = evidence.runs.map((run) => {
    const calls = Map.groupBy(callsOf.get(run.runId) ?? [], ({ key }) => key)
    return judgeRun(run, { calls, claims: claimsOf.get(run.runId) ?? [], evidence })
  })
  const sum = (of: (verdict: RunVerdict) => number): number =>
    verdicts.reduce((total, verdict) => total + of(verdict), 0)
  const stored = new Set([...evidence.runs, ...evidence.deleted].map(({ runId }) => runId))
  const unknown = evidence.calls
    .filter(({ runId, at }) => !stored.has(runId) && !mayRestOnLost(evidence, at))
    .map(({ key }) => `J6 made for a run that is not stored: ${key}`)
  return {
    violations: [...unknown, ...verdicts.flatMap(({ violations }) => violations)],
    made: evidence.calls.length,
    repeatedInDoubt: sum(({ repeatedInDoubt }) => repeatedInDoubt),
    late: sum(({ late }) => late),
    leftInDoubt: sum(({ leftInDoubt }) => leftInDoubt),
  }
}

type RunVerdict = Omit<CallVerdict, 'made'>

interface RunSurroundings {
  /** Calls of the run that reached the counter, by key. */
  readonly calls: ReadonlyMap<string, readonly CountedCall[]>
  /** Owners of the run, in order. */
  readonly claims: readonly Transition[]
  readonly evidence: Evidence
}

function judgeRun(run: KeptRun, { calls, claims, evidence }: RunSurroundings): RunVerdict {
  const ended = endedCallsOf(run)
  const isAnswered = (key: string): boolean =>
    calls.get(key)?.some(({ answeredAt }) => answeredAt !== undefined) ?? false
  const madeUp = [...ended]
    .filter(([, [event]]) => (event?.seq ?? 0) > (run.parent?.at ?? -1))
    .filter(([key, [event]]) => event?.outcome === 'SUCCESS' && !isAnswered(key))
    .map(([key]) => `J4 ${key} ended well and was never answered by the counter`)
  const leftInDoubt = [...ended.values()].filter(([event]) =>
    /outcome is not known/.test(event?.toolResult ?? ''),
  )
  const judged = [...calls].map(([key, made]) => {
    const { violations, late } = judgeCall(made, {
      run,
      end: ended.get(key)?.[0],
      claims,
      evidence,
    })
    const texts = violations.map((violation) => `${violation}: ${key}`)
    return { violations: texts, late, repeated: made.length - 1 - late }
  })
  return {
    violations: [...madeUp, ...judged.flatMap(({ violations }) => violations)],
    late: judged.reduce((total, { late }) => total + late, 0),
    repeatedInDoubt: judged.reduce((total, { repeated }) => total + repeated, 0),
    leftInDoubt: leftInDoubt.length,
  }
}

interface Surroundings {
  readonly run: KeptRun
  /** End of the call; undefined if there is none. */
  readonly end: EndedCall | undefined
  /** Owners of the run, in order. */
  readonly claims: readonly Transition[]
  readonly evidence: Evidence
}

/** Checks the calls with the same key. */
function judgeCall(
  made: readonly CountedCall[],
  { run, end, claims, evidence }: Surroundings,
): { readonly violations: readonly string[]; readonly late: number } {
  const violations: string[] = []
  const epochs = new Set<number>()
  let late = 0
  const lasting = made.slice(0, -1).filter(({ at }) => !mayRestOnLost(evidence, at))
  if (made[0]?.tool === 'count_once' && lasting.length > 0) {
    violations.push(`J3 made ${made.length} times although it is not idempotent`)
  }
  const writtenAt = end === undefined ? undefined : run.endedCalls.get(end.seq)
  for (const call of made) {
    if (mayRestOnLost(evidence, call.at)) continue
    const isRight = (claim: Transition): boolean =>
      !epochs.has(claim.epoch) && !(end !== undefined && end.seq <= claim.lastSeq)
    const candidates = claimsOf(call, claims, evidence.leaseMs)
    const claim = candidates.find(isRight) ?? candidates[0]
    if (claim === undefined) {
      violations.push(`J1 made by process ${call.pid}, which did not have the run`)
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

/** Returns the claims under which a call may have been made, the likeliest first. */
function claimsOf(
  { pid, at }: CountedCall,
  claims: readonly Transition[],
  leaseMs: number,
): readonly Transition[] {
  const owned = claims.filter((claim) => claim.state === 'owned')
  const [last, ...earlier] = owned
    .filter((claim) => claim.pid === pid && claim.at <= at)
    .toReversed()
  const lostAt = (claim: Transition): number =>
    owned.find(({ epoch }) => epoch > claim.epoch)?.at ?? Infinity
  return [
    ...(last === undefined ? [] : [last]),
    ...earlier.filter((claim) => at - lostAt(claim) < leaseMs),
  ]
}

/** Returns whether the process of a call may not have known, shortly before, that it had lost its runs. */
function isExcused({ pid, at }: CountedCall, { faults, leaseMs }: Evidence): boolean {
  const isNear = (fault: Fault): boolean => fault.at <= at && at <= fault.until + leaseMs
  return faults.some((fault) => {
    switch (fault.kind) {
      case 'freeze_worker':
        return fault.pids.includes(pid) && isNear(fault)
      case 'stop_database':
      case 'crash_database':
      case 'cut_connections':
      case 'lose_answers':
      case 'lock_store':
      case 'refuse_password':
      case 'fail_over':
      case 'fail_over_synchronously':
        return isNear(fault)
      default:
        return false
    }
  })
}
