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

const GOALS = {
  loadS: 360,
  totalS: 900,
  claimsPerSecond: 1_000,
  buffers: 200,
  submitsPerSecond: 300,
  claimsPerSubmit: 3,
  idleTransactions: 20,
  snapshot: 2,
  eventsPercent: 80,
  leaseWalKb: 50,
  listMs: 50,
  takeoverDelayMs: 2_000,
} as const

/** The table and the claims of what was measured. */
export interface Envelope {
  readonly table: Table
  readonly claims: readonly Claim[]
}

/** Returns the envelope. Missing measurements are "not measured". */
export function toEnvelope(measured: Measurements, sizes: Sizes): Envelope {
  return {
    table: {
      title: 'One Postgres',
      columns: ['', 'measured', '1,000 workers and 10 million runs'],
      rows: [...storeRows(measured, sizes), ...fleetRows(measured, sizes)],
    },
    claims: [
      ...storeClaims(measured, sizes),
      ...fleetClaims(measured, sizes),
      ...timeClaims(measured),
    ],
  }
}

type EnvelopeRow = readonly [figure: string, measured: string, extrapolated: string]

function storeRows(measured: Measurements, sizes: Sizes): readonly EnvelopeRow[] {
  const { loaded, claims, renewalWal, submits, snapshot, events, listsAlone, searches } = measured
  const stored =
    loaded &&
    `${formatNumber(loaded.ended)} ended, ${formatNumber(loaded.parked)} parked, ${formatNumber(loaded.ready)} ready; ` +
      `${formatNumber(loaded.events)} events; ${formatNumber(loaded.gib)} GiB`
  const gib = loaded && (loaded.gib / (loaded.ended + loaded.parked + loaded.ready)) * RUNS
  return [
    [
      'stored runs',
      stored ?? NONE,
      gib ? `${formatNumber(gib)} GiB, from the size of a run` : NONE,
    ],
    [`claims by 16, ${formatNumber(sizes.owned)} owned`, toRate(claims?.by16), NONE],
    ['claims by 64', toRate(claims?.by64), NONE],
    [
      'buffers read by a claim',
      formatOr(claims?.buffers),
      'the same: its indexes have no ended runs',
    ],
    [
      `p99 of claims by 16, before and next to a snapshot held for ${sizes.snapshotMs / 1_000} s`,
      snapshot
        ? `${ms(quantile(snapshot.before, 0.99))}, ${ms(quantile(snapshot.next, 0.99))}`
        : NONE,
      NONE,
    ],
    ['submits by 16', toRate(submits), NONE],
    ['lists with any filter', toTypical(listsAlone?.all), NONE],
    [
      'the slowest of them',
      listsAlone ? `${listsAlone.slowest.filter}: ${typicalMs(listsAlone.slowest.times)}` : NONE,
      NONE,
    ],
    [
      `${SEARCHERS} text searches at once`,
      searches
        ? `${formatNumber(searches.searches.perSecond)}/s, ${typicalMs(searches.searches.times)}; ${searches.tooSlow} took longer than 5 s`
        : NONE,
      NONE,
    ],
    [
      'meanwhile in their process: renewals, writes, lost runs',
      searches
        ? `${typicalMs(searches.renewals)}; ${typicalMs(searches.writes)}; ${searches.losses}`
        : NONE,
      NONE,
    ],
    [
      `events by 16, without and with ${sizes.listeners} listeners`,
      events ? `${formatNumber(events.alone)}/s, ${formatNumber(events.withListeners)}/s` : NONE,
      NONE,
    ],
    [
      'WAL of a renewal',
      renewalWal === undefined ? NONE : `${formatNumber(renewalWal)} B`,
      renewalWal === undefined
        ? NONE
        : `${formatNumber(leaseWalKb(renewalWal))} kB/s, from ${RENEWALS} renewals per lease of ${DEFAULT_LEASE_MS / 1_000} s`,
    ],
  ]
}

function fleetRows(measured: Measurements, sizes: Sizes): readonly EnvelopeRow[] {
  const { idle, startedPerSecond, owned, busy, lists, fleet } = measured
  const { claimsPerSubmit, load } = measured
  const stores = sizes.hosts * sizes.storesPerHost
  const more = WORKERS / stores
  return [
    [
      `transactions/s, ${stores} idle workers`,
      formatOr(idle?.transactions),
      idle ? `at most ${formatNumber(idle.transactions * more)}, in proportion` : NONE,
    ],
    [
      `claims per submit, ${stores} idle workers`,
      claimsPerSubmit === undefined
        ? NONE
        : `${formatNumber(claimsPerSubmit)}, in addition to ${formatOr(idle?.claims)} polls/s of all workers`,
      NONE,
    ],
    ['runs owned at once', formatOr(owned), NONE],
    ['runs/s until they are, from their submits over HTTP', formatOr(startedPerSecond), NONE],
    [
      'load of the fleet at work, half of what it can do',
      load
        ? `${formatNumber(load.runsPerSecond)} submits/s, ${formatNumber(load.wordsPerSecond)} text deltas/s`
        : NONE,
      NONE,
    ],
    [
      'transactions/s, fleet at work',
      busy
        ? `${formatNumber(busy.statements)} of statements; ${formatNumber(busy.transactions - busy.statements)} of listeners, which ${formatNumber(busy.notifying)} statements/s wake`
        : NONE,
      NONE,
    ],
    ['WAL, fleet at work', busy ? `${formatNumber(busy.walBytes / 1_000)} kB/s` : NONE, NONE],
    [
      'runs of the fleet',
      fleet
        ? `${formatNumber(fleet.runs)}, ${formatNumber(fleet.events)} events, ${formatNumber(fleet.reviews)} reviews, in ${formatNumber(fleet.seconds)} s`
        : NONE,
      NONE,
    ],
    ['lists meanwhile, over HTTP', toTypical(lists), NONE],
    [
      `takeover after ${fleet?.kills ?? 0} kills, leases of ${sizes.leaseMs / 1_000} s`,
      fleet ? `${typicalMs(fleet.takeovers)}, ${formatNumber(fleet.takeovers.length)} runs` : NONE,
      NONE,
    ],
    [
      'failover to an asynchronous standby, until the next claim',
      fleet ? ms(fleet.failoverMs) : NONE,
      NONE,
    ],
    ['runs that lost their owner by it', formatOr(fleet?.resumedAfterFailover), NONE],
    ['runs lost by it, as such a failover may', formatOr(fleet?.lostByFailover), NONE],
    ['runs lost, duplicated, stuck, or with a gap', formatOr(fleet?.violations), NONE],
  ]
}

