/** The end of an attempt that failed, and whether another one follows. */
import { TuttiError } from '@tutti/core'
import { isoNow } from '@tutti/core/internal'

import { DEFAULT_MAX_REVISIONS } from '../definition/review-settings.ts'
import { toStepError, type AttemptHistory } from '../scope/step-log.ts'
import { toUsageFields, type Usage } from '../usage/usage.ts'
import { digestHandlerInput } from './handler-input.ts'
import { RejectedAnswer } from './review-answer.ts'

import type { ContextOutput } from '../definition/handler.ts'
import type { TaskText } from '../definition/task-text.ts'
import type { Revision } from '../ports/run-step.ts'
import type { Reviews } from '../reviews/reviews.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { FinishReason } from '@tutti/protocol/internal'

/** The parts of an attempt that its failure needs. */
export interface FailingAttempt {
  readonly scope: TaskScope
  readonly services: { readonly reviews: Reviews }
  /** Progress of the task before the attempt. */
  readonly progress: AttemptHistory
  readonly signal: AbortSignal
  readonly text: TaskText
  readonly context: readonly ContextOutput[]
}

/** A failed attempt. */
export interface AttemptFailure {
  readonly kind: 'failed'
  readonly error: TuttiError
  readonly used: Usage
  readonly willRetry: boolean
  /** Revision that a reviewer requested. */
  readonly revision: Revision | undefined
}

/** Ends an attempt that a forked run had begun, because the fork request provides the output of the task. */
export function endReplaced(input: FailingAttempt): AttemptFailure {
  const { run } = input.scope
  input.services.reviews.closeUnopened(input.scope)
  return recordFailure(input, {
    error: new TuttiError('INTERRUPTED', 'The fork request provides the output of the task'),
    willRetry: true,
    revision: undefined,
    startedAt: run.clock.elapsed(),
  })
}

/** Ends an attempt with the reason in `thrown`; `startedAt` is the start of its work by the clock of the run. */
export function failAttempt(
  input: FailingAttempt,
  thrown: unknown,
  startedAt: number,
): AttemptFailure {
  const { scope, services, progress, signal } = input
  const { task } = scope
  const rejected = thrown instanceof RejectedAnswer ? thrown : undefined
  const error = rejected?.error ?? TuttiError.from(thrown, 'TASK_FAILED')
  services.reviews.closeUnopened(scope)
  const revision = mayRevise(rejected, progress) ? rejected?.revision : undefined
  const willRetry =
    revision !== undefined ||
    (rejected === undefined &&
      mayRetry(error) &&
      progress.failures < task.retries &&
      !signal.aborted)
  return recordFailure(input, { error, willRetry, revision, startedAt })
}

/** Failure of an attempt, and the start of its work by the clock of the run. */
interface Failure extends Pick<AttemptFailure, 'error' | 'willRetry' | 'revision'> {
  readonly startedAt: number
}

function recordFailure(
  { scope, text, context }: FailingAttempt,
  { error, willRetry, revision, startedAt }: Failure,
): AttemptFailure {
  const { identity, run, totals, task } = scope
  const used = totals.usage()
  const isHandled = task.handler !== undefined && run.recordsSteps
  scope.emit(
    {
      ...(willRetry
        ? { type: 'task_attempt_failed' as const, willRetry }
        : { type: 'task_failed' as const, willRetry }),
      ...identity,
      failedAt: isoNow(run.clock),
      reason: error.message,
      durationMs: Math.round(run.clock.elapsed() - startedAt),
      code: error.code,
      ...toUsageFields(used),
      ...readFinishReason(error),
    },
    {
      kind: 'task_failed',
      error: toStepError(error),
      used,
      willRetry,
      ...(isHandled ? { inputDigest: digestHandlerInput({ text, context }) } : {}),
      ...(revision === undefined ? {} : { revision }),
    },
  )
  return { kind: 'failed', error, used, willRetry, revision }
}

/** Returns the finish reason of an attempt that failed because a model ended its answer early. */
function readFinishReason({ details }: TuttiError): {
  readonly finishReason?: FinishReason
  readonly refusal?: string
} {
  const { finishReason, refusal } = details ?? {}
  if (
    finishReason !== 'length' &&
    finishReason !== 'refusal' &&
    finishReason !== 'content_filter'
  ) {
    return {}
  }
  return typeof refusal === 'string' ? { finishReason, refusal } : { finishReason }
}

function mayRevise(rejected: RejectedAnswer | undefined, { revisions }: AttemptHistory): boolean {
  return revisions < (rejected?.settings.maxRevisions ?? DEFAULT_MAX_REVISIONS)
}

/** Codes of failures that another attempt cannot fix, or that were requested. */
const FINAL: ReadonlySet<string> = new Set([
  'CANCELLED',
  'EXIT_EARLY',
  'BUDGET_EXCEEDED',
  'COMPENSATION_FAILED',
  'CONFIG_INVALID',
  'MODEL_REFUSED',
  'OUTPUT_TRUNCATED',
  'CONTENT_FILTERED',
  'TOOL_CONFIGURATION',
  'GUARDRAIL_VIOLATION',
  'REQUEST_REJECTED',
  'REVIEW_REJECTED',
  'REVIEW_TIMEOUT',
  'CONSTRAINT_VIOLATION',
  'FENCED',
  'INTERRUPTED',
  'REPLAY_MISMATCH',
  'STORE_UNAVAILABLE',
])

/** Whether another attempt at a task, or another try at a step, may follow a failure. */
export function mayRetry({ code, retryable }: Pick<TuttiError, 'code' | 'retryable'>): boolean {
  if (FINAL.has(code)) return false
  return code === 'MODEL_FAILED' ? retryable : true
}
