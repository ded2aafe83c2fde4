import type { ChatModel } from '../model/chat-model.ts'
import type { Task } from './task.ts'

/** The model of a task by its name or, with no name, the one that all tasks share; undefined for none. */
export type ModelOfTasks = (taskName: string | undefined) => ChatModel | undefined

/** The model of `task`: its own, else its agent's, else the one of the ensemble around it. */
export function modelOfTask(
  task: Pick<Task, 'model' | 'agent'>,
  ensemble: { readonly model?: ChatModel },
): ChatModel | undefined {
  return task.model ?? task.agent.model ?? ensemble.model
}

/** Finds the model of a task by its name, or, with no name, the one that all tasks have. */
export function ownModelIn(
  ensemble: { readonly model?: ChatModel },
  tasks: readonly Pick<Task, 'name' | 'model' | 'agent' | 'handler'>[],
): ModelOfTasks {
  return modelIn(tasks, (task) => modelOfTask(task, ensemble))
}

/** The same for the models that follow them when a call fails for good; undefined for a task without one. */
export function fallbackModelIn(
  ensemble: { readonly fallbackModels?: readonly ChatModel[] },
  tasks: readonly Pick<Task, 'name' | 'fallbackModels' | 'handler'>[],
): ModelOfTasks {
  return modelIn(tasks, (task) => (task.fallbackModels ?? ensemble.fallbackModels ?? [])[0])
}

function modelIn<T extends Pick<Task, 'name' | 'handler'>>(
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
