/** Makes a task, or reports why it cannot be made. */
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import type { Task } from '@tutti/ensemble'
import type { Refusals } from './refusals.ts'

/** Returns the task that `make` creates, or adds its problem at `path`. */
export function tryTask(path: string, refusals: Refusals, make: () => Task): readonly Task[] {
  try {
    return [make()]
  } catch (error) {
    if (!TuttiError.isInstance(error) && !(error instanceof TypeError)) throw error
    refusals.add('BAD_REQUEST', path, () => errorMessage(error))
    return []
  }
}
