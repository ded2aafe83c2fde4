/** The envelope: what was measured, and what follows for a larger system. */
import { formatNumber, type Claim, type Table } from '../../bench/lib/report.ts'
import { NONE, ms, quantile, typicalMs } from '../../bench/lib/runs-table.ts'
import { SEARCHERS, type SearchTimes } from './measure-searches.ts'

import type { Loaded } from './load.ts'
import type { SteadyLoad } from './choose-load.ts'
import type { EventRates } from './measure-events.ts'
import type { ListTimes } from './measure-lists.ts'
import type { ClaimRates, Rate, SnapshotTimes } from './measure-store.ts'
import type { Sizes } from './sizes.ts'
import type { LoadRate } from './watch-load.ts'

/** Measurements so far; those that were not reached are absent. */
export interface Measurements {
  loadS?: number
  loaded?: Loaded
  claims?: ClaimRates
  /** Claims before and while a snapshot is held. */
  snapshot?: SnapshotTimes
  renewalWal?: number
  submits?: Rate
  /** Lists while nothing else uses the store. */
  listsAlone?: ListTimes
  /** Searches, and renewals and writes of their process. */
  searches?: SearchTimes
  events?: EventRates
  idle?: LoadRate
  /** Claims in addition to the polls of the idle fleet. */
  claimsPerSubmit?: number
  startedPerSecond?: number
  /** Load of the fleet at work. */
  load?: SteadyLoad
  /** Runs that the fleet owned when its work began. */
  owned?: number
  busy?: LoadRate
  lists?: readonly number[]
  fleet?: FleetResult
  /** Duration of the whole test. */
  totalS?: number
}

/** The judge's findings in the runs of the fleet. */
export interface FleetResult {
  readonly runs: number
  readonly events: number
  readonly seconds: number
  readonly reviews: number
  readonly kills: number
  /** Times from the kill of a process until its runs continued elsewhere, in milliseconds. */
  readonly takeovers: readonly number[]
  /** Time from the last catch-up of the standby until a process claimed a run on it, in milliseconds. */
  readonly failoverMs: number
  readonly lostByFailover: number
  /** Number of runs whose owner lost its lease in the failover. */
  readonly resumedAfterFailover: number
  readonly violations: number
}

/** The larger system. */
const WORKERS = 1_000
const RUNS = 10_000_000

/** Renewals per lease of a process. */
const RENEWALS = 3

/** Lease of the extrapolation, in milliseconds: the default. */
const DEFAULT_LEASE_MS = 10_000

/** The table and the claims of what was measured. */
export interface Envelope {
  readonly table: Table
  readonly claims: readonly Claim[]
}

/** Returns the envelope. Missing measurements are "not measured". */
export function toEnvelope(measured: Measurements, sizes: Sizes): Envelope {
  const rows = [...storeRows(measured, sizes), ...fleetRows(measured, sizes)]
  return {
    table: {
      title: 'One Postgres',
      columns: ['', 'measured', '1,000 workers and 10 million runs'],
      rows: rows.map(([figure, text, extrapolated = NONE]) => [figure, text, extrapolated]),
    },
    claims: Object.entries(goalsOf(measured, sizes)).map(([text, goal]) => ({ text, ...goal })),
  }
}

type EnvelopeRow = readonly [figure: string, measured: string, extrapolated?: string]

