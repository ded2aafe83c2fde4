/** Runs `tutti deliver`. */
import { GivenValues } from '../submit/given-values.ts'
import { toSingleLine } from '../../terminal/text-width.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../../terminal/print.ts'

import type { EventReceived } from '@tutti/protocol/internal'
import type { CommandContext } from '../command-context.ts'

/** The options of `tutti deliver`. */
export interface DeliverSettings {
  readonly key?: string
  readonly run?: string
  readonly data?: string
  readonly id?: string
  readonly json?: boolean
}

/**
 * Sends an external event.
 *
 * @throws {CommandError} USAGE if `data` is not JSON, or its file cannot be read.
 */
export async function deliverEvent(
  name: string,
  { key, run, data, id, json = false, ...target }: TargetOptions & DeliverSettings,
  context: CommandContext,
): Promise<void> {
  const given = new GivenValues(context.io)
  const received = await connectTo(target, context).events.send(name, {
    ...(key === undefined ? {} : { key }),
    ...(run === undefined ? {} : { runId: run }),
    ...(id === undefined ? {} : { id }),
    ...(data === undefined ? {} : { data: await given.json(data, '--data') }),
  })
  if (json) printJson(received, context.io)
  else printLines([[{ text: toLine(received) }]], context.io)
}

function toLine({ id, status, runId }: EventReceived): string {
  const to = runId === undefined ? '' : `  run ${toSingleLine(runId)}`
  return `${status}  event ${toSingleLine(id)}${to}`
}
