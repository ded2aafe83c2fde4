/** Computes the statistics of a chaos test, as lines of a table. Pure. */
import { countContinued } from './judge-deploys.ts'
import { findLostRuns } from './lost-changes.ts'

import type { CallVerdict } from './judge-calls.ts'
import type { LimitVerdict } from './judge-limit.ts'
import type { Evidence } from './evidence.ts'
import type { ChaosEnd } from './run-chaos.ts'

/** A statistic: its name and its value. */
export type Figure = readonly [what: string, value: string]

/** Returns the statistics. */
export function figuresOf(
  { evidence, wallMs, tries, natsOffers, longestPauseMs }: ChaosEnd,
  { calls, limit }: { readonly calls: CallVerdict; readonly limit: LimitVerdict },
): readonly Figure[] {
  const { runs, faults, transitions, asked, seen, rollout } = evidence
  const events = runs.flatMap((run) => run.events)
  const count = (type: string): number => events.filter((event) => event.type === type).length
  const ended = (status: string): string =>
    String(runs.filter((run) => run.status === status).length)
  const kinds = [...Map.groupBy(faults, ({ kind }) => kind)]
  const takeovers = takeoverTimes(evidence)
  const commands = [...Map.groupBy(asked, ({ what }) => what.kind)]
  return [
    ['runs', String(runs.length)],
    ['  completed', ended('COMPLETED')],
    ['  cancelled', ended('CANCELLED')],
    ['  failed', ended('FAILED')],
    ['  lost by the failover', String(findLostRuns(evidence).size)],
    ['  forks', String(runs.filter(({ parent }) => parent).length)],
    ['  turns of threads', String(runs.filter(({ thread }) => thread).length)],
    ['  stopped by their budget', countResults(runs, 'BUDGET_EXCEEDED')],
    ['deleted runs', String(evidence.deleted.length)],
    ['events', String(events.length)],
    ['requests sent by users, with repeats', String(tries)],
    ...commands.map(([kind, made]): Figure => [
      `  ${kind}`,
      `${made.length}, accepted ${made.filter(({ answer }) => answer === 'ok').length}`,
    ]),
    ['runs followed live', String(seen.length)],
    ['  readers of lost events', String(seen.filter(({ refusal }) => refusal).length)],
    ['  compared as text', String(evidence.streams.length)],
    ['notifications of the webhook', String(evidence.deliveries.length)],
    ['checks of readiness', String(evidence.health.length)],
    ['faults', String(faults.length)],
    ...kinds.map(([kind, done]): Figure => [`  ${kind}`, String(done.length)]),
    ...(rollout === undefined
      ? []
      : ([
          ['runs of several builds', String(countContinued(evidence))],
          ['runs that waited for their build', String(rollout.waiting.length)],
          ['  moved to the last build', String(rollout.moved.length)],
        ] satisfies readonly Figure[])),
    ...(natsOffers === undefined
      ? []
      : [['offers in the stream of NATS', String(natsOffers)] satisfies Figure]),
    ['takeovers (run_resumed)', String(count('run_resumed'))],
    ['  after SIGKILL, until run_resumed', `${takeovers.length}: ${spread(takeovers)}`],
    ...(evidence.slots.length === 0
      ? []
      : [
          [
            'most runs at the same time',
            `${limit.most}, claimed up to ${evidence.maxRunning}`,
          ] as const,
        ]),
    ['parked', String(transitions.filter(({ state }) => state === 'parked').length)],
    ['  claimed again', String(wokenCount(evidence))],
    ['reviews decided / timed out', `${count('review_decided')} / ${count('review_timed_out')}`],
    ['tool calls made', String(calls.made)],
    ['  in doubt, repeated (idempotent)', String(calls.repeatedInDoubt)],
    ['  in doubt, not repeated (not idempotent)', String(calls.leftInDoubt)],
    ['  late, by an owner that lost its run', String(calls.late)],
    ['longest pause of this process', `${Math.round(longestPauseMs)} ms`],
    ['wall time', `${(wallMs / 1_000).toFixed(1)} s`],
  ]
}

function countResults(runs: Evidence['runs'], code: string): string {
  const results = runs.flatMap(({ events }) => events.slice(-1))
  const found = results.filter((event) => event.type === 'run_result' && event.code === code)
  return String(found.length)
}

/** Returns the time until another process continued each run of a killed process, in milliseconds. */
export function takeoverTimes({ faults, transitions, runs }: Evidence): readonly number[] {
  const kills = faults.filter(({ kind }) => /^kill_(?:all_)?worker/.test(kind))
  const byRun = Map.groupBy(transitions, ({ runId }) => runId)
  return kills.flatMap(({ at, pids }) =>
    runs.flatMap(({ runId, events }) => {
      const changes = byRun.get(runId) ?? []
      const had = changes.findLast((change) => change.at <= at)
      if (had?.state !== 'owned' || !pids.includes(had.pid)) return []
      const next = changes.find(({ epoch }) => epoch > had.epoch)
      const resumed = events.find((e) => e.type === 'run_resumed' && e.epoch === next?.epoch)
      return resumed?.type === 'run_resumed' ? [Date.parse(resumed.resumedAt) - at] : []
    }),
  )
}

/** Returns the number of claims of parked runs. */
function wokenCount({ transitions }: Evidence): number {
  let woken = 0
  for (const changes of Map.groupBy(transitions, ({ runId }) => runId).values()) {
    let isParked = false
    for (const { state } of changes) {
      if (state === 'parked') isParked = true
      else if (state === 'owned' && isParked) {
        woken += 1
        isParked = false
      }
    }
  }
  return woken
}

/** Formats the median and the 95th percentile. */
export function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): string =>
    String(Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0))
  return sorted.length === 0 ? 'none' : `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`
}
