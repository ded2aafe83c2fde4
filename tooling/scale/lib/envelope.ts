/** Prints the envelope: what was measured, and what follows for a larger system. */
import { formatNumber, printClaim, printTable } from '../../bench/lib/report.ts'
import { NONE, ms, quantile, typicalMs } from '../../bench/lib/runs-table.ts'

import type { Loaded } from './load.ts'
import type { ClaimRates, Rate } from './measure-store.ts'
import type { Sizes } from './sizes.ts'
import type { LoadRate } from './watch-load.ts'

/** Measurements so far; those that were not reached are absent. */
export interface Measurements {
  loadS?: number
  loaded?: Loaded
  claims?: ClaimRates
  renewalWal?: number
  submits?: Rate
  idle?: LoadRate
  /** Claims in addition to the polls of the idle fleet. */
  claimsPerSubmit?: number
  startedPerSecond?: number
  /** Runs that the fleet owned when its work began. */
  owned?: number
  busy?: LoadRate
  lists?: readonly number[]
  fleet?: FleetResult
  /** Duration of the whole test. */
  totalS?: number
}

/** Findings of the judge in the runs of the fleet. */
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
  leaseWalKb: 50,
  listMs: 50,
  takeoverDelayMs: 2_000,
} as const

/** Prints the table and the claims. Missing measurements are "not measured". */
export function printEnvelope(measured: Measurements, sizes: Sizes): void {
  printTable({
    title: 'One Postgres',
    columns: ['', 'measured', '1,000 workers and 10 million runs'],
    rows: [...storeRows(measured, sizes), ...fleetRows(measured, sizes)],
  })
  printClaims(measured, sizes)
}

type EnvelopeRow = readonly [figure: string, measured: string, extrapolated: string]

function storeRows(measured: Measurements, sizes: Sizes): readonly EnvelopeRow[] {
  const { loaded, claims, renewalWal, submits } = measured
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
    ['submits by 16', toRate(submits), NONE],
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
  const { claimsPerSubmit } = measured
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
      'transactions/s, fleet at work',
      busy
        ? `${formatNumber(busy.transactions)}; WAL ${formatNumber(busy.walBytes / 1_000)} kB/s`
        : NONE,
      NONE,
    ],
    [
      'statements/s, fleet at work',
      busy
        ? `${formatNumber(busy.statements)}; ${formatNumber(busy.notifying)} of them notify, which each wakes all listeners in a transaction`
        : NONE,
      NONE,
    ],
    [
      'runs of the fleet',
      fleet
        ? `${formatNumber(fleet.runs)}, ${formatNumber(fleet.events)} events, ${formatNumber(fleet.reviews)} reviews, in ${formatNumber(fleet.seconds)} s`
        : NONE,
      NONE,
    ],
    ['lists meanwhile', lists && lists.length > 0 ? typicalMs(lists) : NONE, NONE],
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
    ['runs lost by it, as such a failover may', formatOr(fleet?.lostByFailover), NONE],
    ['runs lost, duplicated, stuck, or with a gap', formatOr(fleet?.violations), NONE],
  ]
}

function printClaims(measured: Measurements, sizes: Sizes): void {
  const { claims, submits, renewalWal, idle, claimsPerSubmit, lists, fleet } = measured
  const { loadS, totalS } = measured
  const perSecond = (text: string, atLeast: number, rate: Rate | undefined): void => {
    printClaim({ text, atLeast, measured: rate?.perSecond ?? Number.NaN, unit: '/s' })
  }
  const atMost = (text: string, limit: number, value: Measured): void => {
    const { count = Number.NaN, unit = '' } = value
    printClaim({ text, atMost: limit, measured: count, unit })
  }
  const { claimsPerSecond, submitsPerSecond } = GOALS
  perSecond('16 claimants: at least 1,000 claims/s', claimsPerSecond, claims?.by16)
  perSecond('64 claimants: at least 1,000 claims/s', claimsPerSecond, claims?.by64)
  atMost('a claim reads at most 200 buffers', GOALS.buffers, { count: claims?.buffers })
  perSecond('at least 300 submits/s', submitsPerSecond, submits)
  atMost('idle workers: at most 20 transactions/s', GOALS.idleTransactions, {
    count: idle?.transactions,
    unit: '/s',
  })
  atMost('at most 3 claims per submit', GOALS.claimsPerSubmit, { count: claimsPerSubmit })
  atMost('leases of 1,000 workers: at most 50 kB/s of WAL', GOALS.leaseWalKb, {
    count: renewalWal && leaseWalKb(renewalWal),
    unit: ' kB/s',
  })
  atMost('lists take at most 50 ms at p95', GOALS.listMs, {
    count: lists && quantile(lists, 0.95),
    unit: ' ms',
  })
  atMost(
    'a takeover takes at most the lease and 2 s at p95',
    sizes.leaseMs + GOALS.takeoverDelayMs,
    { count: fleet && quantile(fleet.takeovers, 0.95), unit: ' ms' },
  )
  atMost('no run is lost, duplicated, stuck, or has a gap', 0, { count: fleet?.violations })
  atMost('the database is loaded in at most 6 minutes', GOALS.loadS, { count: loadS, unit: ' s' })
  atMost('all of it takes at most 15 minutes', GOALS.totalS, { count: totalS, unit: ' s' })
}

/** A number with its unit; absent when it was not measured. */
interface Measured {
  readonly count: number | undefined
  readonly unit?: string
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

function formatOr(value: number | undefined): string {
  return value === undefined ? NONE : formatNumber(value)
}
