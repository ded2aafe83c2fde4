/**
 * Decides which tasks start next and which never will, from the plan, the phases of the tasks and their conditions. No I/O. A
 * change costs time for the tasks that wait for the changed one, not for all tasks.
 *
 *   own condition   context                                 the task
 *   false           any                                     is skipped
 *   true            one failed, or waits for one            is skipped, and counts as failed
 *   true            all skipped by conditions               is skipped
 *   true            one completed, the others skipped       runs
 *
 * ENS-X5 A task runs if at least one task of its context ran and none failed, and is skipped if all of them were skipped. A task
 *    whose list or whose inputs come from the output of a skipped task is skipped. Its own condition or switch is the reason of a
 *    skip before its context is.
 */
import { countWhere } from './count-where.ts'

import type { ErrorStrategy } from './ensemble-definition.ts'
import type { Choice, Plan } from './plan.ts'

/** Phase of a task. A `skipped` task will not run: by a condition, or because a task that it waits for did not complete. */
export type TaskPhase = 'pending' | 'running' | 'completed' | 'failed' | 'skipped'

/** Next tasks to start and to skip. When nothing runs and nothing starts, the run has ended. */
export interface NextTasks {
  readonly start: readonly string[]
  /** Tasks that can no longer run, each with the task that is the reason. */
  readonly skip: ReadonlyMap<string, string>
}

/** A task without a context that ran. It counts as skipped by conditions. */
export interface ExcludedTask {
  readonly name: string
  /** Skipped task that is the reason. */
  readonly reason: string
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
  /** Whether it is skipped by a condition: its own, or those of its context. */
  isExcluded: boolean
  /** Number of tasks that it waits for and that are excluded. */
  excluded: number
  /** Whether a task without whose output it cannot run is excluded. */
  lacksNeeded: boolean
  /** Whether a task that it waits for did not complete. Its own condition is decided first. */
  isDoomed: boolean
  /** Whether no condition prevents it from starting. */
  isChosen: boolean
  /** Whether it has ended in any way. */
  hasEnded: boolean
  /** Choices that read its output. */
  readonly readers: OpenChoice[]
}

/** A choice that was not made. */
interface OpenChoice {
  readonly choice: Choice
  readonly index: number
  /** Number of tasks that it reads and that have not ended. */
  open: number
}

/** The scheduled tasks of one run. Every task is pending at first. */
export class Schedule {
  readonly #limits: ScheduleLimits
  readonly #nodes = new Map<string, Node>()
  /** Tasks that can start, last first, so that the next one is at the end. */
  readonly #ready: Node[] = []
  /** Lost tasks that {@link next} has not returned. */
  #lost: Node[] = []
  /** Excluded tasks that {@link takeExcluded} has not returned. */
  #excluded: Node[] = []
  /** Choices that {@link takeChoices} has not returned, and whose tasks have all ended. */
  #choices: OpenChoice[] = []
  readonly #needs: Plan['needs']
  #running = 0
  /** Number of running tasks that wait for people without a slot. */
  #waiting = 0
  #pending: number
  #failed: Node | undefined

