/** Runs `tutti inject`. */
import { connect, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../text/print.ts'
import { readGiven } from '../text/read-given.ts'

import type { Priority } from '@tutti/protocol'
import type { CommandContext } from '../command-context.ts'

/** For whom, and how. */
export interface InjectSettings {
  readonly to?: string
  readonly priority?: Priority
  readonly ttl?: string
  readonly json?: boolean
}

/** Tells the agents of a run a text, which may be in a file. */
export async function inject(
  { runId, text }: { readonly runId: string; readonly text: string },
  { to, priority, ttl, json = false, ...target }: TargetOptions & InjectSettings,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const content = await readGiven(text, io)
  const answer = await connect(target, context).runs.inject(runId, content, {
    ...(to === undefined ? {} : { target: to }),
    ...(priority === undefined ? {} : { priority }),
    ...(ttl === undefined ? {} : { ttl }),
  })
  if (json) printJson(answer, io)
  else printLines([[{ text: `${answer.directiveId}  ${answer.status}` }]], io)
}
