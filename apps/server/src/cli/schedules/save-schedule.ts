/** Runs `tutti schedules save`. */
import { TuttiClientError } from '@tutti/client'

import { GivenValues } from '../submit/given-values.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../../terminal/print.ts'
import { scheduleLines } from './schedule-lines.ts'

import type { ReplaceScheduleBody } from '@tutti/protocol/internal'
import type { CommandContext } from '../command-context.ts'

/** Values of the options, as commander names them. */
export interface SaveSettings {
  readonly request: string
  readonly timeZone?: string
  readonly jitter?: number
  readonly catchUp?: string
  readonly overlap?: string
  readonly paused?: true
  readonly json?: boolean
}

/** The arguments of `tutti schedules save`. */
export interface SaveArguments {
  readonly name: string
  readonly cron: string
}

/**
 * Creates a schedule, or replaces the one of that name, and prints it.
 *
 * @throws {CommandError} USAGE when the request is not a JSON object.
 */
export async function saveSchedule(
  { name, cron }: SaveArguments,
  settings: TargetOptions & SaveSettings,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const { request, timeZone, jitter, catchUp, overlap, paused, json = false, ...target } = settings
  const run = await new GivenValues(io).object(request, '--request')
  const given = {
    cron,
    run,
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(jitter === undefined ? {} : { jitterMs: jitter }),
    ...(catchUp === undefined ? {} : { catchUp }),
    ...(overlap === undefined ? {} : { overlap }),
    ...(paused === undefined ? {} : { paused }),
  }
  // NOTE: the options may be anything; the server validates the body and names each invalid field.
  const body = given as ReplaceScheduleBody
  const { schedules } = connectTo(target, context)
  const saved = await schedules.create({ name, ...body }).catch((error: unknown) => {
    const exists = TuttiClientError.isInstance(error) && error.code === 'SCHEDULE_EXISTS'
    if (!exists) throw error
    return schedules.replace(name, body)
  })
  if (json) printJson(saved, io)
  else printLines(scheduleLines(saved), io)
}