  constructor({ scheduled, waitsFor, follows, choices, needs }: Plan, limits: ScheduleLimits) {
    this.#limits = limits
    this.#needs = needs
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
        isExcluded: false,
        excluded: 0,
        lacksNeeded: false,
        isDoomed: false,
        isChosen: true,
        hasEnded: false,
        readers: [],
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
    for (const [index, choice] of choices.entries()) {
      for (const node of this.#named(choice.names)) node.isChosen = false
      const reads = this.#named(choice.reads)
      const open: OpenChoice = { choice, index, open: reads.length }
      for (const node of reads) node.readers.push(open)
      if (open.open === 0) this.#choices.push(open)
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
          this.#checkContext(dependent)
        }
        this.#settle(node)
        break
      case 'failed':
        if (this.#failed === undefined || node.index < this.#failed.index) this.#failed = node
        this.#lose(node)
        break
      case 'skipped':
        if (isExcluded(node)) this.#exclude(node)
        else this.#lose(node)
    }
    if (node.hasEnded) return
    node.hasEnded = true
    for (const reader of node.readers) {
      reader.open -= 1
      if (reader.open === 0) this.#choices.push(reader)
    }
  }

  /** Whether {@link takeChoices} has choices to return. */
  get hasChoices(): boolean {
    return this.#choices.length > 0 && !this.#hasFailedFast
  }

  /** Returns the choices that can be made, each once: every task that they read has ended. */
  takeChoices(): readonly Choice[] {
    if (!this.hasChoices) return NONE
    const taken = this.#choices.toSorted((a, b) => a.index - b.index)
    this.#choices = []
    return taken.map(({ choice }) => choice)
  }

  /**
   * Returns the first of the tasks that were excluded by their context, each once. Make the choices that its skip allows before
   * the next call, so that the reason of a skip does not depend on where a run was interrupted.
   */
  takeExcluded(): ExcludedTask | undefined {
    while (this.#excluded.length > 0 && !this.#hasFailedFast) {
      const node = this.#excluded.reduce((first, one) => (one.index < first.index ? one : first))
      this.#excluded = this.#excluded.filter((one) => one !== node)
      const needs = this.#needs.get(node.name) ?? NONE
      const skipped = node.waitsFor.filter(isExcluded)
      const reason = skipped.find(({ name }) => needs.includes(name)) ?? skipped[0]
      if (node.phase === 'pending' && reason !== undefined) {
        return { name: node.name, reason: reason.name }
      }
    }
    return undefined
  }

  /** Lets the chosen task of a choice start. The caller excludes the others. */
  choose(taskName: string): void {
    for (const node of this.#named([taskName])) {
      node.isChosen = true
      if (node.isDoomed && node.phase === 'pending') {
        this.#lost.push(node)
        this.#lose(node)
      } else this.#checkReady(node)
    }
  }

  /** Marks a pending task as one that a condition skips. The caller then sets its phase. */
  exclude(taskName: string): void {
    for (const node of this.#named([taskName])) node.isExcluded = true
  }

  /** Whether a condition skips the task. */
  isExcluded(taskName: string): boolean {
    const node = this.#nodes.get(taskName)
    return node !== undefined && isExcluded(node)
  }

  /** Returns the pending tasks that have one of these tasks in their context, and that no failure prevents. */
  listDependents(taskNames: readonly string[]): readonly string[] {
    const nodes = new Set(this.#named(taskNames).flatMap(({ dependents }) => dependents))
    return [...nodes]
      .filter(({ phase, isDoomed }) => phase === 'pending' && !isDoomed)
      .toSorted((a, b) => a.index - b.index)
      .map(({ name }) => name)
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
    if (this.#failed !== undefined && this.#hasFailedFast) {
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

  get #hasFailedFast(): boolean {
    return this.#failed !== undefined && this.#limits.errorStrategy === 'FAIL_FAST'
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

  /** Counts a task that a condition skipped for those that wait for it. */
  #exclude(node: Node): void {
    for (const dependent of node.dependents) {
      dependent.waits -= 1
      dependent.excluded += 1
      dependent.lacksNeeded ||= this.#needs.get(dependent.name)?.includes(node.name) === true
      this.#checkContext(dependent)
    }
    this.#settle(node)
  }

  /** Excludes a task, or lets it start, if its whole context has ended without a failure. */
  #checkContext(node: Node): void {
    const { waits, excluded, waitsFor, lacksNeeded } = node
    if (waits > 0) return
    if (excluded === 0 || (excluded < waitsFor.length && !lacksNeeded)) this.#checkReady(node)
    else if (!node.isExcluded) {
      node.isExcluded = true
      this.#excluded.push(node)
    }
  }

  /** Marks a task that did not complete, and all that wait for it. */
  #lose(first: Node): void {
    first.isLost = true
    const changed = [first]
    for (const node of changed) {
      for (const dependent of node.dependents) {
        if (dependent.isLost || dependent.phase !== 'pending') continue
        dependent.isDoomed = true
        if (!dependent.isChosen) continue
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
      const hasRun = node.phase === 'completed' || node.phase === 'failed'
      const isSkipped = node.isLost || (node.isExcluded && node.phase === 'skipped')
      if (node.isSettled || !(hasRun || (isSkipped && node.open === 0))) continue
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
    const at = countWhere(this.#ready, ({ index }) => index >= node.index)
    if (this.#ready[at - 1] === node) return
    if (at === this.#ready.length) this.#ready.push(node)
    else this.#ready.splice(at, 0, node)
  }

  #named(names: readonly string[] = NONE): readonly Node[] {
    return names.length === 0 ? NONE : names.flatMap((name) => this.#nodes.get(name) ?? [])
  }
}

const NO_SKIP: ReadonlyMap<string, string> = new Map()
const NONE: readonly never[] = []

function isReady({ phase, waits, open, isLost, isExcluded, isChosen }: Node): boolean {
  const isPossible = isChosen && !isLost && !isExcluded
  return phase === 'pending' && waits === 0 && open === 0 && isPossible
}

/** Whether a condition skips the task. A failure takes precedence. */
function isExcluded({ isExcluded, isLost }: Node): boolean {
  return isExcluded && !isLost
}
