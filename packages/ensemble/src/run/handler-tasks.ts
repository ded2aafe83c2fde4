/** Tasks that a handler adds to its run: one, or one for each item of a list. */
import { createLimiter, TuttiError, type Limiter } from '@tutti/core'

import { taskVariables } from '../definition/inputs.ts'
import { readPath, toValueInputs } from '../definition/value-inputs.ts'
import { DEFAULT_ITEM_VARIABLE, findMapProblems, toOptionText } from '../definition/map-settings.ts'
import { beginWorker, runWorker } from '../hierarchy/workers.ts'
import { describeTasks, type RecordedChild } from '../scope/recorded-operations.ts'
import { toAddedRun } from '../scope/task-scope.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { Expansion } from './expansion.ts'
import { prepareChildren, type AskedChild, type PreparedChild } from './prepare-children.ts'

import type {
  ChildOptions,
  ChildTask,
  MapOptions,
  MapOutcome,
  MapTemplate,
} from '../definition/operations.ts'
import type { Task } from '../definition/task.ts'
import type { TaskOutcome } from '../scope/task-outcome.ts'
import type { AskedOperation, OperationFrame } from './operation-frame.ts'

/** Limits of the tasks of one operation. */
interface TaskLimits {
  readonly maxParallel?: number | undefined
  /** Counts an outcome; returns whether the other tasks must stop. */
  readonly mustStop?: (outcome: TaskOutcome) => boolean
}

/** The tasks of one operation with their outcomes. */
interface RunTasks {
  readonly children: readonly PreparedChild[]
  readonly outcomes: readonly (TaskOutcome | undefined)[]
}

/** Reason for which a map cancels its tasks. */
const STOPPED = new TuttiError('CANCELLED', 'The map has ended')

/** Runs the tasks that one handler adds. */
export class HandlerTasks {
  readonly #frame: OperationFrame
  readonly #slots: Limiter
  readonly #names = new Set<string>()

  constructor(frame: OperationFrame) {
    this.#frame = frame
    const { maxConcurrentTasks } = toAddedRun(frame.scope).ensemble
    this.#slots = createLimiter({ maxConcurrent: maxConcurrentTasks })
  }

  /** Runs one task; see `HandlerOperations.task`. */
  async run<Output>(
    child: ChildTask<Output>,
    { key = child.name, inputs = {} }: ChildOptions = {},
  ): Promise<Output> {
    const asked = [{ task: toTask(child), key, inputs }]
    const { outcomes } = await this.#runTasks(this.#frame.take(), asked)
    return this.#toOutput(child, outcomes[0])
  }

