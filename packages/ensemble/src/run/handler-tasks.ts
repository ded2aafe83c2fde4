/** Tasks that a handler adds to its run: one, or one for each item of a list. */
import { TuttiError, type AgentTool } from '@tutti/core'
import { toJsonForm } from '@tutti/core/internal'
import { previewOf, shortText } from '@tutti/protocol/internal'

import { taskVariables } from '../definition/inputs.ts'
import { readPath, toValueInputs } from '../definition/value-inputs.ts'
import {
  DEFAULT_ITEM_VARIABLE,
  findCallProblems,
  findMapProblems,
} from '../definition/map-settings.ts'
import { toOptionText } from '../definition/option-text.ts'
import { addsByPlan } from '../definition/sub-ensemble.ts'
import { isTask, type Task } from '../definition/task.ts'
import type { PlannedChildOptions } from '../definition/ensemble-task.ts'
import { beginWorker, findFailure, runWorker } from '../hierarchy/workers.ts'
import { describeTasks, type RecordedChild } from '../scope/recorded-operations.ts'
import { toAddedRun } from '../scope/task-scope.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { Slots, TaskSlot } from '../work/task-slots.ts'
import { Expansion } from './expansion.ts'
import { runInSlots } from './run-in-slots.ts'
import {
  assertChildOptions,
  describeTakenName,
  prepareChildren,
  type AskedChild,
  type PreparedChild,
} from './prepare-children.ts'

import type { Inputs } from '../definition/template.ts'
import type { ChildTask, MapOptions, MapOutcome, MapTemplate } from '../definition/operations.ts'
import type { TaskOutcome } from '../scope/task-outcome.ts'
import type { AskedOperation, OperationFrame } from './operation-frame.ts'

/** Limits of the tasks of one operation. */
interface TaskLimits {
  readonly maxParallel?: number | undefined
  /** Counts an outcome; returns whether the other tasks must stop. */
  readonly mustStop?: (outcome: TaskOutcome) => boolean
  /** Whether a task that waits for a slot may still begin. @default it may */
  readonly mayBegin?: (() => boolean) | undefined
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
  readonly #slots: Slots
  readonly #keys = new Set<string>()

  constructor(frame: OperationFrame) {
    this.#frame = frame
    const { maxConcurrentTasks } = toAddedRun(frame.scope).ensemble
    this.#slots = new Slots(maxConcurrentTasks)
  }

