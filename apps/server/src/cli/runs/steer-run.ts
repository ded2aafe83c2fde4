/** Runs `tutti inject` and `tutti model`. */
import { CommandError } from '../command-error.ts'
import { toSingleLine } from '../../terminal/text-width.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../../terminal/print.ts'
import { readGiven } from '../submit/read-given.ts'

import type { Priority } from '@tutti/protocol/internal'
import type { CommandContext } from '../command-context.ts'

/** Options of `tutti inject`. */
export interface InjectSettings {
  readonly to?: string
  readonly priority?: Priority
  readonly ttl?: string
  readonly json?: boolean
}

/** Injects guidance into a run; `text` may name a file. */
export async function inject(
  { runId, text }: { readonly runId: string; readonly text: string },
  { to, priority, ttl, json = false, ...target }: TargetOptions & InjectSettings,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const content = await readGiven(text, io)
  const response = await connectTo(target, context).runs.inject(runId, content, {
    ...(to === undefined ? {} : { target: to }),
    ...(priority === undefined ? {} : { priority }),
    ...(ttl === undefined ? {} : { ttl }),
  })
  if (json) printJson(response, io)
  else printLines([[{ text: `${response.directiveId}  ${response.status}` }]], io)
}

/** Options of `tutti model`. */
export interface ModelSettings {
  readonly tier?: string
  readonly profile?: string
  readonly task?: string
  readonly json?: boolean
}

/**
 * Switches a run to a model, a tier or the tier of a profile.
 *
 * @throws {CommandError} USAGE unless exactly one of them is named.
 */
export async function switchModel(
  { runId, alias }: { readonly runId: string; readonly alias: string | undefined },
  options: TargetOptions & ModelSettings,
  context: CommandContext,
): Promise<void> {
  const { tier, profile, task, json = false } = options
  const given = [alias, tier, profile].filter((name) => name !== undefined)
  if (given.length !== 1) {
    throw new CommandError('USAGE', 'Specify exactly one of: a model, --tier, --profile', [
      `A model: tutti model ${runId} small`,
      `A tier: tutti model ${runId} --tier fallback`,
    ])
  }
  const { io } = context
  const { runs } = connectTo(options, context)
  if (profile !== undefined) {
    const action = { action: 'APPLY_PROFILE', value: profile } as const
    const response = await runs.inject(runId, action, task === undefined ? {} : { target: task })
    if (json) printJson(response, io)
    else printLines([[{ text: `${runId}  profile ${toSingleLine(profile)}` }]], io)
    return
  }
  const to = tier === undefined ? (alias ?? '') : { tier }
  const response = await runs.switchModel(runId, to, task === undefined ? {} : { taskName: task })
  if (json) {
    printJson(response, io)
    return
  }
  const { model, previousModel, tier: made } = response
  const ofTier = made === undefined ? '' : `, tier ${toSingleLine(made)}`
  const was = previousModel === undefined ? '' : ` (was ${toSingleLine(previousModel)})`
  printLines([[{ text: `${runId}  ${toSingleLine(model)}${ofTier}${was}` }]], io)
}
