/** Pure: finds the problems of schedules. */
import { isJsonObject, MAX_JITTER_MS, type Problem } from '@tutti/protocol/internal'

import { CATCH_UPS, OVERLAPS, type ScheduleDefinition } from '../domain/schedule.ts'
import { findCronProblem, isTimeZone } from './ticks.ts'

/** Maximum length of an expression, in characters: a list of all minutes and hours fits. */
const MAX_CRON_LENGTH = 500

/** Tags that each run of a schedule gets. */
const OWN_TAGS = ['schedule', 'tick']

/** Maximum size of the submission of a schedule, in bytes of JSON: a list reads all of them. */
const MAX_RUN_BYTES = 64_000

/** Pattern of a name: 1 to 100 letters, digits, `.`, `_` and `-`; it begins with a letter or digit. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** Returns the problem of a name of a schedule. */
export function findScheduleNameProblem(name: string): Problem | undefined {
  if (NAME.test(name)) return undefined
  const message = `must be 1 to 100 letters, digits, ".", "_" and "-", and begin with a letter or digit, got ${JSON.stringify(name)}`
  return { path: '/name', message }
}

/** Returns every problem of a definition, apart from those of its run. */
export function findDefinitionProblems(definition: ScheduleDefinition): readonly Problem[] {
  const { cron, timeZone, jitterMs = 0, catchUp, overlap, run } = definition
  const problems: Problem[] = []
  const add = (path: string, message: string): void => {
    problems.push({ path, message })
  }
  const isKnownZone = timeZone === undefined || isTimeZone(timeZone)
  if (!isKnownZone) {
    add(
      '/timeZone',
      `must be an IANA time zone such as Europe/Berlin, got ${JSON.stringify(timeZone)}`,
    )
  }
  if (cron.length > MAX_CRON_LENGTH) {
    add('/cron', `must have at most ${MAX_CRON_LENGTH} characters, has ${cron.length}`)
  } else {
    const problem = findCronProblem(cron, isKnownZone ? timeZone : undefined)
    if (problem !== undefined) add('/cron', problem)
  }
  if (!Number.isInteger(jitterMs) || jitterMs < 0 || jitterMs > MAX_JITTER_MS) {
    add(
      '/jitterMs',
      `must be an integer from 0 to ${MAX_JITTER_MS}, got ${JSON.stringify(jitterMs)}`,
    )
  }
  addChoice('/catchUp', catchUp, CATCH_UPS)
  addChoice('/overlap', overlap, OVERLAPS)
  if (!isJsonObject(run)) add('/run', 'must be an object: the submission of each tick')
  else {
    const bytes = Buffer.byteLength(JSON.stringify(run))
    if (bytes > MAX_RUN_BYTES)
      add('/run', `must have at most ${MAX_RUN_BYTES} bytes of JSON, has ${bytes}`)
    for (const tag of OWN_TAGS.filter((own) => Object.hasOwn(run.tags ?? {}, own))) {
      add(`/run/tags/${tag}`, 'is set by the schedule itself: use another tag')
    }
  }
  return problems

  function addChoice(path: string, value: string | undefined, choices: readonly string[]): void {
    if (value === undefined || choices.includes(value)) return
    add(path, `must be one of ${choices.join(', ')}, got ${JSON.stringify(value)}`)
  }
}