  /** Runs one task; see `HandlerOperations.task`. */
  async run<Output>(child: ChildTask<Output>, options: PlannedChildOptions = {}): Promise<Output> {
    const { key = child.name, inputs = {}, mayBegin, isRound = false } = options
    const operation = this.#frame.take()
    const task = toTask(child)
    // A plan or a construct offers a task all inputs that it can read.
    if (!addsByPlan(this.#frame.scope.task)) assertChildOptions(task, options)
    const { cancelled } = this.#frame.settings.tooling.reviews
    if (isRound && operation.recorded === undefined && cancelled !== undefined) throw cancelled
    return this.#runOne(operation, { task, key, inputs }, { child, mayBegin })
  }

  /** Runs the task of an ensemble for a call of its tool; see `HandlerOperations.call`. */
  async call(tool: AgentTool, added: Task, input: unknown): Promise<unknown> {
    const operation = this.#frame.take()
    const reading = await tool.readInput(input)
    if (!reading.ok) {
      const problems = reading.problems.map(({ path, message }) => `${path} ${message}`.trim())
      throw new TuttiError(
        'TOOL_FAILED',
        `Tool "${tool.name}" failed: invalid input: ${problems.join('; ')}`,
      )
    }
    // NOTE: the schema of the tool has a string for each variable.
    const inputs = reading.value as Inputs
    const key = `${added.name}-${operation.ordinal}`
    return this.#runOne(operation, { task: added, key, inputs }, { child: added })
  }

  async #runOne<Output>(
    operation: AskedOperation,
    asked: AskedChild,
    { child, mayBegin }: { readonly child: ChildTask<Output> } & Pick<TaskLimits, 'mayBegin'>,
  ): Promise<Output> {
    const { outcomes } = await this.#runTasks(operation, [asked], { mayBegin })
    return this.#toOutput(child, outcomes[0])
  }

  /** Runs a task for each item; see `HandlerOperations.map`. */
  async map<Item, Output>(
    items: readonly Item[],
    template: MapTemplate<Item, Output>,
    options: MapOptions<Item> = {},
  ): Promise<MapResult<Output> | MapResult<MapOutcome<Output>>> {
    const operation = this.#frame.take()
    const count = Array.isArray(items) ? items.length : undefined
    const problems = [
      ...findCallProblems(items, options),
      ...findMapProblems(options, count).map(toOptionText),
    ]
    if (problems.length > 0) {
      throw new TuttiError('CONSTRAINT_VIOLATION', `Cannot map: ${problems.join('; ')}`, {
        details: { problems },
      })
    }
    // A copy without holes: the handler can change its list while the tasks run.
    const list = Array.from(items)
    const isOwn = typeof template === 'function'
    const templates = list.map((item, index) => (isOwn ? template(item, index) : template))
    const asked = templates.map((child, index) =>
      toItemChild(child, { items: list, index, isOwn, options }),
    )
    const expansion = new Expansion(options)
    const { children, outcomes } = await this.#runTasks(operation, asked, {
      maxParallel: options.maxParallel,
      mustStop: (outcome) => expansion.add(outcome),
    })
    let first: TuttiError | undefined
    const results = outcomes.flatMap((outcome, index): MapOutcome<Output>[] => {
      const [child, prepared] = [templates[index], children[index]]
      if (outcome === undefined || child === undefined || prepared === undefined) return []
      if (expansion.hasCancelled(outcome)) return []
      const { key, name: taskName } = prepared
      try {
        return [{ key, taskName, ok: true, output: this.#toOutput(child, outcome) }]
      } catch (thrown) {
        const error = TuttiError.from(thrown, 'TASK_FAILED')
        first ??= error
        return [{ key, taskName, ok: false, error }]
      }
    })
    this.#frame.assertNotEnded()
    if (this.#frame.signal.aborted) throw stoppedError(this.#frame.signal, 'Map')
    expansion.assertSucceeded(first)
    if (options.onError === 'collect') return toMapResult(results, (one) => one, options)
    const succeeded = results.filter((one) => one.ok)
    return toMapResult(succeeded, ({ output }) => output, options)
  }

  /**
   * Runs the tasks of an operation, each one at most once. Their outcomes are in the same order, and undefined for tasks that did
   * not begin because the operation was stopped.
   */
  async #runTasks(
    operation: AskedOperation,
    asked: readonly AskedChild[],
    { maxParallel = Infinity, mustStop, mayBegin }: TaskLimits = {},
  ): Promise<RunTasks> {
    const { host, tooling } = this.#frame.settings
    const { recorded } = operation
    const children = prepareChildren(this.#frame.scope, asked, {
      host,
      reviews: tooling.reviews,
      keys: this.#keys,
      isRecorded: (name) => recorded?.children.has(name) === true,
    })
    const digests = new Map(children.map(({ name, digest }) => [name, digest]))
    // Other inputs and overrides of a fork do not change the tasks that began in its parent.
    const isFork = this.#frame.scope.run.log.replay === undefined
    this.#frame.assertSame(operation, 'tasks', {
      asked: describeTasks([...digests.keys()]),
      isSame: ({ children: known }) =>
        [...known].every(([name, { begun, isCopied }]) =>
          isFork && isCopied ? digests.has(name) : digests.get(name) === begun.inputDigest,
        ),
    })
    const endOf = (name: string): number | undefined => recorded?.children.get(name)?.endedAt
    const isEnded = ({ name }: PreparedChild): boolean => endOf(name) !== undefined
    // Tasks of an operation that has begun reach the budget one by one, as without an interruption.
    if (recorded === undefined) this.#assertRoom(children)
    const stop = new AbortController()
    const signal =
      mustStop === undefined
        ? this.#frame.signal
        : AbortSignal.any([this.#frame.signal, stop.signal])
    const outcomes: (TaskOutcome | undefined)[] = children.map(() => undefined)
    const run = async (index: number, child: PreparedChild, slot: TaskSlot): Promise<void> => {
      const outcome = await this.#runChild(operation, child, { signal, slot })
      outcomes[index] = outcome
      if (mustStop?.(outcome) === true) stop.abort(STOPPED)
    }
    const { waitingTasks: waiting } = this.#frame.scope.run
    const parent = this.#frame.scope.slot
    const toSlot = (pools: readonly Slots[]): TaskSlot =>
      new TaskSlot({ pools, parent, waiting, signal })
    // Recorded ends come first, in their order, because they can stop the others.
    const entries = [...children.entries()]
    const ended = entries
      .filter(([, child]) => isEnded(child))
      .toSorted(([, one], [, other]) => (endOf(one.name) ?? 0) - (endOf(other.name) ?? 0))
    for (const [index, child] of ended) await run(index, child, toSlot([]))
    // Tasks that have begun come next: a decision can wait for one of them.
    const isBegun = ({ name }: PreparedChild): boolean => recorded?.children.has(name) === true
    const open = entries.filter(([, child]) => !isEnded(child))
    await runInSlots({
      items: [
        ...open.filter(([, child]) => isBegun(child)),
        ...open.filter(([, child]) => !isBegun(child)),
      ],
      pools: maxParallel === Infinity ? [this.#slots] : [new Slots(maxParallel), this.#slots],
      waiting,
      signal,
      isBegun: ([, child]) => isBegun(child),
      mayBegin,
      async run([index, child], pools) {
        const slot = toSlot(pools)
        try {
          await run(index, child, slot)
        } finally {
          slot.end()
        }
      },
    })
    const isOld = children.every((child, index) => isEnded(child) || outcomes[index] === undefined)
    if (isOld && operation.replayed === undefined) await this.#frame.turn(recorded)
    return { children, outcomes }
  }

  /** Runs a task, or continues it. */
  #runChild(
    { ordinal, recorded, replayed }: AskedOperation,
    { task, name, inputs, digest }: PreparedChild,
    { signal, slot }: { readonly signal: AbortSignal; readonly slot: TaskSlot },
  ): Promise<TaskOutcome> {
    const { host } = this.#frame.settings
    const known = recorded?.children.get(name)
    const isEnded = known?.endedAt !== undefined
    const replayedAt = replayed?.children.get(name)?.endedAt
    const how = { progress: toProgress(known), replayedAt, isTask: true }
    return this.#frame.perform(`Task "${name}"`, how, async () => {
      const holding =
        known === undefined
          ? this.#frame.scope.run.inFlight.waitIfDraining(signal, `Task "${name}"`)
          : undefined
      if (holding !== undefined) await holding
      // Another task, such as one below the task of another item, can have taken it meanwhile.
      if (known === undefined && host.hasTask(name)) throw nameTakenError(name)
      const begun =
        known?.begun ??
        beginWorker(this.#frame.scope, host, {
          callKey: this.#frame.toKey(ordinal),
          workerRole: task.agent.role,
          taskDescription: task.description,
          workerTask: name,
          ordinal,
          inputDigest: digest,
        })
      return runWorker(this.#frame.scope, host, { begun, isEnded, task, signal, inputs, slot })
    })
  }

  /** Checks that the budgets have room for one call of each task. @throws {TuttiError} BUDGET_EXCEEDED */
  #assertRoom(children: readonly PreparedChild[]): void {
    const { meter } = this.#frame.scope
    const agents = children.filter(({ task }) => task.handler === undefined).length
    const tools = children.filter(({ task }) => typeof task.handler === 'object').length
    if (agents > 0) meter.assertRoom('model', agents)
    if (tools > 0) meter.assertRoom('tool', tools)
  }

  /** Returns the output of a completed task. */
  #toOutput<Output>({ outputReader }: ChildTask<Output>, outcome: TaskOutcome | undefined): Output {
    const failure = outcome && findFailure(outcome)
    if (outcome?.kind !== 'completed' || failure !== undefined) {
      throw this.#frame.end(failure ?? stoppedError(this.#frame.signal, 'Task'))
    }
    const { output, structured } = outcome.result
    // NOTE: the output was read by the schema of the task, so it has its type; without one it is text.
    return (outputReader === undefined ? output : structured) as Output
  }
}

