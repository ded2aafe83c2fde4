import type { ChatModel } from './chat-model.ts'
import type { Task } from '../task.ts'

/** The model of `task`: its own, else its agent's, else the one of the ensemble around it. */
export function modelOfTask(
  task: Pick<Task, 'model' | 'agent'>,
  ensemble: { readonly model?: ChatModel },
): ChatModel | undefined {
  return task.model ?? task.agent.model ?? ensemble.model
}
