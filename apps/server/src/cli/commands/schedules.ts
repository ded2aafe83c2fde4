/** `tutti schedules`: lists the schedules of a server, shows one, saves, pauses, resumes, runs and deletes them. */
import { MAX_JITTER_MS } from '@tutti/protocol/internal'

import { durationParser } from '../option-values.ts'
import { rejectUnknownSubcommands } from '../subcommands.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { ScheduleAction } from '../schedules/act-on-schedule.ts'
import type { SaveSettings } from '../schedules/save-schedule.ts'

interface OutputSettings {
  readonly json?: boolean
}

const JSON_OPTION = ['--json', 'print the API response as one JSON document'] as const

/** The commands that take only a name, with their descriptions. */
const ACTIONS: Readonly<Record<ScheduleAction, string>> = {
  show: 'show a schedule with its next ticks',
  pause: 'pause a schedule: it has no ticks until it is resumed',
  resume: 'resume a schedule at its next tick',
  run: 'submit a run of a schedule now; its ticks are not affected',
  delete: 'delete a schedule; its runs remain',
}

/** Adds `tutti schedules`. */
export function addSchedulesCommand(program: Command, context: CommandContext): void {
  const schedules = program
    .command('schedules')
    .description('list the schedules of a server, with their next ticks and last runs')
    .option(...JSON_OPTION)
  withTarget(schedules).action(async (options: TargetOptions & OutputSettings) => {
    const { listSchedules } = await import('../schedules/list-schedules.ts')
    await listSchedules(options, context)
  })
  const save = schedules
    .command('save')
    .description('create a schedule, or replace the one of that name')
    .argument('<name>', '1 to 100 letters, digits, ".", "_" and "-"')
    .argument('<cron>', 'cron expression, such as "0 9 * * MON-FRI"')
    .requiredOption('--request <json>', 'submission of each tick, as JSON; @file.json or -')
    .option('--time-zone <name>', 'IANA time zone of the expression (default: UTC)')
    .option(
      '--jitter <duration>',
      'maximum delay of a tick: 90s, 30m or 12h',
      durationParser(MAX_JITTER_MS),
    )
    .option('--catch-up <ticks>', 'ticks that are submitted after an outage: skip, last or all')
    .option(
      '--overlap <action>',
      'while the last run has not ended: allow, skip, cancel, queueOne or queueAll',
    )
    .option('--paused', 'the schedule has no ticks until it is resumed')
    .option(...JSON_OPTION)
  withTarget(save).action(
    async (name: string, cron: string, options: TargetOptions & SaveSettings) => {
      const { saveSchedule } = await import('../schedules/save-schedule.ts')
      await saveSchedule({ name, cron }, options, context)
    },
  )
  // NOTE: the keys of the table are the actions.
  for (const [action, description] of Object.entries(ACTIONS) as [ScheduleAction, string][]) {
    const command = schedules
      .command(action)
      .description(description)
      .argument('<name>', 'name of the schedule')
      .option(...JSON_OPTION)
    withTarget(command).action(async (name: string, options: TargetOptions & OutputSettings) => {
      const { actOnSchedule } = await import('../schedules/act-on-schedule.ts')
      await actOnSchedule({ action, name }, options, context)
    })
  }
  rejectUnknownSubcommands(schedules)
}