function nameTakenError(name: string): TuttiError {
  const problems = [`task "${shortText(name)}": ${describeTakenName(name)}`]
  return new TuttiError('CONFIG_INVALID', `Cannot add tasks: ${problems.join()}`, {
    details: { problems },
  })
}

/** A value for each item, as a list or by key. */
type MapResult<Value> = readonly Value[] | Readonly<Record<string, Value>>

function toMapResult<One extends { readonly key: string }, Value>(
  results: readonly One[],
  select: (one: One) => Value,
  { collect }: Pick<MapOptions<never>, 'collect'>,
): MapResult<Value> {
  if (collect !== 'outputs') return results.map(select)
  return Object.fromEntries(results.map((one) => [one.key, select(one)]))
}

function toProgress(known: RecordedChild | undefined): 'new' | 'begun' | 'ended' {
  if (known === undefined) return 'new'
  return known.endedAt === undefined ? 'begun' : 'ended'
}

/** Returns a task that `task()` made. @throws {TuttiError} CONFIG_INVALID for any other value */
function toTask(child: unknown): Task {
  // ChildTask leaves out the fields of a task whose types depend on handlers.
  if (isTask(child)) return child
  throw new TuttiError(
    'CONFIG_INVALID',
    `Cannot add a task: it must be created with task(), got ${previewOf(child)}`,
  )
}

/** Returns the task of one item. */
function toItemChild<Item>(
  child: ChildTask<unknown>,
  {
    items,
    index,
    isOwn,
    options: { as = DEFAULT_ITEM_VARIABLE, key },
  }: {
    readonly items: readonly Item[]
    readonly index: number
    /** Whether the task was made for this item, which its texts then need not name. */
    readonly isOwn: boolean
    readonly options: MapOptions<Item>
  },
): AskedChild {
  const task = toTask(child)
  const item = items[index]
  return { task, key: toKey(), inputs: toInputs() }

  function toInputs(): Inputs {
    const form = toJsonForm(item)
    if (form.ok && form.value !== undefined) {
      return toValueInputs(as, form.value, taskVariables(task))
    }
    if (isOwn) return {}
    const problem = form.ok ? 'it is undefined' : form.problem
    throw new TuttiError(
      'CONSTRAINT_VIOLATION',
      `Cannot map: item ${index} must be JSON, but ${problem}`,
    )
  }

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
