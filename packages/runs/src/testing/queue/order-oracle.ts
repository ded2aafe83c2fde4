/** A model of the order in which new runs start (RUNS-L4), and generated submissions and claims to compare with it. */
import type { RunPriority } from '@tutti/protocol/internal'

export interface SubmittedRun {
  readonly kind: 'submit'
  readonly runId: string
  readonly ensemble: string
  readonly priority: RunPriority
  readonly fairnessKey: string
}

/** A step of a generated sequence. */
export type OrderStep = SubmittedRun | { readonly kind: 'claim'; readonly wanted: number }

const PRIORITIES: readonly RunPriority[] = ['high', 'normal', 'low']

/**
 * The order of start-time fair queueing, by rounds: a run joins the round of the first run of its queue, or the one after the
 * last round of its key. Rounds of a queue that was empty begin after all earlier ones.
 */
export class OrderOracle {
  #waiting: (SubmittedRun & { readonly round: number; readonly n: number })[] = []
  #submitted = 0
  #lastRound = 0

  submit(run: SubmittedRun): void {
    const queue = this.#waiting.filter((one) => isOfQueue(one, run))
    const rounds = queue.map(({ round }) => round)
    const own = queue.filter(({ fairnessKey }) => fairnessKey === run.fairnessKey)
    const first = rounds.length === 0 ? this.#lastRound + 1 : Math.min(...rounds)
    const round = Math.max(first, ...own.map((one) => one.round + 1))
    this.#lastRound = Math.max(this.#lastRound, round)
    this.#submitted += 1
    this.#waiting.push({ ...run, round, n: this.#submitted })
  }

  claim(wanted: number): readonly string[] {
    const claimed: string[] = []
    while (claimed.length < wanted && this.#waiting.length > 0) {
      const heads = this.#waiting.filter((run) =>
        this.#waiting.every((other) => !isOfQueue(other, run) || compareInQueue(run, other) <= 0),
      )
      const [next] = heads.toSorted(
        (a, b) => PRIORITIES.indexOf(a.priority) - PRIORITIES.indexOf(b.priority) || a.n - b.n,
      )
      if (next === undefined) break
      claimed.push(next.runId)
      this.#waiting = this.#waiting.filter((one) => one !== next)
    }
    return claimed
  }
}

function isOfQueue(
  one: Pick<SubmittedRun, 'ensemble' | 'priority'>,
  other: Pick<SubmittedRun, 'ensemble' | 'priority'>,
): boolean {
  return one.ensemble === other.ensemble && one.priority === other.priority
}

interface Placed {
  readonly round: number
  readonly n: number
}

function compareInQueue(one: Placed, other: Placed): number {
  return one.round - other.round || one.n - other.n
}

/** Generates submissions, with more of one key than of others, and claims of up to three runs. */
export function* generateSteps(seed: number, count: number): Generator<OrderStep> {
  const random = seededRandom(seed)
  const pick = <T>(values: readonly T[]): T | undefined =>
    values[Math.floor(random() * values.length)]
  for (let n = 0; n < count; n += 1) {
    if (random() < 0.35) yield { kind: 'claim', wanted: 1 + Math.floor(random() * 3) }
    else {
      yield {
        kind: 'submit',
        runId: `run-${n}`,
        ensemble: pick(['x', 'x', 'y']) ?? 'x',
        priority: pick(['high', 'normal', 'normal', 'low']) ?? 'normal',
        fairnessKey: pick(['a', 'a', 'a', 'b', 'c']) ?? 'a',
      }
    }
  }
  yield { kind: 'claim', wanted: count }
}

/** Returns a generator of numbers from 0 to below 1, the same for the same seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