function storeClaims(measured: Measurements, sizes: Sizes): readonly Claim[] {
  const { claims, submits, renewalWal, events, snapshot, listsAlone, searches } = measured
  return [
    {
      text: '16 claimants: at least 1,000 claims/s',
      atLeast: GOALS.claimsPerSecond,
      measured: orNaN(claims?.by16.perSecond),
      unit: '/s',
    },
    {
      text: '64 claimants: at least 1,000 claims/s',
      atLeast: GOALS.claimsPerSecond,
      measured: orNaN(claims?.by64.perSecond),
      unit: '/s',
    },
    {
      text: 'a claim reads at most 200 buffers',
      atMost: GOALS.buffers,
      measured: orNaN(claims?.buffers),
    },
    {
      text: `a snapshot held for ${sizes.snapshotMs / 1_000} s at most doubles the p99 of claims`,
      atMost: GOALS.snapshot,
      measured: orNaN(snapshot && slowdown(snapshot)),
      unit: ' times',
    },
    {
      text: 'at least 300 submits/s',
      atLeast: GOALS.submitsPerSecond,
      measured: orNaN(submits?.perSecond),
      unit: '/s',
    },
    {
      text: 'lists take at most 50 ms at p95',
      atMost: GOALS.listMs,
      measured: orNaN(listsAlone && quantile(listsAlone.all, 0.95)),
      unit: ' ms',
    },
    {
      text: `no run is lost during ${SEARCHERS} text searches at once`,
      atMost: 0,
      measured: orNaN(searches?.losses),
    },
    {
      text: `with ${sizes.listeners} listeners at least 80 % of the events/s without`,
      atLeast: GOALS.eventsPercent,
      measured: orNaN(events && (100 * events.withListeners) / events.alone),
      unit: ' %',
    },
    {
      text: 'leases of 1,000 workers: at most 50 kB/s of WAL',
      atMost: GOALS.leaseWalKb,
      measured: orNaN(renewalWal && leaseWalKb(renewalWal)),
      unit: ' kB/s',
    },
  ]
}

function fleetClaims(measured: Measurements, sizes: Sizes): readonly Claim[] {
  const { idle, claimsPerSubmit, lists, fleet } = measured
  return [
    {
      text: 'idle workers: at most 20 transactions/s',
      atMost: GOALS.idleTransactions,
      measured: orNaN(idle?.transactions),
      unit: '/s',
    },
    {
      text: 'at most 3 claims per submit',
      atMost: GOALS.claimsPerSubmit,
      measured: orNaN(claimsPerSubmit),
    },
    {
      text: 'lists take at most 50 ms at p95 while the fleet works',
      atMost: GOALS.listMs,
      measured: orNaN(lists && quantile(lists, 0.95)),
      unit: ' ms',
    },
    {
      text: 'a takeover takes at most the lease and 2 s at p95',
      atMost: sizes.leaseMs + GOALS.takeoverDelayMs,
      measured: orNaN(fleet && quantile(fleet.takeovers, 0.95)),
      unit: ' ms',
    },
    {
      text: 'no run is lost, duplicated, stuck, or has a gap',
      atMost: 0,
      measured: orNaN(fleet?.violations),
    },
  ]
}

function timeClaims({ loadS, totalS }: Measurements): readonly Claim[] {
  return [
    {
      text: 'the database is loaded in at most 6 minutes',
      atMost: GOALS.loadS,
      measured: orNaN(loadS),
      unit: ' s',
    },
    {
      text: 'all of it takes at most 15 minutes',
      atMost: GOALS.totalS,
      measured: orNaN(totalS),
      unit: ' s',
    },
  ]
}

/** Returns NaN, which meets no goal, for what was not measured. */
function orNaN(count: number | undefined): number {
  return count ?? Number.NaN
}

/** Returns how many times as long claims take next to a snapshot, at p99. */
function slowdown({ before, next }: SnapshotTimes): number {
  return quantile(next, 0.99) / quantile(before, 0.99)
}

/** WAL of the leases of many workers, in kB/s. */
function leaseWalKb(bytes: number): number {
  return (bytes * WORKERS * RENEWALS) / DEFAULT_LEASE_MS
}

function toRate(rate: Rate | undefined): string {
  if (rate === undefined) return NONE
  const [p50, p99] = [0.5, 0.99].map((q) => ms(quantile(rate.times, q)))
  return `${formatNumber(rate.perSecond)}/s, p50 ${p50}, p99 ${p99}`
}

function toTypical(times: readonly number[] | undefined): string {
  return times === undefined || times.length === 0 ? NONE : typicalMs(times)
}

function formatOr(value: number | undefined): string {
  return value === undefined ? NONE : formatNumber(value)
}
