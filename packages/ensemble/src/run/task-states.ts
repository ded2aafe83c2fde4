/** Tracks the tasks of one run: the phase of each, and the results of completed ones. */
import { renderTask, type TaskText } from '../definition/task-text.ts'
import type { ContextOutput } from '../definition/handler.ts'

import type { Inputs } from '../definition/inputs.ts'
import type { TaskPhase } from '../definition/schedule.ts'
import type { RecordedTasks } from './task-list.ts'
import type { StepOf } from '../ports/run-step.ts'
import { toWorkerRole, type Task } from '../definition/task.ts'
import type { Usage } from '../usage/usage.ts'
import type { TaskSnapshot } from './run-handle.ts'
import type { TaskSlot } from '../work/task-slots.ts'
import { toRunName, type RunScope } from '../scope/run-scope.ts'
import type { TaskResult } from '../scope/task-outcome.ts'

/** A task of the run and its progress. */
export interface TrackedTask {
  readonly task: Task
  readonly taskName: string
  readonly taskIndex: number
  /** Its texts with the inputs of the run filled in. */
  readonly text: TaskText
  phase: TaskPhase
  attempt: number
  /** Slot of the task, when it has one. */
  slot?: Pick<TaskSlot, 'isTaking'>
}

export interface TaskStatesOptions {
  /** Tasks of the plan. */
  readonly tasks: readonly Task[]
  readonly inputs: Inputs
  /** The tasks that earlier processes announced. @default none */
  readonly recorded?: RecordedTasks | undefined
  /** Called when the phase of a task changes. */
  onPhase(taskName: string, phase: TaskPhase): void
}

/** A task with its name and its index in the run. */
export type NewTaskState = Pick<TrackedTask, 'task' | 'taskName' | 'taskIndex'>

/** Tasks of the plan and delegated tasks. */
export class TaskStates {
  readonly #options: TaskStatesOptions
  readonly #planned: ReadonlySet<Task>
  readonly #states = new Map<string, TrackedTask>()
  readonly #results = new Map<string, TaskResult>()
  #pendingCount = 0
  /** Usage of attempts without a result. */
  readonly #lost: Usage[] = []
  /** The last index of a task, also of one that the code no longer has. */
  #lastIndex: number

  constructor(options: TaskStatesOptions) {
    this.#options = options
    this.#planned = new Set(options.tasks)
    const { recorded, tasks } = options
    this.#lastIndex = recorded?.lastIndex ?? 0
    for (const task of tasks) {
      const taskIndex = recorded?.indexes.get(task.name) ?? this.#lastIndex + 1
      this.add({ task, taskName: task.name, taskIndex })
    }
  }

  /** Tasks of the plan that earlier processes did not announce. */
  get added(): readonly TrackedTask[] {
    const { recorded } = this.#options
    if (recorded === undefined) return []
    return [...this.#states.values()].filter(
      ({ task, taskName }) => this.isPlanned(task) && !recorded.present.has(taskName),
    )
  }

