/** The sizes of a scale test. */

/** Numbers of a scale test; times are in milliseconds. */
export interface Sizes {
  /** Runs that are executed and then copied, and the number of copies of each. */
  readonly executed: number
  readonly copies: number
  readonly parked: number
  /** Runs that wait for an owner while claims are measured. */
  readonly ready: number
  /** Runs that are owned, while claims are measured and while the fleet works. */
  readonly owned: number
  /** Processes of the fleet, and stores of each. */
  readonly hosts: number
  readonly storesPerHost: number
  /** Duration of each measurement of claims and submits. */
  readonly measureMs: number
  /** Duration for which the fleet idles while its transactions are counted. */
  readonly idleMs: number
  /** Submits, one after another, for which claims are counted. */
  readonly counted: number
  /** Longest and shortest duration of the steady phase. */
  readonly steadyMs: number
  readonly leastSteadyMs: number
  readonly leaseMs: number
  /** Time for which a snapshot is held while runs are claimed. */
  readonly snapshotMs: number
  /** Processes that listen while events are written. */
  readonly listeners: number
}

const FULL: Sizes = {
  executed: 1_000,
  copies: 1_199,
  parked: 100_000,
  ready: 100_000,
  owned: 10_000,
  hosts: 20,
  storesPerHost: 10,
  measureMs: 5_000,
  idleMs: 20_000,
  counted: 20,
  steadyMs: 300_000,
  leastSteadyMs: 90_000,
  leaseMs: 10_000,
  snapshotMs: 60_000,
  listeners: 400,
}

const QUICK: Sizes = {
  executed: 100,
  copies: 129,
  parked: 1_000,
  ready: 8_000,
  owned: 200,
  hosts: 4,
  storesPerHost: 3,
  measureMs: 1_000,
  idleMs: 4_000,
  counted: 5,
  steadyMs: 25_000,
  leastSteadyMs: 25_000,
  leaseMs: 4_000,
  snapshotMs: 4_000,
  listeners: 40,
}

/** Returns the sizes of the whole or the quick form. */
export function chooseSizes(isQuick: boolean): Sizes {
  return isQuick ? QUICK : FULL
}

/**
 * Replaces some sizes, in the form `name=number`.
 *
 * @throws {Error} when there is no size of that name, or it is not an integer >= 0.
 */
export function replaceSizes(sizes: Sizes, replaced: readonly string[]): Sizes {
  const names = Object.keys(sizes)
  const entries = replaced.map((text) => {
    const [name = '', count = ''] = text.split('=')
    if (!names.includes(name)) {
      throw new Error(`Unknown size "${name}" in "${text}". Expected one of ${names.join(', ')}`)
    }
    if (!/^\d+$/.test(count)) {
      throw new Error(`Cannot use "${text}": expected ${name}= and an integer >= 0`)
    }
    return [name, Number(count)]
  })
  return { ...sizes, ...Object.fromEntries(entries) }
}
