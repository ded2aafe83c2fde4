/** A directive in the list of what people did. */
import { formatClock, formatDuration } from '../../lib/format.ts'
import { useNow } from '../../lib/use-now.ts'
import { Text } from '../../ui/show/text.tsx'
import styles from './steering-log.module.css'

import type { Arrival, DirectiveAct } from './steering-entries.ts'

/** What was said, by whom and to whom, and which model calls were shown it. */
export function DirectiveActView({
  act,
  isOver,
}: {
  readonly act: DirectiveAct
  readonly isOver: boolean
}) {
  const { by, to, priority, expiresAt, arrivals } = act
  const isWaiting = arrivals.length === 0 && !isOver
  const now = useNow(isWaiting && expiresAt !== undefined)
  const isExpired = expiresAt !== undefined && Date.parse(expiresAt) <= now
  return (
    <>
      <p>
        <b>{by ?? 'Somebody'}</b>
        {` told ${to ?? 'the whole run'}`}
        <span className={styles['soft']}>
          {priority === 'NORMAL' ? '' : ` · ${priority.toLowerCase()} priority`}
          {expiresAt === undefined
            ? ''
            : ` · in force until ${formatClock(Date.parse(expiresAt)).slice(0, 8)}`}
        </span>
      </p>
      <Text className={styles['quote'] ?? ''}>{act.content}</Text>
      {arrivals.length > 0 && (
        <ul className={styles['effects']}>
          {arrivals.map((arrival) => (
            <li key={`${arrival.taskName} ${arrival.attempt} ${arrival.iterationIndex}`}>
              {arrivalWords(arrival)}
            </li>
          ))}
        </ul>
      )}
      {arrivals.length === 0 && (
        <p className={styles['pending']}>
          {isExpired && 'Expired before a model call could show it'}
          {!isExpired && isOver && 'The run ended before a model call could show it'}
          {!isExpired && !isOver && 'Not delivered yet: the next model call shows it'}
        </p>
      )}
    </>
  )
}

function arrivalWords({ taskName, attempt, iterationIndex, at, ...since }: Arrival): string {
  const again = attempt > 1 ? ` of attempt ${attempt}` : ''
  const clock = formatClock(at).slice(0, 8)
  const call = `Reached ${taskName} at model call ${iterationIndex + 1}${again}, ${clock}`
  return `${call}${sinceWords(since)}`
}

function sinceWords({ afterMs, isAtMost }: Pick<Arrival, 'afterMs' | 'isAtMost'>): string {
  if (afterMs === undefined) return ''
  return `, ${isAtMost ? 'at most ' : ''}${formatDuration(afterMs)} after`
}
