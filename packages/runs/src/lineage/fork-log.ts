/**
 * Reads from the log of a run what a fork of it needs.
 *
 * RUNS-E1 A fork at an event is what a crash right after that event would leave, in a new run.
 * RUNS-E3 The records of a fork count no usage of its parent.
 * RUNS-E9 A fork has the events that waits of its parent got after its start, for the same waits.
 */
import { TuttiError, type Clock } from '@tutti/core'
import { isoNow } from '@tutti/core/internal'
import { listEventsForFork } from '@tutti/ensemble/internal'
import { shortList, shortText, suggest } from '@tutti/protocol/internal'

import { toRecordChanges } from '../log/changes.ts'
import type { Change } from '../domain/change.ts'
import { stepsNotRetained } from '../domain/refusals.ts'

import type { ForkedLog } from '../ports/run-store.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { RunRecord } from '../domain/run-record.ts'
import type { ForkPlace } from '../request/new-run.ts'
import type { RunStep } from '@tutti/ensemble/internal'
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

/** Selects the log of a fork. */
export interface ForkQuery {
  readonly parent: RunRecord
  readonly at: ForkPlace
  /** Maximum size of the parent's steps, in bytes. */
  readonly maxStepBytes: number
}

/** Number of events read at a time. */
const PAGE = 500

/** Events that change records. */
const RECORDED: readonly RunEvent['type'][] = [
  'run_resumed',
  'ensemble_started',
  'delegation_started',
  'run_cancelling',
  'task_started',
  'task_completed',
  'task_attempt_failed',
  'task_failed',
  'task_skipped',
  'review_requested',
  'review_decided',
  'review_timed_out',
  'review_withdrawn',
  'ensemble_completed',
]

/** The log that a fork begins with, and the steps of its parent. */
export interface ForkSource {
  readonly fork: ForkedLog
  /** Steps of the parent that the fork copies. */
  readonly copied: readonly RunStep[]
  /** Steps of the parent after them. */
  readonly rest: readonly RunStep[]
}

/**
 * Reads the log of a fork.
 *
 * @throws {TuttiError} BAD_REQUEST when the start is not in the log, or the run ended there; STEPS_NOT_RETAINED;
 * RUN_TOO_LARGE when the steps exceed `maxStepBytes`.
 */
export async function readForkedLog(
  { events, runs }: Pick<RunStorage, 'events' | 'runs'>,
  clock: Clock,
  query: ForkQuery,
): Promise<ForkSource> {
  const { parent, maxStepBytes: maxBytes } = query
  const { runId } = parent
  const at = await findStart(events, query)
  const forkedAt = clock.now()
  const changes: Change[] = []
  const open = new Map<string, string>()
  let hasBegun = false
  for await (const event of readUpTo(events, runId, at)) {
    if (event.type === 'ensemble_completed') {
      throw refuseStart(`The work of run ${runId} ended with event ${event.seq}`)
    }
    hasBegun ||= event.type === 'ensemble_started'
    if (event.type === 'review_requested') open.set(event.reviewId, `review-${crypto.randomUUID()}`)
    else if ('reviewId' in event) open.delete(event.reviewId)
    changes.push(...toRecordChanges(event).map((change) => withoutUsage(change, forkedAt)))
  }
  const copied = await runs.steps(runId, { upTo: at, maxBytes })
  const steps = await runs.steps(runId, { maxBytes })
  const areCopied = !hasBegun || copied.some(({ kind }) => kind === 'run_begun')
  // The steps after the start say which calls the fork repeats.
  const areRead = parent.startedAt === undefined || steps.length > 0
  if (!areCopied || !areRead) throw stepsNotRetained(runId)
  const rest = steps.slice(copied.length)
  const fork: ForkedLog = {
    parent: { runId, at },
    changes: changes.map((change) => withNewReviewId(change, open)),
    copiedSteps: copied.length,
    reviewIds: open,
    events: [{ type: 'run_forked', forkedAt: isoNow(clock), parentRunId: runId, at }],
    steps: [
      { kind: 'run_forked', runMs: 0, startedAt: forkedAt },
      ...listEventsForFork(copied, rest),
    ],
  }
  return { fork, copied, rest }
}

/** Returns the sequence number of the last event to copy. */
async function findStart(
  events: RunStorage['events'],
  { parent: { runId, lastSeq }, at }: ForkQuery,
): Promise<number> {
  if (typeof at === 'number') {
    if (Number.isInteger(at) && at >= 0 && at <= lastSeq) return at
    throw refuseStart(`Run ${runId} has the events 0 to ${lastSeq}, got ${at}`)
  }
  const begun = new Set<string>()
  for await (const event of readUpTo(events, runId, lastSeq)) {
    if (!('taskName' in event) || typeof event.taskName !== 'string') continue
    // A task that another one adds begins with its delegation, which has its text.
    const names = 'workerTask' in event ? [event.taskName, event.workerTask] : [event.taskName]
    if (names.includes(at.task)) return event.seq - 1
    for (const name of names) begun.add(name)
  }
  const meant = suggest(at.task, begun)
  const hint = meant === undefined ? '' : `. Did you mean "${meant}"?`
  const list = begun.size === 0 ? 'none has' : shortList([...begun])
  throw refuseStart(
    `Task "${shortText(at.task)}" has not begun in run ${runId} (begun: ${list})${hint}`,
  )
}

function refuseStart(message: string): TuttiError {
  const problems = [{ path: '/at', message }]
  return new TuttiError('BAD_REQUEST', `Invalid start of a fork: ${message}`, {
    details: { problems },
  })
}

/** Yields the events that change records, up to `at`, page by page. */
async function* readUpTo(
  events: RunStorage['events'],
  runId: string,
  at: number,
): AsyncGenerator<LoggedRunEvent> {
  for (let from = 0; ;) {
    const { events: page } = await events.read({ runId, from, limit: PAGE, types: RECORDED })
    for (const event of page) {
      if (event.seq > at) return
      yield event
    }
    const last = page.at(-1)
    if (last === undefined) return
    from = last.seq + 1
  }
}

/** Removes usage, which the parent has paid for (RUNS-E3). The fork has its own time of start. */
function withoutUsage(change: Change, forkedAt: number): Change {
  if (change.kind === 'run' && change.set.startedAt !== undefined) {
    return { ...change, set: { ...change.set, startedAt: forkedAt } }
  }
  if (change.kind !== 'task') return change
  const { inputTokens: _, outputTokens: __, toolCallCount: ___, costUsd: ____, ...set } = change.set
  return { ...change, set }
}

function withNewReviewId(change: Change, ids: ReadonlyMap<string, string>): Change {
  if (change.kind !== 'new_review') return change
  const reviewId = ids.get(change.review.reviewId)
  if (reviewId === undefined) return change
  const request = { ...change.review.request, reviewId }
  return { ...change, review: { ...change.review, reviewId, request } }
}
