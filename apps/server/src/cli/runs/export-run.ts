/** Runs `tutti export`. */
import { errorMessage } from '@tutti/core/internal'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'

import { CommandError } from '../command-error.ts'
import { toTerminalJson, printMessage, writeOut } from '../../terminal/print.ts'
import { connectTo, type TargetOptions } from '../target.ts'

import type { TuttiClient } from '@tutti/client'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { CommandContext } from '../command-context.ts'

/** A format of `tutti export`. */
export type ExportFormat = 'trace' | 'dag' | 'run' | 'events'

/** Options of `tutti export`. */
export interface ExportSettings {
  readonly format: ExportFormat
  readonly output?: string
}

/**
 * Writes a run in a format, to standard output or to a file.
 *
 * @throws {CommandError} USAGE when the file cannot be written.
 */
export async function exportRun(
  runId: string,
  { format, output, ...target }: TargetOptions & ExportSettings,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const { runs } = connectTo(target, context)
  const text = `${toTerminalJson(await fetchDocument(runs, runId, format), 2)}\n`
  if (output === undefined || output === '-') {
    await writeOut(io, text)
    return
  }
  try {
    await writeFile(resolve(io.cwd, output), text)
  } catch (error) {
    throw new CommandError('USAGE', `Cannot write "${output}": ${errorMessage(error)}`)
  }
  printMessage(`Wrote ${output}`, io)
}

async function fetchDocument(
  runs: TuttiClient['runs'],
  runId: string,
  format: ExportFormat,
): Promise<unknown> {
  switch (format) {
    case 'trace':
      return runs.trace(runId)
    case 'dag':
      return runs.dag(runId)
    case 'run':
      return runs.get(runId)
    case 'events':
      return fetchLog(runs, runId)
  }
}

/** Returns the events of a run up to the current end of its log. */
async function fetchLog(
  runs: TuttiClient['runs'],
  runId: string,
): Promise<readonly LoggedRunEvent[]> {
  const { lastSeq } = await runs.get(runId)
  const events: LoggedRunEvent[] = []
  for await (const event of runs.events(runId)) {
    events.push(event)
    if (event.seq >= lastSeq) break
  }
  return events
}
