/** A review where the task stood when it was asked for: what was decided, and by whom. */
import { lazy, memo, Suspense } from 'react'

import { DECISION } from '../../ui/labels.ts'
import { formatClock } from '../../lib/format.ts'
import { Fold } from '../../ui/layout/fold.tsx'
import { Mark, type MarkKind } from '../../ui/show/mark.tsx'
import { Countdown } from '../../ui/show/time.tsx'
import styles from './gate-row.module.css'

import type { ReviewState, ReviewTimeoutAction } from '@tutti/protocol'

const TIMINGS: Readonly<Record<ReviewState['timing'], string>> = {
  BEFORE_EXECUTION: 'Review before the work',
  DURING_EXECUTION: 'Review of a tool call',
  AFTER_EXECUTION: 'Review of the output',
}

const TIMED_OUT: Readonly<Record<ReviewTimeoutAction, string>> = {
  CONTINUE: 'Nobody decided in time: the work went on',
  EXIT_EARLY: 'Nobody decided in time: the run ended early',
  FAIL: 'Nobody decided in time: the task failed',
}

/** What compares texts is loaded when a changed text is looked at. */
const DiffView = lazy(() =>
  import('../../ui/show/diff-view.tsx').then((part) => ({ default: part.DiffView })),
)

/** A review; what it waits for is decided elsewhere on the page. */
export const GateRow = memo(function GateRow({ gate }: { readonly gate: ReviewState }) {
  const { timing, toolName, prompt, feedback, revisedOutput, requestedAt } = gate
  return (
    <article
      aria-label={TIMINGS[timing]}
      className={styles['gate']}
      data-open={gate.status === 'OPEN'}
    >
      <header className={styles['head']}>
        <Mark kind={markOf(gate)} />
        <h3>{TIMINGS[timing]}</h3>
        {toolName !== undefined && <code>{toolName}</code>}
        <span className={styles['outcome']}>{outcomeOf(gate)}</span>
        {gate.status === 'OPEN' && gate.timeoutMs > 0 && (
          <Countdown until={new Date(Date.parse(requestedAt) + gate.timeoutMs).toISOString()} />
        )}
        <span className={styles['clock']}>
          {formatClock(Date.parse(gate.decidedAt ?? requestedAt))}
        </span>
      </header>
      {typeof prompt === 'string' && <p className={styles['words']}>{prompt}</p>}
      {feedback !== undefined && <blockquote className={styles['words']}>{feedback}</blockquote>}
      {revisedOutput !== undefined && (
        <Fold name={`gate-${gate.reviewId}`} summary="What was changed">
          {() => (
            <Suspense>
              <DiffView before={reviewed(gate)} after={revisedOutput} />
            </Suspense>
          )}
        </Fold>
      )}
    </article>
  )
})

function markOf({ status, decision }: ReviewState): MarkKind {
  if (status === 'OPEN') return 'held'
  if (status === 'DECIDED') return decision === 'REJECT' ? 'failed' : 'done'
  return 'skipped'
}

/** How the gate closed, in words. */
function outcomeOf({ status, decision, decidedBy, action, reason }: ReviewState): string {
  switch (status) {
    case 'OPEN':
      return 'waits for a decision'
    case 'DECIDED': {
      const word = decision === undefined ? 'Decided' : DECISION[decision]
      return decidedBy === undefined ? word : `${word} by ${decidedBy}`
    }
    case 'TIMED_OUT':
      return action === undefined ? 'Nobody decided in time' : TIMED_OUT[action]
    case 'WITHDRAWN':
      return `Withdrawn: ${reason ?? 'the work ended'}`
  }
}

/** What the reviewer had before them: the output, or the input that a tool would be given. */
function reviewed({ taskOutput, toolInput }: ReviewState): string {
  if (toolInput === undefined) return taskOutput
  return typeof toolInput === 'string' ? toolInput : JSON.stringify(toolInput, undefined, 2)
}
