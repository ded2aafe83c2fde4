/** The datetime tool. */
import { defineTextTool, systemClock, ToolResult } from '@tutti/core'
import { assertKnownOptions, TOOL_SETTING_NAMES } from '@tutti/core/internal'

import { DatetimeError, quoteText } from './datetime-error.ts'
import { findZone } from './find-zone.ts'
import { loadTemporal, type TemporalApi } from './load-temporal.ts'
import { addDateAmounts, formatMoment, readMoment, readTimeIn, type Moment } from './moment.ts'
import {
  FORMS,
  parseCommand,
  unrecognizedCommand,
  type DatetimeCommand,
  type Start,
} from './parse-command.ts'
import { splitWrittenTime } from './written-time.ts'

import type { Clock, ToolSettings, TypedTool } from '@tutti/core'
import type { OptionNames } from '@tutti/core/internal'

export interface DatetimeOptions extends Partial<ToolSettings<string>> {
  /** Source of the current time. @default the system's clock */
  readonly clock?: Clock
  /** Zone of `now` and `today` without one: an IANA name, or an offset such as +02:00. @default UTC */
  readonly timeZone?: string
}

const OPTION_NAMES = {
  ...TOOL_SETTING_NAMES,
  clock: true,
  timeZone: true,
} as const satisfies OptionNames<DatetimeOptions>

const DEFAULTS = {
  name: 'datetime',
  description:
    `Returns the current time, calculates with dates, and converts between time zones. Commands: ${FORMS}. ` +
    'Units: seconds, minutes, hours, days, weeks, months, years. Zones are IANA names such as ' +
    'Europe/Berlin or offsets such as +02:00. Example: 2024-01-31 + 1 month',
} as const satisfies ToolSettings<string>

/**
 * Creates a text tool for dates and times: `now in Asia/Tokyo`, `2024-01-31 + 1 month`,
 * `convert 2024-07-01T09:00 from Europe/Berlin to UTC`.
 *
 * @throws {TypeError} naming every invalid setting.
 * @throws {RangeError} for an invalid `timeZone`.
 */
export function datetime(options: DatetimeOptions = {}): TypedTool<string> {
  assertKnownOptions('Cannot define tool "datetime":', options, OPTION_NAMES)
  const { clock = systemClock, timeZone = 'UTC', ...settings } = options
  assertTimeZone(timeZone)
  return defineTextTool({
    ...DEFAULTS,
    ...settings,
    async execute(input) {
      try {
        const command = parseCommand(input)
        const temporal = await loadTemporal()
        return ToolResult.success(runCommand(temporal, command, { nowMs: clock.now(), timeZone }))
      } catch (error) {
        if (error instanceof DatetimeError) return ToolResult.failure(error.message)
        if (error instanceof RangeError) return ToolResult.failure(explainOutOfRange(input))
        throw error
      }
    },
  })
}

/** Explains a RangeError of Temporal, which valid input causes only beyond its years. */
function explainOutOfRange(input: string): string {
  return `Out of range: ${quoteText(input.trim())} is outside the years -271821 to 275760`
}

function assertTimeZone(timeZone: string): void {
  try {
    Intl.DateTimeFormat('en', { timeZone }).resolvedOptions()
  } catch {
    throw new RangeError(
      `Cannot define tool "datetime": timeZone must be an IANA name or an offset, got ${JSON.stringify(timeZone)}`,
    )
  }
}

interface CommandContext {
  readonly nowMs: number
  readonly timeZone: string
}

function runCommand(
  temporal: TemporalApi,
  command: DatetimeCommand,
  context: CommandContext,
): string {
  if (command.kind === 'convert') return convert(temporal, command)
  const { start, amounts } = command
  const moment =
    start.kind === 'written'
      ? readMoment(temporal, start.text)
      : readClock(temporal, start, context)
  return formatMoment(addDateAmounts(moment, amounts))
}

/** Returns the current time in whole seconds, or the current date. */
function readClock(
  temporal: TemporalApi,
  { kind, zone }: Exclude<Start, { readonly kind: 'written' }>,
  { nowMs, timeZone }: CommandContext,
): Moment {
  const value = temporal.Instant.fromEpochMilliseconds(
    Math.floor(nowMs / 1000) * 1000,
  ).toZonedDateTimeISO(findZone(temporal, zone ?? timeZone))
  return kind === 'today'
    ? { kind: 'date', value: value.toPlainDate() }
    : { kind: 'time', value, zoneForm: 'name' }
}

function convert(
  temporal: TemporalApi,
  command: Extract<DatetimeCommand, { kind: 'convert' }>,
): string {
  const written = splitWrittenTime(command.text)
  const from = command.from ?? written.zone ?? written.offset
  if (from === undefined) throw unrecognizedCommand(command.input)
  const value = readTimeIn(temporal, written, from).withTimeZone(findZone(temporal, command.to))
  return formatMoment({ kind: 'time', value, zoneForm: 'name' })
}
