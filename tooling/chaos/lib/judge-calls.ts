/**
 * Pure: which tool calls were made more than once, and whether that was right.
 *
 * A process makes a call under its claim of the run: the last one by that process before the body of
 * the tool began, as the notes of the database say (`database.ts`). A process that takes a run which it
 * had itself may for a moment still make a call under its claim before. A call is complete when the event
 * that ends it (`tool_called`) is in the log. From that follows:
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
 * J5 A call that begins after its end was written is one of an owner that lost the run, and begins
 *    within a lease of a time in which that process was frozen or the database was away.
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
  const callsOf = Map.groupBy(evidence.calls, ({ runId }) => runId)
  const claimsOf = Map.groupBy(evidence.transitions, ({ runId }) => runId)
  const verdicts = evidence.runs.map((run) => {
    const calls = Map.groupBy(callsOf.get(run.runId) ?? [], ({ key }) => key)
    return judgeRun(run, { calls, claims: claimsOf.get(run.runId) ?? [], evidence })
  })
  const sum = (of: (verdict: RunVerdict) => number): number =>
    verdicts.reduce((total, verdict) => total + of(verdict), 0)
  return {
    violations: verdicts.flatMap(({ violations }) => violations),
    made: evidence.calls.length,
    repeatedInDoubt: sum(({ repeatedInDoubt }) => repeatedInDoubt),
    late: sum(({ late }) => late),
    leftInDoubt: sum(({ leftInDoubt }) => leftInDoubt),
  }
}

type RunVerdict = Omit<CallVerdict, 'made'>

interface RunSurroundings {
  /** The calls of the run that reached the counter, by their key. */
  readonly calls: ReadonlyMap<string, readonly CountedCall[]>
  /** Who had the run, in order. */
  readonly claims: readonly Transition[]
  readonly evidence: Evidence
}

function judgeRun(run: KeptRun, { calls, claims, evidence }: RunSurroundings): RunVerdict {
  const ended = endedCallsOf(run)
  const isAnswered = (key: string): boolean =>
    calls.get(key)?.some(({ answeredAt }) => answeredAt !== undefined) ?? false
  const madeUp = [...ended]
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
    const told = violations.map((violation) => `${violation}: ${key}`)
    return { violations: told, late, repeated: made.length - 1 - late }
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

/** The claims under which a call may have been made, the likeliest first. */
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
      case 'lose_answers':
        return isNear(fault)
      default:
        return false
    }
  })
}
