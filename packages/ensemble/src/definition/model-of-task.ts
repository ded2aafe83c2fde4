import type { ChatModel } from '../model/chat-model.ts'
import type { Task } from './task.ts'

/**
 * Returns the model of a task by its name or, without a name, the model that all tasks share; undefined if
 * there is none.
 */
export type ModelOfTasks = (taskName: string | undefined) => ChatModel | undefined

/** Returns the model of `task`: its own, else its agent's, else that of the ensemble. */
export function modelOfTask(
  task: Pick<Task, 'model' | 'agent'>,
  ensemble: { readonly model?: ChatModel },
): ChatModel | undefined {
  return task.model ?? task.agent.model ?? ensemble.model
}

/** Returns a lookup of the models of tasks. */
export function createOwnModelLookup(
  ensemble: { readonly model?: ChatModel },
  tasks: readonly Pick<Task, 'name' | 'model' | 'agent' | 'handler'>[],
): ModelOfTasks {
  return createModelLookup(tasks, (task) => modelOfTask(task, ensemble))
}

/** Returns a lookup of the first fallback models of tasks. */
export function createFallbackModelLookup(
  ensemble: { readonly fallbackModels?: readonly ChatModel[] },
  tasks: readonly Pick<Task, 'name' | 'fallbackModels' | 'handler'>[],
): ModelOfTasks {
  return createModelLookup(
    tasks,
    (task) => (task.fallbackModels ?? ensemble.fallbackModels ?? [])[0],
  )
}

function createModelLookup<T extends Pick<Task, 'name' | 'handler'>>(
  tasks: readonly T[],
  modelOf: (task: T) => ChatModel | undefined,
): ModelOfTasks {
  return (taskName) => {
    const meant = tasks.filter(
      ({ name, handler }) => handler === undefined && (taskName ?? name) === name,
    )
    const models = new Set(meant.map(modelOf))
    const [first] = models
    return models.size === 1 ? first : undefined
  }
}
