/** Plans runs and faults from a seed. Pure. */
import { BUILDS, type BuildName } from './builds.ts'
import { draw, Draws } from './draw.ts'

/** Ensembles of `chaos.config.mjs`. */
export type EnsembleName = 'relay' | 'gated' | 'timed' | 'hold'

/** A run and the commands to it. Times are in milliseconds. */
export interface PlannedRun {
  readonly piece: string
  readonly idempotencyKey: string
  readonly ensemble: EnsembleName
  /** Run id, if the caller chooses one. */
  readonly runId?: string
  /** Delay after the previous run. */
  readonly submitAfterMs: number
  /** Whether it is sent twice at the same moment, to two processes. */
  readonly isSentTwice: boolean
  /** Maximum wait for the first reply. */
  readonly patienceMs?: number
  readonly isFollowed: boolean
  /** Commands, each with its delay after the run was accepted. */
  readonly commands: readonly PlannedCommand[]
  /** Decisions of its reviews in order; later ones are CONTINUE. */
  readonly decisions: readonly PlannedDecision[]
}

/** A command to a run. */
export type PlannedCommand = { readonly afterMs: number } & (
  | { readonly kind: 'cancel'; readonly mode: 'abort' | 'boundary' }
  | { readonly kind: 'switch_model' }
  | { readonly kind: 'inject'; readonly content: string }
)

/** A decision of a review, with its delay after the review was seen. */
export interface PlannedDecision {
  readonly afterMs: number
  readonly decision: 'CONTINUE' | 'EDIT' | 'REJECT'
}

/** Text of an EDIT. */
export const EDITED_OUTPUT = 'Played as a reviewer wants it'

/** Feedback of a REJECT. */
export const REJECT_FEEDBACK = 'Play it more slowly'

/** Kinds of faults. */
export type FaultKind = keyof typeof FAULT_WEIGHTS | NatsFaultKind | FailoverKind

/** The primary is killed after its replication has stalled, and its standby promoted. */
export type FailoverKind = 'fail_over' | 'fail_over_synchronously'

/** Weight of each kind that is injected again and again. */
const FAULT_WEIGHTS = {
  /** SIGKILL of a worker. */
  kill_worker: 6,
  /** SIGSTOP of a worker for longer than its leases, then SIGCONT. */
  freeze_worker: 3,
  /** SIGTERM of a worker. */
  stop_worker: 3,
  /** SIGKILL of all workers at the same moment. */
  kill_all_workers: 0.5,
  /** SIGKILL of an API process. */
  kill_api: 2,
  /** The database ends all connections of the processes. */
  cut_connections: 2,
  /** Replies of the database to commits are lost for a moment, then all connections break. */
  lose_answers: 3,
  /** The database is stopped for a time. */
  stop_database: 1,
  /** The database stops as in a crash. */
  crash_database: 1,
}

/** Weight of each kind that is injected in addition if NATS dispatches the runs, one after another. */
const NATS_WEIGHTS = {
  /** SIGKILL of the server that leads the stream of offers. */
  kill_nats_leader: 1.5,
  /** SIGKILL of all servers. */
  stop_nats: 0.5,
  /** SIGSTOP of a server, then SIGCONT. */
  freeze_nats: 1.5,
  /** The connections of a process to the servers forward no bytes for a time. */
  cut_from_nats: 1.5,
}

const WEIGHTS_WITH_NATS = { ...FAULT_WEIGHTS, ...NATS_WEIGHTS }

/** Kinds of faults of NATS. */
export type NatsFaultKind = keyof typeof NATS_WEIGHTS

/** Weight of each kind that is injected during deploys: only kills, so that a process never outlives its lease. */
const KILL_WEIGHTS = { kill_worker: 8, kill_all_workers: 0.5, kill_api: 1 }

/** Number of faults before the failover, which happens once. */
const FAULTS_BEFORE_FAILOVER = 3

/** Faults among the first if NATS dispatches the runs, by their index, so that a short test has them too. */
const FIRST_NATS_FAULTS: Readonly<Partial<Record<number, NatsFaultKind>>> = {
  1: 'kill_nats_leader',
  5: 'stop_nats',
}

/** A fault. Times are in milliseconds. */
export interface PlannedFault {
  readonly kind: FaultKind
  /** Delay after the start of the previous fault. */
  readonly afterMs: number
  /** Selects the target, from 0 up to 1. */
  readonly which: number
  /** Duration of a pause, or delay of a restart. */
  readonly lastsMs: number
}

/** Options of {@link planFaults}. */
export interface FaultPlanOptions {
  /** Duration of a lease, in milliseconds. */
  readonly leaseMs: number
  readonly failover: FailoverKind
  /** Whether NATS dispatches the runs. */
  readonly hasNats: boolean
}

