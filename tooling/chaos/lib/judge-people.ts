/**
 * Checks the replies that people got. Pure.
 *
 * P1 A command with a positive reply is in the log of its run. A cancel whose run ended at the same moment is the
 *    exception: its record may be COMPLETED.
 * P2 A reader saw the log of its run: every event, once, in order, to the end.
 */
import { isDeepStrictEqual } from 'node:util'

import type { Evidence, KeptRun } from './evidence.ts'
import type { Asked } from './people.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Returns the violations, one sentence each. */
export function judgePeople({ asked, seen, runs }: Evidence): readonly string[] {
  const byId = new Map(runs.map((run) => [run.runId, run]))
  const violations: string[] = []
  for (const command of asked) {
    const run = byId.get(command.runId)
    if (command.answer !== 'ok' || run === undefined || isInLog(command, run)) continue
    violations.push(
      `P1 ${command.what.kind} was answered as accepted and is not in the log: ${command.runId}`,
    )
  }
  for (const { runId, events, isWhole } of seen) {
    const log = byId.get(runId)?.events ?? []
    if (!isWhole) violations.push(`P2 a reader did not see the end: ${runId}`)
    const wrong = events.findIndex((event, index) => !isDeepStrictEqual(event, log[index]))
    if (wrong !== -1) {
      violations.push(`P2 a reader saw ${shown(events[wrong])}, not ${shown(log[wrong])}: ${runId}`)
    } else if (events.length !== log.length) {
      violations.push(`P2 a reader saw ${events.length} of ${log.length} events: ${runId}`)
    }
  }
  return violations
}

function isInLog({ what }: Asked, { events, status }: KeptRun): boolean {
  switch (what.kind) {
    case 'cancel':
      return status === 'COMPLETED' || events.some(({ type }) => type === 'run_cancelling')
    case 'switch_model':
      return events.some(({ type }) => type === 'model_switched')
    case 'inject':
      return events.some((e) => e.type === 'directive_active' && e.content === what.content)
    case 'decide':
      return events.some((e) => e.type === 'review_decided' && e.reviewId === what.reviewId)
  }
}

function shown(event: LoggedRunEvent | undefined): string {
  return JSON.stringify(event)?.slice(0, 300) ?? 'nothing'
}
