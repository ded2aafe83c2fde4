/** Runs `tutti builds share`. */
import { CommandError } from '../command-error.ts'
import { toSingleLine } from '../../terminal/text-width.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../../terminal/print.ts'

import type { CommandContext } from '../command-context.ts'

/** The arguments of `tutti builds share`. */
export interface ShareArguments {
  readonly build: string
  readonly percent: string
}

/**
 * Sets the percentage of new runs that a build gets.
 *
 * @throws {CommandError} USAGE for a percentage that is not an integer from 0 to 100.
 */
export async function setShare(
  { build, percent }: ShareArguments,
  { json = false, ...target }: TargetOptions & { readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  if (!/^\d{1,3}$/.test(percent) || Number(percent) > 100) {
    throw new CommandError('USAGE', `The share must be an integer from 0 to 100, got "${percent}"`)
  }
  const set = await connectTo(target, context).builds.setShare(build, Number(percent))
  if (json) printJson(set, context.io)
  else {
    const text = `${toSingleLine(set.build)}  ${set.share} % of new runs`
    printLines([[{ text }]], context.io)
  }
}
