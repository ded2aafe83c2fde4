/** The calls of one turn that failed, and what was done after each. */
import { formatClock, formatDuration } from '../../lib/format.ts'
import { Mark } from '../../ui/show/mark.tsx'
import styles from './turn-failures.module.css'

import type { TurnFailure } from '@tutti/protocol'

/** The failures in order; `isAgain` when the last one was followed by another call. */
export function TurnFailures({
  failures,
  isAgain,
}: {
  readonly failures: readonly TurnFailure[]
  readonly isAgain: boolean
}) {
  return (
    <ul aria-label="Failed calls" className={styles['failures']}>
      {failures.map((failure, at) => (
        // A turn only gains failures.
        <li key={`${at}-${failure.failedAt}`}>
          <Mark kind="failed" label="Failed" />
          <span className={styles['words']}>
            <span className={styles['reason']}>{failure.reason}</span>{' '}
            <code className={styles['code']}>{failure.code}</code>
            <span className={styles['next']}>
              {nextOf(failure, isAgain || at < failures.length - 1)}
            </span>
          </span>
          <span className={styles['when']}>
            {formatClock(Date.parse(failure.failedAt))} after {formatDuration(failure.latencyMs)}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** What came, or comes, after a failed call. */
function nextOf(
  { model, retryInMs, retryAfterMs, nextModel }: TurnFailure,
  isAgain: boolean,
): string {
  const asked =
    retryAfterMs === undefined || retryInMs !== undefined
      ? ''
      : `; it asks to wait ${formatDuration(retryAfterMs)}`
  if (nextModel !== undefined) return `${model} → ${nextModel}: the fallback is asked next${asked}`
  if (retryInMs === undefined) return `${model}: not asked again${asked}`
  const wait = formatDuration(retryInMs)
  return isAgain ? `${model} was asked again after ${wait}` : `${model} is asked again in ${wait}`
}
