/** Runs `tutti migrate`. */
import { CommandError } from '../command-error.ts'
import { toSingleLine } from '../../terminal/text-width.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../../terminal/print.ts'

import type { CodeDifference } from '@tutti/protocol/internal'
import type { CommandContext } from '../command-context.ts'

/** Options of `tutti migrate`. */
export interface MigrateSettings {
  readonly to?: string
  readonly preview?: boolean
  readonly json?: boolean
}

/**
 * Prints the differences between the builds of a run, and then moves the run.
 *
 * @throws {CommandError} USAGE without `--to`.
 */
export async function migrate(
  runId: string,
  { to, preview = false, json = false, ...target }: TargetOptions & MigrateSettings,
  context: CommandContext,
): Promise<void> {
  if (to === undefined) {
    throw new CommandError('USAGE', 'Specify the build: --to BUILD', [
      'The builds that have started: GET /api/builds',
    ])
  }
  const { io } = context
  const { runs } = connectTo(target, context)
  const found = await runs.migrate(runId, { to, preview: true })
  if (!json) {
    const head = `${runId}  ${toSingleLine(found.from)} -> ${toSingleLine(found.to)}`
    const differences = found.differences.flatMap(toLines)
    const lines = differences.length === 0 ? ['  no differences'] : differences
    printLines(
      [head, ...lines].map((text) => [{ text }]),
      io,
    )
  }
  const result = preview ? found : await runs.migrate(runId, { to })
  if (json) printJson(result, io)
  else printLines([[{ text: result.moved ? `${runId}  moved` : `${runId}  not moved` }]], io)
}

/** Returns the lines of a difference: its path, the value before and the value after. */
function toLines({ task, field, from, to }: CodeDifference): readonly string[] {
  const path = task === undefined ? field : `${task}.${field}`
  return [
    `  ${toSingleLine(path)}`,
    ...(from === undefined ? [] : [`    - ${toSingleLine(from)}`]),
    ...(to === undefined ? [] : [`    + ${toSingleLine(to)}`]),
  ]
}