  /** Tasks that earlier processes announced, and that the code does not have. */
  get removed(): readonly Pick<TrackedTask, 'taskName' | 'taskIndex'>[] {
    const { indexes, present } = this.#options.recorded ?? NO_TASKS
    return [...indexes]
      .filter(([taskName]) => present.has(taskName) && !this.#states.has(taskName))
      .map(([taskName, taskIndex]) => ({ taskName, taskIndex }))
  }

  /** Number of tasks, with those that the code no longer has. */
  get count(): number {
    return this.#lastIndex
  }

  get hasPending(): boolean {
    return this.#pendingCount > 0
  }

  /** Tasks that have not begun. */
  get pending(): readonly TrackedTask[] {
    return [...this.#states.values()].filter(({ phase }) => phase === 'pending')
  }

  /** Returns the names of the completed tasks. */
  listCompleted(): readonly string[] {
    return [...this.#results.keys()]
  }

  /** Whether `task` itself is part of the plan, so that its texts are templates. */
  isPlanned(task: Task): boolean {
    return this.#planned.has(task)
  }

  /** Returns the task with this name. */
  get(taskName: string): TrackedTask | undefined {
    return this.#states.get(taskName)
  }

  /** Returns the tasks with these names, in this order. */
  named(names: readonly string[]): readonly TrackedTask[] {
    const states: TrackedTask[] = []
    for (const name of names) {
      const state = this.#states.get(name)
      if (state !== undefined) states.push(state)
    }
    return states
  }

  /** Adds a pending task. */
  add({ task, taskName, taskIndex }: NewTaskState): TrackedTask {
    const { inputs } = this.#options
    const text = this.isPlanned(task) ? renderTask(task, inputs) : task
    const state: TrackedTask = { task, taskName, taskIndex, text, phase: 'pending', attempt: 0 }
    this.#lastIndex = Math.max(this.#lastIndex, taskIndex)
    this.#states.set(taskName, state)
    this.#pendingCount += 1
    return state
  }

  /** Sets the phase of a task. */
  setPhase(state: TrackedTask, phase: TaskPhase): void {
    this.#pendingCount += Number(phase === 'pending') - Number(state.phase === 'pending')
    state.phase = phase
    this.#options.onPhase(state.taskName, phase)
  }

  /** Records the result of a task. */
  complete(state: TrackedTask, result: TaskResult): void {
    this.setPhase(state, 'completed')
    this.#results.set(state.taskName, result)
  }

  /** Counts the usage of attempts without a result. */
  countLost(lost: readonly Usage[]): void {
    this.#lost.push(...lost)
  }

  /** Returns the result of a task; undefined if it is not completed. */
  resultOf(taskName: string): TaskResult | undefined {
    return this.#results.get(taskName)
  }

  /**
   * Returns the results in the order of the task indexes: declared tasks first, then delegated ones in the
   * order of their start.
   */
  results(): readonly TaskResult[] {
    const results: TaskResult[] = []
    for (const { taskName } of [...this.#states.values()].toSorted(compareIndexes)) {
      const result = this.#results.get(taskName)
      if (result !== undefined) results.push(result)
    }
    return results
  }

  /** Returns the usage of all attempts. */
  used(): readonly Usage[] {
    return [...this.#results.values(), ...this.#lost]
  }

  /**
   * Returns the outputs of the completed tasks in the context of `task`, in the order of declaration and with the names that
   * they have in its ensemble.
   *
   * @param listManaged returns the names of all tasks delegated to a role by the manager.
   */
  contextOf(
    task: Task,
    run: Pick<RunScope, 'ensemble' | 'parent' | 'inputs'>,
    listManaged: (role: string) => readonly string[],
  ): readonly ContextOutput[] {
    if (task.context.length === 0) return NO_CONTEXT
    const { ensemble, inputs } = run
    const isManaged = ensemble.plan.workflow === 'HIERARCHICAL'
    const outputs: ContextOutput[] = []
    for (const taskName of this.#orderContext(task.context, run)) {
      const declared = isManaged ? ensemble.tasks.find(({ name }) => name === taskName) : undefined
      const runName =
        declared === undefined
          ? toRunName(run, taskName)
          : this.#lastCompleted(listManaged(toWorkerRole(declared)))
      const state = this.#states.get(runName ?? '')
      const done = this.#results.get(runName ?? '')
      if (state === undefined || done === undefined) continue
      const { description } = declared === undefined ? state.text : renderTask(declared, inputs)
      const agentRole = state.task.agent.role
      outputs.push({ taskName, agentRole, description, output: done.output })
    }
    return outputs
  }

  #orderContext(
    context: readonly string[],
    { parent, ensemble }: Pick<RunScope, 'ensemble' | 'parent'>,
  ): readonly string[] {
    if (parent === undefined) return this.#inOrder(context).map(({ taskName }) => taskName)
    // The tasks of a sub-ensemble have their indexes in the order in which they began.
    const { order } = ensemble.plan
    return [
      ...order.filter((name) => context.includes(name)),
      ...context.filter((name) => !order.includes(name)),
    ]
  }

  /** Tasks of the plan. A frozen replay also has delegated ones, from its record. */
  get planned(): readonly TrackedTask[] {
    return [...this.#states.values()].filter(({ task }) => this.isPlanned(task))
  }

  /** All tasks: those of the plan, then delegated ones. */
  get all(): Iterable<TrackedTask> {
    return this.#states.values()
  }

  /** Returns the state of each task. */
  snapshots(): readonly TaskSnapshot[] {
    return [...this.#states.values()].map(({ taskName, taskIndex, phase, attempt, slot }) => {
      // A task that was approved before it began can wait for a slot.
      const hasBegun = attempt > 0 || slot?.isTaking !== true
      return { taskName, taskIndex, phase: hasBegun ? phase : 'pending', attempt }
    })
  }

  #inOrder(names: readonly string[]): readonly TrackedTask[] {
    const states = this.named(names)
    return states.length < 2 ? states : states.toSorted(compareIndexes)
  }

  /** Returns the name of the task that was completed last. */
  #lastCompleted(names: readonly string[]): string | undefined {
    return [...this.#results.keys()].findLast((name) => names.includes(name))
  }
}

const NO_TASKS: Pick<RecordedTasks, 'indexes' | 'present'> = {
  indexes: new Map(),
  present: new Set(),
}

const NO_CONTEXT: readonly ContextOutput[] = []

function compareIndexes(a: TrackedTask, b: TrackedTask): number {
  return a.taskIndex - b.taskIndex
}

/** Returns the result in a step. */
export function toTaskResult({
  taskName,
  attempt,
  output,
  structured,
  used,
  durationMs,
  finishReason,
}: StepOf<'task_completed'>): TaskResult {
  return {
    taskName,
    attempt,
    output,
    ...(structured === undefined ? {} : { structured }),
    ...used,
    durationMs,
    ...(finishReason === undefined ? {} : { finishReason }),
  }
}
