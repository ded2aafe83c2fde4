/**
 * Applies the choices of a run: evaluates conditions, lets chosen tasks start and skips the others.
 *
 * ENS-X6 If no case of a switch matches, each task that has one of them in its context fails at once, before it waits for others.
 * ENS-X7 A choice is recorded when the chosen task starts and when the others are skipped. A resumed run, a replay, and a fork
 *    behind it do not make it again.
 */
import { isoNow } from '@tutti/core/internal'

import {
  chooseTask,
  explainUnchosen,
  unmatchedError,
  type FailedCondition,
} from '../definition/choose-task.ts'

import type { Choice } from '../definition/plan.ts'
import type { Schedule } from '../definition/schedule.ts'
import type { StepOf } from '../ports/run-step.ts'
import type { RunScope } from '../scope/run-scope.ts'
import type { TaskStates, TrackedTask } from './task-states.ts'
import type { TuttiError } from '@tutti/core'

/** A task that begins only to fail. */
export interface RefusedTask {
  readonly state: TrackedTask
  readonly error: TuttiError
}

/** Parts of a run that its choices need. */
export interface TaskChoicesParts {
  readonly scope: RunScope
  readonly tasks: TaskStates
  readonly schedule: Schedule
}

/** Makes choices, and skips tasks. */
export class TaskChoices {
  readonly #parts: TaskChoicesParts

  constructor(parts: TaskChoicesParts) {
    this.#parts = parts
  }

  /**
   * Makes the choices whose tasks have all ended, and those that the skipped tasks allow. Returns the tasks that fail because of
   * them; without one, skips the tasks whose context has been skipped.
   */
  make(): readonly RefusedTask[] {
    const { schedule } = this.#parts
    for (;;) {
      const refused: RefusedTask[] = []
      while (schedule.hasChoices) {
        refused.push(...schedule.takeChoices().flatMap((choice) => this.#choose(choice)))
      }
      // A later choice can have skipped one.
      const failing = refused.filter(
        ({ state }, at) =>
          state.phase === 'pending' && refused.findIndex((one) => one.state === state) === at,
      )
      if (failing.length > 0) return failing
      const excluded = schedule.takeExcluded()
      if (excluded === undefined) return []
      this.#exclude(excluded.name, `Task "${excluded.reason}" was skipped`)
    }
  }

  /** Skips a task because of a condition. `chosen` is the task that its own choice lets run. */
  #exclude(taskName: string, reason: string, chosen?: string | null): void {
    this.#parts.schedule.exclude(taskName)
    this.skip(taskName, reason, { excluded: true, ...(chosen === undefined ? {} : { chosen }) })
  }

  /** Skips a task. */
  skip(
    taskName: string,
    reason: string,
    cause: Pick<StepOf<'task_skipped'>, 'excluded' | 'chosen'> = {},
  ): void {
    const { clock, journal, stopwatch } = this.#parts.scope
    const state = this.#parts.tasks.get(taskName)
    if (state === undefined) return
    this.#parts.tasks.setPhase(state, 'skipped')
    journal.emit(
      {
        type: 'task_skipped',
        taskIndex: state.taskIndex,
        taskName,
        taskDescription: state.text.description,
        skippedAt: isoNow(clock),
        reason,
        ...(cause.excluded === true ? { cause: 'CONDITION' as const } : {}),
      },
      { kind: 'task_skipped', taskName, ...cause, runMs: stopwatch.elapsed() },
    )
  }

  /** Skips the tasks that a choice does not let run. */
  #choose(choice: Choice): readonly RefusedTask[] {
    const { schedule, tasks } = this.#parts
    const { names, switchName } = choice
    const chosen = this.#findChosen(choice)
    if (chosen === undefined) return []
    if (typeof chosen === 'object' && chosen !== null) return this.#fail(choice, chosen)
    const needing =
      switchName === undefined || chosen !== null ? [] : schedule.listDependents(names)
    if (chosen !== null) schedule.choose(chosen)
    for (const { taskName, task } of this.#listPending(names)) {
      if (taskName === chosen) continue
      const reason = explainUnchosen(taskName, choice, { chosen, when: task.when })
      this.#exclude(taskName, reason, chosen)
    }
    return tasks
      .named(needing)
      .map((state) => ({ state, error: unmatchedError(state.taskName, choice) }))
  }

  /** Returns the task whose condition failed, and skips the other cases of its switch. */
  #fail({ names, switchName = '' }: Choice, failure: FailedCondition): readonly RefusedTask[] {
    const pending = this.#listPending(names)
    const failed = pending.find(({ taskName }) => taskName === failure.taskName) ?? pending[0]
    for (const state of pending) {
      if (state !== failed) this.skip(state.taskName, `Switch "${switchName}" could not choose`)
    }
    return failed === undefined ? [] : [{ state: failed, error: failure.error }]
  }

  /**
   * Returns the task that a choice lets run, null if it skips all of them, or the condition that failed. Undefined if other
   * tasks are the reason why all of them are skipped.
   */
  #findChosen(choice: Choice): string | null | FailedCondition | undefined {
    const { tasks, scope } = this.#parts
    const recorded = scope.log.findChosen(choice.names)
    if (recorded !== undefined) return recorded
    const isOpen = tasks.named(choice.names).some(({ phase }) => phase !== 'skipped')
    if (!isOpen) return undefined
    const chosen = chooseTask(choice, (name) => tasks.get(name)?.task, {
      inputs: scope.inputs,
      outputOf: (name) => {
        const result = tasks.resultOf(name)
        const isText = tasks.get(name)?.task.outputReader === undefined
        return isText ? result?.output : result?.structured
      },
    })
    return chosen ?? null
  }

  #listPending(taskNames: readonly string[]): readonly TrackedTask[] {
    return this.#parts.tasks.named(taskNames).filter(({ phase }) => phase === 'pending')
  }
}
