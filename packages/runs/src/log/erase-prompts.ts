/**
 * Pure: removes from the stored request of a run the texts that capture mode OFF excludes.
 *
 * RUNS-J3 When a run with capture mode OFF ends, its stored request loses its history, the instructions and additional
 *    contexts of its tasks and overrides, and the instructions, goals and backgrounds of its agents. Until then every owner needs
 *    them. A run that has lost texts cannot be forked or replayed.
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
      [task, ...(task.agents ?? []), ...listAddedTasks(task).map((added) => added.task)].some(
        hasPrompts,
      ),
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

/** The texts of a task or an agent that are only part of prompts. */
interface Prompts {
  readonly instructions?: unknown
  readonly additionalContext?: unknown
  readonly goal?: unknown
  readonly background?: unknown
}

function eraseTask(task: TaskDefinitionBody): TaskDefinitionBody {
  const erased = changeAddedTasks(withoutPrompts(task), withoutPrompts)
  return erased.agents === undefined
    ? erased
    : { ...erased, agents: erased.agents.map(withoutPrompts) }
}

function hasPrompts({ instructions, additionalContext, goal, background }: Prompts): boolean {
  return [instructions, additionalContext, goal, background].some((text) => text !== undefined)
}

function withoutPrompts<T extends Prompts>(owner: T): T {
  const { instructions: _, additionalContext: __, goal: ___, background: ____, ...rest } = owner
  // NOTE: these fields are optional.
  return { ...rest } as T
}
