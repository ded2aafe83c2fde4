/** Runs `tutti delete`. */
import { tellingOf } from '../command-error.ts'
import { connect, type TargetOptions } from '../target.ts'
import { printJson, printLines, say } from '../text/print.ts'

import type { CommandContext } from '../command-context.ts'

/** Output options. */
export interface DeleteSettings {
  readonly json?: boolean
}

/**
 * Removes runs. One that cannot be removed is reported and the others are removed; the last such refusal is how the
 * command ends.
 */
export async function deleteRuns(
  runIds: readonly string[],
  options: TargetOptions & DeleteSettings,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const { runs } = connect(options, context)
  const deleted: string[] = []
  for (const runId of new Set(runIds)) {
    try {
      await runs.delete(runId)
      deleted.push(runId)
      if (options.json !== true) printLines([[{ text: `${runId}  deleted` }]], io)
    } catch (error) {
      const { exit, message, advice } = tellingOf(error, context.url)
      // A server that cannot be reached is the same for all others.
      if (exit !== 'REFUSED') throw error
      say([`${runId}: ${message}`, ...advice].join('\n'), io)
      context.exit = exit
    }
  }
  if (options.json === true) printJson({ deleted }, io)
}
