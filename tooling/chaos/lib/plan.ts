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
  /** Thread that it is submitted to. @default none */
  readonly threadId?: string
  /** Whether it notifies the webhook. @default false */
  readonly hasWebhook?: boolean
  /** Whether its stream is compared as text. @default false */
  readonly isReadRaw?: boolean
  /** Maximum number of tokens. @default no limit */
  readonly maxTokens?: number
  /** Requests for it when it has ended, or first waits for a person. @default none */
  readonly followUp?: FollowUp
  /** Run that it is a fork of. @default none */
  readonly forkedFrom?: string
}

/** Requests for a run: `fork_waiting` at its first review, the others when it has ended. */
export type FollowUp = 'fork' | 'fork_waiting' | 'delete' | 'fork_and_delete'

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

export type FaultKind =
  | keyof typeof FAULT_WEIGHTS
  | keyof typeof EMBEDDED_WEIGHTS
  | NatsFaultKind
  | FailoverKind

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
  /** Another program keeps all writers of runs waiting. */
  lock_store: 1,
  /** The database refuses the password of the processes. */
  refuse_password: 1,
}

/** Weight of each kind that is injected into the only process on the embedded store. */
const EMBEDDED_WEIGHTS = {
  kill_worker: 3,
  freeze_worker: 1,
  stop_worker: 1.5,
  /** Another program locks the file. */
  lock_store: 1.5,
  /** The kernel refuses the writes of the process to files, like a disk with an error. */
  refuse_writes: 1.5,
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
  /** The servers refuse the processes, which have no password. */
  refuse_nats: 0.5,
}

const WEIGHTS_WITH_NATS = { ...FAULT_WEIGHTS, ...NATS_WEIGHTS }

export type NatsFaultKind = keyof typeof NATS_WEIGHTS

/** Weight of each kind that is injected during deploys: only kills, so that a process never outlives its lease. */
const KILL_WEIGHTS = { kill_worker: 8, kill_all_workers: 0.5, kill_api: 1 }

/** Number of faults before the failover, which happens once. */
const FAULTS_BEFORE_FAILOVER = 3

/** Faults among the first, by their index, so that a short test has them too. */
const FIRST_FAULTS: Readonly<Partial<Record<number, FaultKind>>> = { 2: 'refuse_password' }
const FIRST_NATS_FAULTS: typeof FIRST_FAULTS = {
  2: 'kill_nats_leader',
  4: 'refuse_nats',
}
const FIRST_EMBEDDED_FAULTS: typeof FIRST_FAULTS = {
  0: 'kill_worker',
  1: 'lock_store',
  2: 'refuse_writes',
}

/** Shortest time for which the only process is frozen, in milliseconds; its runs have no lease. */
const EMBEDDED_FREEZE_MS = 1_000

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

/** Number of runs per group, and the first and last of them that are turns of a thread. */
const RUNS_PER_THREAD = 10
const [FIRST_TURN, LAST_TURN] = [1, 3]

const FEATURES = { none: 4, fork: 1, fork_waiting: 1, delete: 1, fork_and_delete: 1, budget: 1.5 }

/** Features of the first runs that are not turns, so that a short test has them too. */
const FIRST_FEATURES: Readonly<Partial<Record<number, keyof typeof FEATURES>>> = {
  0: 'fork',
  4: 'delete',
  5: 'budget',
  6: 'fork_waiting',
  7: 'fork_and_delete',
}

/** Returns the runs with threads, forks, deletes, budgets, webhooks, and readers of text. */
export function addFeatures(seed: number, runs: readonly PlannedRun[]): readonly PlannedRun[] {
  return runs.map((run, index) => {
    const draws = new Draws(seed, 'features', index)
    const isFirst = index === 0
    const hasWebhook = draws.happens(0.4) || isFirst
    const isReadRaw = draws.happens(0.3) || isFirst
    const noticed = { ...run, hasWebhook, isReadRaw }
    const position = index % RUNS_PER_THREAD
    // Without commands, because a cancelled run has nothing to copy, and its answer is not known.
    if (position >= FIRST_TURN && position <= LAST_TURN) {
      const threadId = `chaos-${seed}-${Math.floor(index / RUNS_PER_THREAD)}`
      return {
        ...noticed,
        ensemble: 'relay',
        decisions: [],
        threadId,
        isSentTwice: false,
        commands: [],
      }
    }
    const feature = FIRST_FEATURES[index] ?? draws.pick(FEATURES)
    if (feature === 'none') return noticed
    if (feature === 'budget') {
      return { ...noticed, commands: [], maxTokens: Math.round(draws.between(500, 9_000)) }
    }
    const waits = feature === 'fork_waiting' ? ({ ensemble: 'gated' } as const) : {}
    return { ...noticed, ...waits, commands: [], followUp: feature }
  })
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
    const first = (hasNats ? FIRST_NATS_FAULTS : FIRST_FAULTS)[index]
    const kind = index === FAULTS_BEFORE_FAILOVER ? failover : (first ?? drawn)
    const afterMs = draws.between(100, 1_800)
    const which = draws.next()
    yield { kind, afterMs, which, lastsMs: lengthOf(kind, draws, leaseMs) }
  }
}

/** Yields the planned faults of the only process on the embedded store in order, without end. */
export function* planEmbeddedFaults(seed: number): Generator<PlannedFault, never> {
  const draws = new Draws(seed, 'embedded')
  for (let index = 0; ; index += 1) {
    const kind = FIRST_EMBEDDED_FAULTS[index] ?? draws.pick(EMBEDDED_WEIGHTS)
    const afterMs = draws.between(100, 1_800)
    yield { kind, afterMs, which: draws.next(), lastsMs: lengthOf(kind, draws, EMBEDDED_FREEZE_MS) }
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
    case 'lock_store':
    case 'refuse_password':
    case 'refuse_writes':
    case 'stop_nats':
    case 'refuse_nats':
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
