/** Runs `tutti diff`. */
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../../terminal/print.ts'
import { comparisonLines } from './comparison-lines.ts'

import type { CommandContext } from '../command-context.ts'

/** Options of `tutti diff`. */
export interface DiffSettings {
  readonly json?: boolean
}

/** Prints the differences between two runs. */
export async function diffRuns(
  [a, b]: readonly [string, string],
  { json = false, ...target }: TargetOptions & DiffSettings,
  context: CommandContext,
): Promise<void> {
  const { runs } = connectTo(target, context)
  const comparison = await runs.compare(a, b)
  if (json) printJson(comparison, context.io)
  else printLines(comparisonLines(comparison), context.io)
}