  /** Runs a task for each item; see `HandlerOperations.map`. */
  async map<Item, Output>(
    items: readonly Item[],
    template: MapTemplate<Item, Output>,
    options: MapOptions<Item> = {},
  ): Promise<readonly Output[] | readonly MapOutcome<Output>[]> {
    const operation = this.#frame.take()
    const problems = findMapProblems(options, items.length).map(toOptionText)
    if (problems.length > 0) {
      throw new TuttiError('CONSTRAINT_VIOLATION', `Cannot map: ${problems.join('; ')}`, {
        details: { problems },
      })
    }
    const templates = items.map((item, index) =>
      typeof template === 'function' ? template(item, index) : template,
    )
    const asked = templates.map((child, index) => toItemChild(child, { items, index, options }))
    const expansion = new Expansion(options)
    const { children, outcomes } = await this.#runTasks(operation, asked, {
      maxParallel: options.maxParallel,
      mustStop: (outcome) => expansion.add(outcome),
    })
    let first: TuttiError | undefined
    const results = outcomes.flatMap((outcome, index): MapOutcome<Output>[] => {
      const [child, prepared] = [templates[index], children[index]]
      if (outcome === undefined || child === undefined || prepared === undefined) return []
      const { key, name: taskName } = prepared
      try {
        return [{ key, taskName, ok: true, output: this.#toOutput(child, outcome) }]
      } catch (thrown) {
        const error = TuttiError.from(thrown, 'TASK_FAILED')
        // A task that the map itself has cancelled has not failed.
        if (error.code === 'CANCELLED') return []
        first ??= error
        return [{ key, taskName, ok: false, error }]
      }
    })
    this.#frame.assertNotEnded()
    if (this.#frame.signal.aborted) throw stoppedError(this.#frame.signal, 'Map')
    expansion.assertSucceeded(first)
    if (options.onError === 'collect') return results
    return results.flatMap((result) => (result.ok ? [result.output] : []))
  }

  /**
   * Runs the tasks of an operation, each one at most once. Their outcomes are in the same order, and undefined for tasks that did
   * not begin because the operation was stopped.
   */
  async #runTasks(
    operation: AskedOperation,
    asked: readonly AskedChild[],
    { maxParallel = Infinity, mustStop }: TaskLimits = {},
  ): Promise<RunTasks> {
    const { host, tooling } = this.#frame.settings
    const { recorded } = operation
    const children = prepareChildren(this.#frame.scope, asked, {
      host,
      reviews: tooling.reviews,
      names: this.#names,
      isRecorded: (name) => recorded?.children.has(name) === true,
    })
    const digests = new Map(children.map(({ name, digest }) => [name, digest]))
    this.#frame.assertSame(operation, 'tasks', {
      asked: describeTasks([...digests.keys()]),
      isSame: ({ children: known }) =>
        [...known].every(([name, { begun }]) => digests.get(name) === begun.inputDigest),
    })
    const isEnded = ({ name }: PreparedChild): boolean =>
      recorded?.children.get(name)?.isEnded === true
    this.#assertRoom(children.filter(({ name }) => recorded?.children.has(name) !== true))
    const stop = new AbortController()
    const signal =
      mustStop === undefined
        ? this.#frame.signal
        : AbortSignal.any([this.#frame.signal, stop.signal])
    const outcomes: (TaskOutcome | undefined)[] = children.map(() => undefined)
    // Recorded ends come first, because they can stop the others.
    const entries = [...children.entries()]
    const waiting = [
      ...entries.filter(([, child]) => isEnded(child)),
      ...entries.filter(([, child]) => !isEnded(child)),
    ].values()
    const runNext = async (): Promise<void> => {
      for (const [index, child] of waiting) {
        const outcome = await this.#runChild(operation, child, signal)
        outcomes[index] = outcome
        if (outcome !== undefined && mustStop?.(outcome) === true) stop.abort(STOPPED)
      }
    }
    const count = Math.min(maxParallel, this.#slots.maxConcurrent, children.length)
    const ends = await Promise.allSettled(Array.from({ length: count }, runNext))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
    const isOld = children.every((child, index) => isEnded(child) || outcomes[index] === undefined)
    if (isOld) await this.#frame.turn(recorded)
    return { children, outcomes }
  }

  /** Runs a task, or continues it; returns undefined if it has not begun and must not. */
  async #runChild(
    { ordinal, recorded }: AskedOperation,
    { task, name, inputs, digest }: PreparedChild,
    signal: AbortSignal,
  ): Promise<TaskOutcome | undefined> {
    const { host } = this.#frame.settings
    const known = recorded?.children.get(name)
    // A task that has begun must end, and one whose end is recorded needs no slot.
    const needsSlot = known?.isEnded !== true && !signal.aborted
    const hasSlot = needsSlot && (await this.#takeSlot(signal))
    const mayBegin = hasSlot && !signal.aborted
    if (!mayBegin && known === undefined) {
      if (hasSlot) this.#slots.release()
      return undefined
    }
    try {
      return await this.#frame.perform(`Task "${name}"`, toProgress(known), async () => {
        const holding =
          known === undefined
            ? this.#frame.scope.run.inFlight.waitIfDraining(signal, `Task "${name}"`)
            : undefined
        if (holding !== undefined) await holding
        const begun =
          known?.begun ??
          beginWorker(this.#frame.scope, {
            callKey: this.#frame.toKey(ordinal),
            workerRole: task.agent.role,
            taskDescription: task.description,
            workerTask: name,
            workerTaskIndex: host.nextTaskIndex,
            ordinal,
            inputDigest: digest,
          })
        const isEnded = known?.isEnded === true
        return runWorker(this.#frame.scope, host, { begun, isEnded, task, signal, inputs })
      })
    } finally {
      if (hasSlot) this.#slots.release()
    }
  }

  /** Checks that the budgets have room for one call of each task that has not begun. @throws {TuttiError} BUDGET_EXCEEDED */
  #assertRoom(children: readonly PreparedChild[]): void {
    const { meter } = this.#frame.scope
    const agents = children.filter(({ task }) => task.handler === undefined).length
    const tools = children.filter(({ task }) => typeof task.handler === 'object').length
    if (agents > 0) meter.assertRoom('model', agents)
    if (tools > 0) meter.assertRoom('tool', tools)
  }

  /** Waits for a slot; returns false if the signal aborts first. */
  async #takeSlot(signal: AbortSignal): Promise<boolean> {
    if (this.#slots.tryAcquire()) return true
    try {
      await this.#slots.acquire(signal)
      return true
    } catch {
      return false
    }
  }

  /** Returns the output of a completed task. */
  #toOutput<Output>({ outputReader }: ChildTask<Output>, outcome: TaskOutcome | undefined): Output {
    if (outcome?.kind === 'completed') {
      if (outcome.exit !== undefined) throw this.#frame.end(outcome.exit)
      const { output, structured } = outcome.result
      // NOTE: the output was read by the schema of the task, so it has its type; without one it is text.
      return (outputReader === undefined ? output : structured) as Output
    }
    const error = outcome?.kind === 'failed' ? outcome.error : outcome?.exit
    throw this.#frame.end(error ?? stoppedError(this.#frame.signal, 'Task'))
  }
}

function toProgress(known: RecordedChild | undefined): 'new' | 'begun' | 'ended' {
  if (known === undefined) return 'new'
  return known.isEnded ? 'ended' : 'begun'
}

/** Returns a task that `task()` made. */
function toTask<Output>(child: ChildTask<Output>): Task {
  // NOTE: ChildTask leaves out the fields of a task whose types depend on handlers; only task() makes one.
  return child as Task
}

/** Returns the task of one item. */
function toItemChild<Item>(
  child: ChildTask<unknown>,
  {
    items,
    index,
    options: { as = DEFAULT_ITEM_VARIABLE, key },
  }: {
    readonly items: readonly Item[]
    readonly index: number
    readonly options: MapOptions<Item>
  },
): AskedChild {
  const task = toTask(child)
  const item = items[index]
  return { task, key: toKey(), inputs: toValueInputs(as, item, taskVariables(task)) }

  function toKey(): string {
    if (key === undefined) return `${task.name}-${index}`
    // NOTE: the index is that of an item, which can itself be undefined.
    return typeof key === 'string' ? readKey(item, key, index) : key(item as Item, index)
  }
}

/** Returns the text or the number in a field of an item. @throws {TuttiError} CONSTRAINT_VIOLATION without one. */
function readKey(item: unknown, path: string, index: number): string {
  const value = readPath(item, path.split('.'))
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') {
    return String(value)
  }
  throw new TuttiError(
    'CONSTRAINT_VIOLATION',
    `Cannot map: item ${index} has no text or number at its key "${path}"`,
  )
}