function storeRows(measured: Measurements, sizes: Sizes): readonly EnvelopeRow[] {
  const { loaded, claims, renewalWal, submits, snapshot, events, listsAlone, searches } = measured
  return [
    [
      'stored runs',
      show(
        loaded,
        ({ ended, parked, ready, events: stored, gib }) =>
          `${formatNumber(ended)} ended, ${formatNumber(parked)} parked, ${formatNumber(ready)} ready; ` +
          `${formatNumber(stored)} events; ${formatNumber(gib)} GiB`,
      ),
      show(loaded, ({ ended, parked, ready, gib }) => {
        const size = (gib / (ended + parked + ready)) * RUNS
        return `${formatNumber(size)} GiB, from the size of a run`
      }),
    ],
    [`claims by 16, ${formatNumber(sizes.owned)} owned`, show(claims?.by16, formatRate)],
    ['claims by 64', show(claims?.by64, formatRate)],
    [
      'buffers read by a claim',
      show(claims?.buffers, formatNumber),
      'the same: its indexes have no ended runs',
    ],
    [
      `p99 of claims by 16, before and next to a snapshot held for ${sizes.snapshotMs / 1_000} s`,
      show(snapshot, ({ before, next }) =>
        [before, next].map((times) => ms(quantile(times, 0.99))).join(', '),
      ),
    ],
    ['submits by 16', show(submits, formatRate)],
    ['lists with any filter', showTypical(listsAlone?.all)],
    [
      'the slowest of them',
      show(listsAlone?.slowest, ({ filter, times }) => `${filter}: ${typicalMs(times)}`),
    ],
    [
      `${SEARCHERS} text searches at once`,
      show(
        searches,
        ({ searches: { perSecond, times }, tooSlow }) =>
          `${formatNumber(perSecond)}/s, ${typicalMs(times)}; ${tooSlow} took longer than 5 s`,
      ),
    ],
    [
      'meanwhile in their process: renewals, writes, lost runs',
      show(
        searches,
        ({ renewals, writes, losses }) => `${typicalMs(renewals)}; ${typicalMs(writes)}; ${losses}`,
      ),
    ],
    [
      `events by 16, without and with ${sizes.listeners} listeners`,
      show(
        events,
        ({ alone, withListeners }) => `${formatNumber(alone)}/s, ${formatNumber(withListeners)}/s`,
      ),
    ],
    [
      'WAL of a renewal',
      show(renewalWal, (bytes) => `${formatNumber(bytes)} B`),
      show(
        renewalWal,
        (bytes) =>
          `${formatNumber(toLeaseWalKb(bytes))} kB/s, from ${RENEWALS} renewals per lease of ${DEFAULT_LEASE_MS / 1_000} s`,
      ),
    ],
  ]
}

function fleetRows(measured: Measurements, sizes: Sizes): readonly EnvelopeRow[] {
  const { idle, startedPerSecond, owned, busy, lists, fleet, claimsPerSubmit, load } = measured
  const stores = sizes.hosts * sizes.storesPerHost
  const more = WORKERS / stores
  return [
    [
      `transactions/s, ${stores} idle workers`,
      show(idle?.transactions, formatNumber),
      show(
        idle,
        ({ transactions }) => `at most ${formatNumber(transactions * more)}, in proportion`,
      ),
    ],
    [
      `claims per submit, ${stores} idle workers`,
      show(claimsPerSubmit, (count) => {
        const polls = show(idle?.claims, formatNumber)
        return `${formatNumber(count)}, in addition to ${polls} polls/s of all workers`
      }),
    ],
    ['runs owned at once', show(owned, formatNumber)],
    ['runs/s until they are, from their submits over HTTP', show(startedPerSecond, formatNumber)],
    [
      'load of the fleet at work, half of what it can do',
      show(
        load,
        ({ runsPerSecond, wordsPerSecond }) =>
          `${formatNumber(runsPerSecond)} submits/s, ${formatNumber(wordsPerSecond)} text deltas/s`,
      ),
    ],
    [
      'transactions/s, fleet at work',
      show(
        busy,
        ({ statements, transactions, notifying }) =>
          `${formatNumber(statements)} of statements; ${formatNumber(transactions - statements)} of listeners, which ${formatNumber(notifying)} statements/s wake`,
      ),
    ],
    ['WAL, fleet at work', show(busy, (load) => `${formatNumber(load.walBytes / 1_000)} kB/s`)],
    [
      'runs of the fleet',
      show(
        fleet,
        ({ runs, events, reviews, seconds }) =>
          `${formatNumber(runs)}, ${formatNumber(events)} events, ${formatNumber(reviews)} reviews, in ${formatNumber(seconds)} s`,
      ),
    ],
    ['lists meanwhile, over HTTP', showTypical(lists)],
    [
      `takeover after ${fleet?.kills ?? 0} kills, leases of ${sizes.leaseMs / 1_000} s`,
      show(fleet?.takeovers, (times) => `${typicalMs(times)}, ${formatNumber(times.length)} runs`),
    ],
    ['failover to an asynchronous standby, until the next claim', show(fleet?.failoverMs, ms)],
    ['runs that lost their owner by it', show(fleet?.resumedAfterFailover, formatNumber)],
    ['runs lost by it, as such a failover may', show(fleet?.lostByFailover, formatNumber)],
    ['runs lost, duplicated, stuck, or with a gap', show(fleet?.violations, formatNumber)],
  ]
}

