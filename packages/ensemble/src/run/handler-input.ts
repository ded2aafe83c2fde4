/** Identifies the input of a handler, so that a replay finds what the handler returned for it. */
import { computeJsonDigest } from '@tutti/core/internal'

import type { ContextOutput } from '../definition/handler.ts'
import type { TaskText } from '../definition/task-text.ts'

/** Returns the digest of what a handler receives from its task and from earlier ones. */
export function digestHandlerInput({
  text,
  context,
}: {
  readonly text: TaskText
  readonly context: readonly ContextOutput[]
}): string {
  return computeJsonDigest([
    text.description,
    context.map(({ taskName, output }) => [taskName, output]),
  ])
}
