/** Spans of reviews, from the request to the decision, and span events of directives and model switches. */
import { SpanKind } from '@opentelemetry/api'
import { eventTime } from '@tutti/protocol/internal'

import { TUTTI } from './attributes.ts'
import { reviewKey } from './span-keys.ts'
import { findAttempt, findAttemptByName, toTaskAttributes } from './task-spans.ts'
import { findOrOpenCall } from './tool-spans.ts'

import type { OpenSpan, SpanEnd } from './open-span.ts'
import type { SpanTable, TracedEvent } from './span-table.ts'
import type { RunEventOf } from '@tutti/protocol'

const NAMES = {
  BEFORE_EXECUTION: 'review before task',
  DURING_EXECUTION: 'review during task',
  AFTER_EXECUTION: 'review after task',
} as const satisfies Record<RunEventOf<'review_requested'>['timing'], string>

/** Takes an event of a review; returns whether it is one. */
export function takeReviewEvent(table: SpanTable, event: TracedEvent): boolean {
  const { nowMs } = table
  switch (event.type) {
    case 'review_requested':
      begin(table, event)
      return true
    case 'review_decided':
      end(table, event.reviewId, {
        endMs: nowMs,
        attributes: {
          [TUTTI.reviewDecision]: event.decision,
          [TUTTI.reviewDecidedBy]: event.decidedBy,
        },
      })
      return true
    case 'review_timed_out':
      endTimedOut(table, event)
      return true
    case 'review_withdrawn':
      end(table, event.reviewId, {
        endMs: nowMs,
        attributes: { [TUTTI.reviewDecision]: 'WITHDRAWN' },
      })
      return true
    default:
      return false
  }
}

/** Takes directives and model switches. */
export function takeSteeringEvent(table: SpanTable, event: TracedEvent): void {
  const { nowMs, root } = table
  switch (event.type) {
    case 'directive_active':
      root?.addEvent('tutti.directive.active', nowMs, {
        'tutti.directive.id': event.directiveId,
        'tutti.directive.to': event.to,
        'tutti.directive.actor': event.actor,
      })
      return
    case 'directive_delivered':
      findAttempt(table, event)?.span.addEvent('tutti.directive.delivered', nowMs, {
        'tutti.directive.id': event.directiveId,
        [TUTTI.iteration]: event.iterationIndex,
      })
      return
    case 'model_switched':
      findSwitchedSpan(table, event)?.addEvent('tutti.model.switched', nowMs, {
        'tutti.model.to': event.model,
        'tutti.model.from': event.previousModel,
        'tutti.model.actor': event.actor,
      })
      return
    default:
  }
}

/** Returns the span of a model switch: the current attempt of its task, else the run. */
function findSwitchedSpan(
  table: SpanTable,
  { taskName }: RunEventOf<'model_switched'>,
): OpenSpan | undefined {
  if (taskName === undefined) return table.root
  return table.attempts.get(taskName)?.span ?? table.root
}

function begin(table: SpanTable, event: RunEventOf<'review_requested'>): void {
  const { reviewId, timing, timeoutMs, taskName } = event
  if (table.added.findHost(taskName) !== undefined) return
  const key = reviewKey(table.runId, reviewId)
  if (table.find(key) !== undefined) return
  const attempt = timing === 'BEFORE_EXECUTION' ? undefined : findAttemptByName(table, event)
  const startMs = eventTime(event) ?? table.nowMs
  const span = table.open({
    key,
    name: NAMES[timing],
    kind: SpanKind.INTERNAL,
    startMs,
    parent: findParent(table, event, startMs),
    owner: attempt?.key,
    attributes: {
      ...toTaskAttributes(event),
      [TUTTI.reviewId]: reviewId,
      [TUTTI.reviewTiming]: timing,
    },
  })
  if (timeoutMs > 0) span.set({ [TUTTI.reviewDueMs]: startMs + timeoutMs })
}

/**
 * Returns the parent of a review: the reviewed call, the attempt whose output is reviewed, or the parent of a task that
 * has not begun.
 */
function findParent(
  table: SpanTable,
  event: RunEventOf<'review_requested'>,
  startMs: number,
): OpenSpan | undefined {
  const { toolCallId, timing, taskName, toolName } = event
  const attempt = findAttemptByName(table, event)
  if (timing === 'BEFORE_EXECUTION' || attempt === undefined) {
    return table.delegations.get(taskName) ?? table.root
  }
  if (toolCallId === undefined) return attempt.span
  const { iterationIndex } = attempt
  return findOrOpenCall(table, attempt, { toolCallId, toolName, iterationIndex, startMs })
}

function end(table: SpanTable, reviewId: string, how: SpanEnd): void {
  const span = table.find(reviewKey(table.runId, reviewId))
  if (span !== undefined) table.end(span, how)
}

/** Ends a review at its timeout, or later if no process owned the run then; the event has no time. */
function endTimedOut(table: SpanTable, { reviewId, action }: RunEventOf<'review_timed_out'>): void {
  const span = table.find(reviewKey(table.runId, reviewId))
  if (span === undefined) return
  const dueMs = Number(span.attributes[TUTTI.reviewDueMs] ?? 0)
  table.end(span, {
    endMs: Math.max(dueMs, table.nowMs),
    attributes: { [TUTTI.reviewDecision]: action, [TUTTI.reviewTimedOut]: true },
  })
}