/** Returns the goals, by their texts. */
function goalsOf(measured: Measurements, sizes: Sizes): Readonly<Record<string, Goal>> {
  const { claims, submits, renewalWal, events, snapshot, listsAlone, searches } = measured
  const { idle, claimsPerSubmit, lists, fleet, loadS, totalS } = measured
  const kept = events && (100 * events.withListeners) / events.alone
  return {
    '16 claimants: at least 1,000 claims/s': atLeast(1_000, claims?.by16.perSecond, '/s'),
    '64 claimants: at least 1,000 claims/s': atLeast(1_000, claims?.by64.perSecond, '/s'),
    'a claim reads at most 200 buffers': atMost(200, claims?.buffers),
    [`a snapshot held for ${sizes.snapshotMs / 1_000} s at most doubles the p99 of claims`]: atMost(
      2,
      snapshot && quantile(snapshot.next, 0.99) / quantile(snapshot.before, 0.99),
      ' times',
    ),
    'at least 300 submits/s': atLeast(300, submits?.perSecond, '/s'),
    'lists take at most 50 ms at p95': atMost(50, listsAlone && p95(listsAlone.all), ' ms'),
    [`no run is lost during ${SEARCHERS} text searches at once`]: atMost(0, searches?.losses),
    [`with ${sizes.listeners} listeners at least 80 % of the events/s without`]: atLeast(
      80,
      kept,
      ' %',
    ),
    'leases of 1,000 workers: at most 50 kB/s of WAL': atMost(
      50,
      renewalWal && toLeaseWalKb(renewalWal),
      ' kB/s',
    ),
    'idle workers: at most 20 transactions/s': atMost(20, idle?.transactions, '/s'),
    'at most 3 claims per submit': atMost(3, claimsPerSubmit),
    'lists take at most 50 ms at p95 while the fleet works': atMost(50, lists && p95(lists), ' ms'),
    'a takeover takes at most the lease and 2 s at p95': atMost(
      sizes.leaseMs + 2_000,
      fleet && p95(fleet.takeovers),
      ' ms',
    ),
    'no run is lost, duplicated, stuck, or has a gap': atMost(0, fleet?.violations),
    'the database is loaded in at most 6 minutes': atMost(360, loadS, ' s'),
    'all of it takes at most 15 minutes': atMost(900, totalS, ' s'),
  }
}

/** A claim without its text. */
type Goal = Omit<Claim, 'text'>

function atLeast(limit: number, measured: number | undefined, unit = ''): Goal {
  return { atLeast: limit, measured: measured ?? Number.NaN, unit }
}

function atMost(limit: number, measured: number | undefined, unit = ''): Goal {
  return { atMost: limit, measured: measured ?? Number.NaN, unit }
}

function p95(times: readonly number[]): number {
  return quantile(times, 0.95)
}

/** Returns the WAL of the leases of many workers, in kB/s. */
function toLeaseWalKb(bytes: number): number {
  return (bytes * WORKERS * RENEWALS) / DEFAULT_LEASE_MS
}

/** Formats a value that may be missing. */
function show<T>(value: T | undefined, format: (value: T) => string): string {
  return value === undefined ? NONE : format(value)
}

function showTypical(times: readonly number[] = []): string {
  return times.length === 0 ? NONE : typicalMs(times)
}

function formatRate({ perSecond, times }: Rate): string {
  const [p50, p99] = [0.5, 0.99].map((q) => ms(quantile(times, q)))
  return `${formatNumber(perSecond)}/s, p50 ${p50}, p99 ${p99}`
}
