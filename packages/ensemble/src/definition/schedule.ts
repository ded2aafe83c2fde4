/**
 * Decides which tasks start next and which never will, from the plan and the phases of the tasks. No I/O. A change costs
 * time for the tasks that wait for the changed one, not for all tasks.
 */
import type { ErrorStrategy } from './ensemble-definition.ts'
import type { Plan } from './plan.ts'

/** Phase of a task. A `skipped` task will not run because a task that it waits for did not complete. */
export type TaskPhase = 'pending' | 'running' | 'completed' | 'failed' | 'skipped'

/** Next tasks to start and to skip. When nothing runs and nothing starts, the run has ended. */
export interface NextTasks {
  readonly start: readonly string[]
  /** Tasks that can no longer run, each with the task that is the reason. */
  readonly skip: ReadonlyMap<string, string>
}

export interface ScheduleLimits {
  readonly errorStrategy: ErrorStrategy
  readonly maxConcurrentTasks: number
}

/** A scheduled task. */
interface Node {
  readonly name: string
  /** Position in the order of the plan. */
  readonly index: number
  readonly waitsFor: Node[]
  /** Tasks that wait for it. */
  readonly dependents: Node[]
  /** Tasks that follow it. */
  readonly followers: Node[]
  phase: TaskPhase
  /** Number of tasks that it waits for and that are not completed. */
  waits: number
  /** Number of tasks that it follows and that are not settled. */
  open: number
  /** Whether it can never run, directly or through others, because a task did not complete. */
  isLost: boolean
  /** Whether it has ended, and if it was skipped, all tasks that it follows as well. */
  isSettled: boolean
}

/** The scheduled tasks of one run. Every task is pending at first. */
export class Schedule {
  readonly #limits: ScheduleLimits
  readonly #nodes = new Map<string, Node>()
  /** Tasks that can start, last first, so that the next one is at the end. */
  readonly #ready: Node[] = []
  /** Lost tasks that {@link next} has not returned. */
  #lost: Node[] = []
  #running = 0
  /** Number of running tasks that wait for people without a slot. */
  #waiting = 0
  #pending: number
  #failed: Node | undefined

  constructor({ scheduled, waitsFor, follows }: Plan, limits: ScheduleLimits) {
    this.#limits = limits
    for (const [index, name] of scheduled.entries()) {
      this.#nodes.set(name, {
        name,
        index,
        waitsFor: [],
        dependents: [],
        followers: [],
        phase: 'pending',
        waits: 0,
        open: 0,
        isLost: false,
        isSettled: false,
      })
    }
    this.#pending = scheduled.length
    for (const node of this.#nodes.values()) {
      for (const before of this.#named(waitsFor.get(node.name))) {
        node.waitsFor.push(before)
        before.dependents.push(node)
      }
      for (const before of this.#named(follows.get(node.name))) {
        before.followers.push(node)
        node.open += 1
      }
      node.waits = node.waitsFor.length
    }
    for (const node of [...this.#nodes.values()].toReversed()) this.#checkReady(node)
  }

  /** Sets the phase of a task. Tasks that only a manager can start do not count. */
  set(name: string, phase: TaskPhase): void {
    const node = this.#nodes.get(name)
    if (node === undefined || node.phase === phase) return
    this.#running += Number(phase === 'running') - Number(node.phase === 'running')
    this.#pending += Number(phase === 'pending') - Number(node.phase === 'pending')
    node.phase = phase
    switch (phase) {
      case 'pending':
        this.#checkReady(node)
        return
      case 'running':
        return
      case 'completed':
        for (const dependent of node.dependents) {
          dependent.waits -= 1
          this.#checkReady(dependent)
        }
        this.#settle(node)
        return
      case 'failed':
        if (this.#failed === undefined || node.index < this.#failed.index) this.#failed = node
        this.#lose(node)
        return
      case 'skipped':
        this.#lose(node)
    }
  }

  /** Number of slots for other tasks; negative when more tasks run, because they continue those of an earlier process. */
  get free(): number {
    return this.#limits.maxConcurrentTasks - this.#running + this.#waiting
  }

  /** Counts running tasks that begin to wait for people, or, below 0, that continue or have ended. */
  countWaiting(change: number): void {
    this.#waiting += change
  }

  /** Returns the tasks that can start now and those that never will, each once. */
  next(): NextTasks {
    if (this.#failed !== undefined && this.#limits.errorStrategy === 'FAIL_FAST') {
      return { start: [], skip: this.#skipAll(this.#failed) }
    }
    const start: string[] = []
    while (start.length < this.free) {
      const node = this.#ready.pop()
      if (node === undefined) break
      if (isReady(node)) start.push(node.name)
    }
    return { start, skip: this.#takeLost() }
  }

  #skipAll({ name: reason }: Node): ReadonlyMap<string, string> {
    if (this.#pending === 0) return NO_SKIP
    const pending = [...this.#nodes.values()].filter(({ phase }) => phase === 'pending')
    return new Map(pending.map(({ name }) => [name, reason]))
  }

  #takeLost(): ReadonlyMap<string, string> {
    if (this.#lost.length === 0) return NO_SKIP
    const skip = new Map<string, string>()
    for (const node of this.#lost.toSorted((a, b) => a.index - b.index)) {
      const reason = node.waitsFor.find(({ isLost }) => isLost)
      if (node.phase === 'pending' && reason !== undefined) skip.set(node.name, reason.name)
    }
    this.#lost = []
    return skip
  }

  /** Marks a task that did not complete, and all that wait for it. */
  #lose(first: Node): void {
    first.isLost = true
    const changed = [first]
    for (const node of changed) {
      for (const dependent of node.dependents) {
        if (dependent.isLost || dependent.phase !== 'pending') continue
        dependent.isLost = true
        changed.push(dependent)
        this.#lost.push(dependent)
      }
    }
    for (const node of changed) this.#settle(node)
  }

  /** Lets the followers of a task start if it has ended, or if it is lost and follows only settled tasks. */
  #settle(first: Node): void {
    const changed = [first]
    for (const node of changed) {
      const hasEnded = node.phase === 'completed' || node.phase === 'failed'
      if (node.isSettled || !(hasEnded || (node.isLost && node.open === 0))) continue
      node.isSettled = true
      for (const follower of node.followers) {
        follower.open -= 1
        this.#checkReady(follower)
        changed.push(follower)
      }
    }
  }

  #checkReady(node: Node): void {
    if (!isReady(node)) return
    let low = 0
    let high = this.#ready.length
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((this.#ready[middle]?.index ?? -1) >= node.index) low = middle + 1
      else high = middle
    }
    if (this.#ready[low - 1] === node) return
    if (low === this.#ready.length) this.#ready.push(node)
    else this.#ready.splice(low, 0, node)
  }

  #named(names: readonly string[] = NONE): readonly Node[] {
    return names.length === 0 ? NONE : names.flatMap((name) => this.#nodes.get(name) ?? [])
  }
}

const NO_SKIP: ReadonlyMap<string, string> = new Map()
const NONE: readonly never[] = []

function isReady({ phase, waits, open, isLost }: Node): boolean {
  return phase === 'pending' && waits === 0 && open === 0 && !isLost
}
