/** Runs the commands of `tutti schedules` that take only a name. */
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../../terminal/print.ts'
import { toSingleLine } from '../../terminal/text-width.ts'
import { scheduleLines } from './schedule-lines.ts'

import type { CommandContext } from '../command-context.ts'

export type ScheduleAction = 'show' | 'pause' | 'resume' | 'run' | 'delete'

/** An action, and the name of its schedule. */
export interface ScheduleCall {
  readonly action: ScheduleAction
  readonly name: string
}

/** Performs the action and prints the result. */
export async function actOnSchedule(
  { action, name }: ScheduleCall,
  { json = false, ...target }: TargetOptions & { readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const { schedules } = connectTo(target, context)
  if (action === 'delete') {
    await schedules.delete(name)
    if (!json) printLines([[{ text: `Deleted schedule ${toSingleLine(name)}` }]], io)
    return
  }
  if (action === 'run') {
    const accepted = await schedules.run(name)
    if (json) printJson(accepted, io)
    else printLines([[{ text: accepted.runId }]], io)
    return
  }
  const schedule = await (action === 'show' ? schedules.get(name) : schedules[action](name))
  if (json) printJson(schedule, io)
  else printLines(scheduleLines(schedule), io)
}
