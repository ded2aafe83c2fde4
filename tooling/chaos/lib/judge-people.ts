/**
 * Checks the replies that people got. Pure.
 *
 * CHAOS-P1 A command with a positive reply is in the log of its run. A cancel whose run ended at the same moment is the
 *    exception: its record may be COMPLETED. So is a command that may be lost (`lost-changes.ts`).
 * CHAOS-P2 A reader saw the log of its run: every event, once, in order, to the end. An event that differs from the
 *    log, or is beyond its end, may rest on lost changes. A reader that is refused as beyond the end has seen such an
 *    event.
 *    A fork is refused as invalid only if the event that it begins at may be lost.
 * CHAOS-P3 A run that is not found is lost or deleted. The readers of a deleted run may see less.
 */
import { isDeepStrictEqual } from 'node:util'

import { findGoneRuns, mayBeLost, mayRestOnLost } from './lost-changes.ts'

import type { Evidence, KeptRun } from './evidence.ts'
import type { Asked, Seen } from './people.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Returns the violations, one sentence each. */
export function judgePeople(evidence: Evidence): readonly string[] {
  const { asked, seen, runs } = evidence
  const gone = findGoneRuns(evidence)
  const deleted = new Set(evidence.deleted.map(({ runId }) => runId))
  const byId = new Map(runs.map((run) => [run.runId, run]))
  const violations: string[] = []
  for (const command of asked) {
    const run = byId.get(command.runId)
    if (command.answer === 'RUN_NOT_FOUND' && !gone.has(command.runId)) {
      violations.push(`P3 ${command.what.kind} did not find its run: ${command.runId}`)
    }
    if (command.answer === 'BAD_REQUEST' && !mayRestOnLost(evidence, command.from)) {
      violations.push(`P2 ${command.what.kind} was refused as invalid: ${command.runId}`)
    }
    if (command.answer !== 'ok' || run === undefined || isInLog(command, run)) continue
    if (mayBeLost(evidence, command)) continue
    violations.push(
      `P1 ${command.what.kind} was answered as accepted and is not in the log: ${command.runId}`,
    )
  }
  for (const reader of seen) {
    const { runId } = reader
    if (deleted.has(runId)) continue
    const log = byId.get(runId)?.events ?? []
    const isLost = gone.has(runId)
    const found = [...judgeEnd(reader, { evidence, isLost }), ...judgeSeen(reader, log, evidence)]
    violations.push(...found.map((violation) => `${violation}: ${runId}`))
  }
  return violations
}

function judgeEnd(
  { isWhole, refusal, times }: Seen,
  { evidence, isLost }: { readonly evidence: Evidence; readonly isLost: boolean },
): readonly string[] {
  if (isWhole) return []
  if (refusal === 'RUN_NOT_FOUND') return isLost ? [] : ['P3 a reader did not find its run']
  const isBehind = refusal === 'CURSOR_PAST_END' && mayRestOnLost(evidence, times.at(-1) ?? 0)
  return isBehind ? [] : ['P2 a reader did not see the end']
}

function judgeSeen(
  { events, times, isWhole }: Seen,
  log: readonly LoggedRunEvent[],
  evidence: Evidence,
): readonly string[] {
  const mayDiffer = (index: number): boolean => mayRestOnLost(evidence, times[index] ?? 0)
  const isRight = (event: LoggedRunEvent, index: number): boolean =>
    isDeepStrictEqual(event, log[index]) || (event.seq === index && mayDiffer(index))
  const wrong = events.findIndex((event, index) => !isRight(event, index))
  if (wrong !== -1) return [`P2 a reader saw ${shown(events[wrong])}, not ${shown(log[wrong])}`]
  return !isWhole || events.length === log.length || mayDiffer(events.length - 1)
    ? []
    : [`P2 a reader saw ${events.length} of ${log.length} events`]
}

function isInLog({ what }: Asked, { events, status }: KeptRun): boolean {
  switch (what.kind) {
    case 'cancel':
      return status === 'COMPLETED' || events.some(({ type }) => type === 'run_cancelling')
    case 'switch_model':
      return events.some(({ type }) => type === 'model_switched')
    case 'inject':
      return events.some((e) => e.type === 'directive_active' && e.content === what.content)
    case 'fork':
    case 'delete':
      // `judge-kept.ts` looks for the fork and the deleted run.
      return true
    case 'decide':
      return events.some((e) => e.type === 'review_decided' && e.reviewId === what.reviewId)
  }
}

function shown(event: LoggedRunEvent | undefined): string {
  return JSON.stringify(event)?.slice(0, 300) ?? 'nothing'
}
