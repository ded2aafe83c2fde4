/** Runs `tutti builds`. */
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines, printMessage } from '../../terminal/print.ts'
import { tableLines } from '../../terminal/table.ts'

import type { BuildInfo } from '@tutti/protocol/internal'
import type { CommandContext } from '../command-context.ts'
import type { LineSpan } from '../../terminal/line.ts'

const COLUMNS = [
  { title: 'BUILD' },
  { title: 'ENSEMBLE' },
  { title: 'CODE' },
  { title: 'FIRST STARTED' },
  { title: 'PROCESSES', align: 'right' },
  { title: 'SHARE', align: 'right' },
  { title: 'RUNS' },
] as const

/** Lists the builds of the server. */
export async function showBuilds(
  options: TargetOptions & { readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const list = await connectTo(options, context).builds.list()
  if (options.json === true) printJson(list, io)
  else if (list.builds.length === 0) printMessage('No process that executes runs has started', io)
  else printLines(tableLines(COLUMNS, list.builds.map(toRow)), io)
}

function toRow(info: BuildInfo): readonly LineSpan[] {
  const { build, ensemble, code, firstStartedAt, processes, share, runs } = info
  const counts = Object.entries(runs).map(([status, count]) => `${status} ${count}`)
  return [
    { text: build, style: processes > 0 ? 'bold' : 'dim' },
    { text: ensemble },
    { text: code },
    { text: firstStartedAt },
    { text: String(processes) },
    { text: `${share} %` },
    { text: counts.length === 0 ? '-' : counts.join(', ') },
  ]
}
