/** What is known of an attempt that failed and was followed by another. */
import { Notice } from '../../ui/feedback/notice.tsx'
import styles from './earlier-attempt.module.css'
import { GateRow } from './gate-row.tsx'

import type { EarlierAttempt as Attempt, GateState } from '@tutti/protocol'

/** Why it failed, and its reviews. */
export function EarlierAttempt({
  attempt: { attempt, reason, code },
  gates,
}: {
  readonly attempt: Attempt
  /** The gates of its task. */
  readonly gates: readonly GateState[]
}) {
  return (
    <div className={styles['attempt']}>
      <Notice tone="failed" title={`Attempt ${attempt} failed`}>
        {reason} <code>{code}</code>
      </Notice>
      {gates
        .filter((gate) => gate.attempt === attempt)
        .map((gate) => (
          <GateRow key={gate.reviewId} gate={gate} />
        ))}
      <p className={styles['soft']}>
        The run went on with another attempt. What this one did step by step is in its events.
      </p>
    </div>
  )
}
