import type { ChatModel } from './chat-model.ts'
import type { Task } from '../task.ts'

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
): (taskName: string | undefined) => ChatModel | undefined {
  return (taskName) => {
    const meant = tasks.filter(
      ({ name, handler }) => handler === undefined && (taskName ?? name) === name,
    )
    const models = new Set(meant.map((task) => modelOfTask(task, ensemble)))
    const [first] = models
    return models.size === 1 ? first : undefined
  }
}
