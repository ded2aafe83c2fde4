/** Sends a command whose options are the fields of its body. */
import { readCommandBody, type RunCommandKind } from '@tutti/protocol/internal'

import { CommandError } from '../command-error.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../../terminal/print.ts'

import type { CommandContext } from '../command-context.ts'

/**
 * Sends a command and prints its response.
 *
 * @throws {CommandError} USAGE when the options are not a valid body.
 */
export async function sendPlainCommand(
  { kind, target }: { readonly kind: RunCommandKind; readonly target: string },
  options: TargetOptions & Readonly<Record<string, unknown>>,
  context: CommandContext,
): Promise<void> {
  const body = readCommandBody(kind, options)
  if (!body.ok) {
    const problems = body.problems.map(({ path, message }) => `${path.slice(1)} ${message}`)
    throw new CommandError('USAGE', `Cannot send ${kind}: ${problems.join('; ')}`)
  }
  const response = await connectTo(options, context).send({ kind, target, body: body.value })
  if (options['json'] === true) printJson(response, context.io)
  else printLines([[{ text: Object.values(response).join('  ') }]], context.io)
}
