/** Pure: what is going to be done to the system, from a seed. */
import { Draws } from './draw.ts'

/** The ensembles of `chaos.config.mjs`. */
export type EnsembleName = 'relay' | 'gated' | 'timed'

/** One run, and what people want of it. Times are in milliseconds. */
export interface PlannedRun {
  readonly piece: string
  readonly idempotencyKey: string
  readonly ensemble: EnsembleName
  /** Named by whoever submits; else the server names it. */
  readonly runId?: string
  /** After the run before it. */
  readonly submitAfterMs: number
  /** Sent twice at the same moment, to two processes. */
  readonly isSentTwice: boolean
  /** The first answer is not waited for longer than this. */
  readonly patienceMs?: number
  readonly isFollowed: boolean
  /** What is asked of it, each so long after it was taken in. */
  readonly wishes: readonly PlannedWish[]
  /** How its reviews are decided, the first ones first; what follows is CONTINUE. */
  readonly decisions: readonly PlannedDecision[]
}

/** Something that is asked of a run. */
export type PlannedWish = { readonly afterMs: number } & (
  | { readonly kind: 'cancel'; readonly mode: 'abort' | 'boundary' }
  | { readonly kind: 'switch_model' }
  | { readonly kind: 'inject'; readonly content: string }
)

/** What is decided of a review, so long after it was seen. */
export interface PlannedDecision {
  readonly afterMs: number
  readonly decision: 'CONTINUE' | 'EDIT' | 'REJECT'
}

/** The text that an EDIT gives a task. */
export const EDITED_OUTPUT = 'Played as a reviewer wants it'

/** Feedback of a reviewer who rejects. */
export const REJECT_FEEDBACK = 'Play it more slowly'

/** What can go wrong. */
export type FaultKind = keyof typeof FAULT_WEIGHTS

/** How often each is chosen. */
const FAULT_WEIGHTS = {
  /** SIGKILL of a worker. */
  kill_worker: 6,
  /** SIGSTOP of a worker for longer than its leases, then SIGCONT. */
  freeze_worker: 3,
  /** SIGTERM of a worker. */
  stop_worker: 3,
  /** SIGKILL of all workers at the same moment. */
  kill_all_workers: 0.5,
  /** SIGKILL of a process that takes and shows runs. */
  kill_api: 2,
  /** The connections of all processes to the database are ended by the database. */
  cut_connections: 2,
  /** What the database answers to commits is lost for a moment, then all connections to it break. */
  lose_answers: 3,
  /** The database is stopped for a while. */
  stop_database: 1,
  /** The database stops as in a crash. */
  crash_database: 1,
}

/** A fault. Times are in milliseconds. */
export interface PlannedFault {
  readonly kind: FaultKind
  /** After the fault before it began. */
  readonly afterMs: number
  /** From 0 up to 1: which of those that it can hit. */
  readonly which: number
  /** How long a pause lasts, or until a process is started again. */
  readonly lastsMs: number
}

const ENSEMBLES: Readonly<Record<EnsembleName, number>> = { relay: 6, gated: 2.5, timed: 1.5 }

/** The runs. */
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
    wishes: planWishes(draws, index),
    decisions: ensemble === 'gated' ? planDecisions(draws) : [],
  }
}

function planWishes(draws: Draws, index: number): readonly PlannedWish[] {
  const wishes: PlannedWish[] = []
  if (draws.happens(0.12)) {
    const mode = draws.happens(0.6) ? 'abort' : 'boundary'
    wishes.push({ kind: 'cancel', mode, afterMs: draws.between(0, 6_000) })
  }
  if (draws.happens(0.12)) {
    wishes.push({ kind: 'switch_model', afterMs: draws.between(0, 4_000) })
  }
  if (draws.happens(0.12)) {
    const content = `Mind the tempo of piece ${index}`
    wishes.push({ kind: 'inject', content, afterMs: draws.between(0, 4_000) })
  }
  return wishes
}

function planDecisions(draws: Draws): readonly PlannedDecision[] {
  const decision = draws.pick({ CONTINUE: 3, EDIT: 1, REJECT: 1 })
  return [
    { decision, afterMs: draws.between(0, 4_000) },
    { decision: 'CONTINUE', afterMs: draws.between(0, 4_000) },
  ]
}

/** The faults, one after the other, without end. */
export function* planFaults(seed: number, leaseMs: number): Generator<PlannedFault, never> {
  const draws = new Draws(seed, 'faults')
  for (;;) {
    const kind = draws.pick(FAULT_WEIGHTS)
    const afterMs = draws.between(100, 1_800)
    const which = draws.next()
    yield { kind, afterMs, which, lastsMs: lengthOf(kind, draws, leaseMs) }
  }
}

function lengthOf(kind: FaultKind, draws: Draws, leaseMs: number): number {
  switch (kind) {
    case 'freeze_worker':
      return draws.between(1.1 * leaseMs, 2.5 * leaseMs)
    case 'stop_database':
      return draws.between(1_000, 4_000)
    case 'lose_answers':
      return draws.between(10, 400)
    default:
      return draws.between(0, 2_000)
  }
}
