/** Runs `tutti schedules`. */
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines, printMessage } from '../../terminal/print.ts'
import { scheduleTable } from './schedule-lines.ts'

import type { CommandContext } from '../command-context.ts'

/** Lists the schedules of the server. */
export async function listSchedules(
  options: TargetOptions & { readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const list = await connectTo(options, context).schedules.list()
  if (options.json === true) printJson(list, io)
  else if (list.schedules.length === 0) printMessage('The server has no schedules', io)
  else printLines(scheduleTable(list.schedules), io)
}
