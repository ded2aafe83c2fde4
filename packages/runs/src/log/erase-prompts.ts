/**
 * Pure: removes from the stored request of a run the texts that capture mode OFF excludes.
 *
 * RUNS-J3 When a run with capture mode OFF ends, its stored request loses its history, and the instructions and additional
 *    contexts of its tasks and overrides. Until then every owner needs them. A run that has lost texts cannot be forked or
 *    replayed.
 */
import { changeAddedTasks, listAddedTasks } from '@tutti/protocol/basics'

import type { TaskDefinitionBody } from '@tutti/protocol/internal'

import type { RequestedRun } from '../domain/run-record.ts'

/** Returns the request without these texts; undefined when there is nothing to remove. */
export function erasePrompts(request: RequestedRun | undefined): RequestedRun | undefined {
  if (request?.options?.captureMode !== 'OFF' || request.isErased === true) return undefined
  const { history, tasks, taskOverrides, ...rest } = request
  const isPrivate =
    history !== undefined ||
    tasks?.some((task) =>
      [task, ...listAddedTasks(task).map((added) => added.task)].some(hasPrompts),
    ) === true ||
    Object.values(taskOverrides ?? {}).some(hasPrompts)
  if (!isPrivate) return undefined
  return {
    ...rest,
    ...(tasks === undefined ? {} : { tasks: tasks.map(eraseTask) }),
    ...(taskOverrides === undefined
      ? {}
      : {
          taskOverrides: Object.fromEntries(
            Object.entries(taskOverrides).map(([name, task]) => [name, withoutPrompts(task)]),
          ),
        }),
    isErased: true,
  }
}

/** The texts of a task that are only part of prompts. */
interface Prompts {
  readonly instructions?: unknown
  readonly additionalContext?: unknown
}

function eraseTask(task: TaskDefinitionBody): TaskDefinitionBody {
  return changeAddedTasks(withoutPrompts(task), withoutPrompts)
}

function hasPrompts(task: Prompts | undefined): boolean {
  return task?.instructions !== undefined || task?.additionalContext !== undefined
}

function withoutPrompts<T extends Prompts>(task: T): T {
  const { instructions: _, additionalContext: __, ...rest } = task
  // NOTE: both fields are optional.
  return { ...rest } as T
}