/** A deploy. */
export interface PlannedDeploy {
  readonly build: BuildName
  /** Number of submitted runs after which it begins. */
  readonly afterRuns: number
}

const ENSEMBLES = { relay: 6, gated: 2.5, timed: 1.5 }

/** Returns the planned runs. */
export function planRuns(seed: number, count: number): readonly PlannedRun[] {
  return Array.from({ length: count }, (_, index) => planRun(seed, index))
}

function planRun(seed: number, index: number): PlannedRun {
  const draws = new Draws(seed, 'run', index)
  const ensemble = draws.pick(ENSEMBLES)
  const isNamed = draws.happens(0.4)
  const isImpatient = draws.happens(0.2)
  const submitAfterMs = draws.happens(0.3) ? 0 : draws.between(0, 700)
  return {
    piece: String(index),
    idempotencyKey: `chaos-${seed}-${index}`,
    ensemble,
    ...(isNamed ? { runId: `chaos-${index}` } : {}),
    submitAfterMs,
    isSentTwice: draws.happens(0.15),
    ...(isImpatient ? { patienceMs: draws.between(1, 25) } : {}),
    isFollowed: draws.happens(0.25),
    commands: planCommands(draws, index),
    decisions: ensemble === 'gated' ? planDecisions(draws) : [],
  }
}

function planCommands(draws: Draws, index: number): readonly PlannedCommand[] {
  const commands: PlannedCommand[] = []
  if (draws.happens(0.12)) {
    const mode = draws.happens(0.6) ? 'abort' : 'boundary'
    commands.push({ kind: 'cancel', mode, afterMs: draws.between(0, 6_000) })
  }
  if (draws.happens(0.12)) {
    commands.push({ kind: 'switch_model', afterMs: draws.between(0, 4_000) })
  }
  if (draws.happens(0.12)) {
    const content = `Mind the tempo of piece ${index}`
    commands.push({ kind: 'inject', content, afterMs: draws.between(0, 4_000) })
  }
  return commands
}

function planDecisions(draws: Draws): readonly PlannedDecision[] {
  const decision = draws.pick({ CONTINUE: 3, EDIT: 1, REJECT: 1 })
  return [
    { decision, afterMs: draws.between(0, 4_000) },
    { decision: 'CONTINUE', afterMs: draws.between(0, 4_000) },
  ]
}

/** Yields the planned faults in order, without end. */
export function* planFaults(
  seed: number,
  { leaseMs, failover, hasNats }: FaultPlanOptions,
): Generator<PlannedFault, never> {
  const draws = new Draws(seed, 'faults')
  for (let index = 0; ; index += 1) {
    const drawn = draws.pick(hasNats ? WEIGHTS_WITH_NATS : FAULT_WEIGHTS)
    const first = hasNats ? FIRST_NATS_FAULTS[index] : undefined
    const kind = index === FAULTS_BEFORE_FAILOVER ? failover : (first ?? drawn)
    const afterMs = draws.between(100, 1_800)
    const which = draws.next()
    yield { kind, afterMs, which, lastsMs: lengthOf(kind, draws, leaseMs) }
  }
}

/** Yields the planned kills in order, without end. */
export function* planKills(seed: number): Generator<PlannedFault, never> {
  const draws = new Draws(seed, 'kills')
  for (;;) {
    yield {
      kind: draws.pick(KILL_WEIGHTS),
      afterMs: draws.between(100, 1_800),
      which: draws.next(),
      lastsMs: draws.between(0, 500),
    }
  }
}

/** Returns the deploys of the builds after the first, spread over the submissions. */
export function planDeploys(
  seed: number,
  { runs, deploys }: { readonly runs: number; readonly deploys: number },
): readonly PlannedDeploy[] {
  return BUILDS.slice(1, deploys + 1).map((build, index) => {
    const share = (index + 0.5 + 0.5 * draw(seed, 'deploy', index)) / (deploys + 1)
    return { build, afterRuns: Math.floor(share * runs) }
  })
}

function lengthOf(kind: FaultKind, draws: Draws, leaseMs: number): number {
  switch (kind) {
    case 'freeze_worker':
      return draws.between(1.1 * leaseMs, 2.5 * leaseMs)
    case 'stop_database':
    case 'stop_nats':
      return draws.between(1_000, 4_000)
    case 'freeze_nats':
    case 'cut_from_nats':
      return draws.between(1_000, 5_000)
    case 'lose_answers':
      return draws.between(10, 400)
    case 'fail_over':
    case 'fail_over_synchronously':
      return draws.between(200, 1_000)
    default:
      return draws.between(0, 2_000)
  }
}
