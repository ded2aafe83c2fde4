/** Runs `tutti run`. */
import { readSubmission, withModel } from '../submit/read-submission.ts'
import { submitPrepared } from '../submit/submit-run.ts'
import { describeUnusedInputs } from '../submit/unused-inputs.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printText } from '../../terminal/print.ts'
import { assertOneOutput, followCommand } from './follow-command.ts'
import { SignalInbox } from '../../terminal/signal-inbox.ts'

import type { CommandContext } from '../command-context.ts'
import type { SubmitCommandOptions } from '../submit/submit-options.ts'
import type { FollowCommandOptions } from './follow-options.ts'

/** Options of `tutti run`. */
export interface RunCommandOptions
  extends TargetOptions, SubmitCommandOptions, FollowCommandOptions {
  readonly detach?: true
  readonly detachOnSignal?: true
}

/** Submits the run that the command line describes, and follows it. */
export async function runAndFollow(
  args: readonly string[],
  options: RunCommandOptions,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  assertOneOutput(options)
  const client = connectTo(options, context)
  const described = await readSubmission(args, options, io)
  const body =
    options.model === undefined
      ? described
      : withModel(described, options.model, await client.capabilities())
  const { idempotencyKey } = options
  using signals = new SignalInbox(io)
  const accepted = await submitPrepared({ client, body, idempotencyKey, args, signals }, context)
  if (options.quiet !== true) {
    for (const line of await describeUnusedInputs(client, body)) io.stderr.write(`${line}\n`)
  }
  if (options.detach === true) {
    if (options.json === true) printJson(accepted, io)
    else printText(accepted.runId, io)
    return
  }
  context.exit = await followCommand({
    client,
    io,
    runId: accepted.runId,
    options,
    from: 0,
    liveFrom: 0,
    onSignal: options.detachOnSignal === true ? 'leave' : 'cancel',
    signals,
  })
}
