/** Instants and spans that go on while one looks at them. */
import { formatAgo, formatDuration, formatInstant } from '../../lib/format.ts'
import { useNow } from '../../lib/use-now.ts'

/** How long ago an instant (ISO 8601) was; the instant itself when one points at it. */
export function Ago({ at }: { readonly at: string }) {
  const now = useNow()
  const instant = Date.parse(at)
  return (
    <time dateTime={at} title={formatInstant(instant)}>
      {formatAgo(instant, now)}
    </time>
  )
}

/** How long something took, or has been taking so far when its length is not known yet. */
export function Elapsed({
  since,
  ms,
}: {
  /** ISO 8601; absent when it has not begun. */
  readonly since: string | undefined
  /** Its length when it is over. */
  readonly ms: number | null | undefined
}) {
  const isRunning = since !== undefined && (ms === undefined || ms === null)
  const now = useNow(isRunning)
  if (!isRunning) return <>{formatDuration(ms)}</>
  const span = Math.max(0, now - Date.parse(since))
  return <>{formatDuration(Math.floor(span / 1_000) * 1_000)}</>
}

/** The time that is left until an instant (ISO 8601). */
export function Countdown({ until }: { readonly until: string }) {
  const left = Math.max(0, Date.parse(until) - useNow())
  // The clock ticks each second; tenths would stand still.
  return (
    <time dateTime={until}>
      {left === 0
        ? 'time is up'
        : `${formatDuration(Math.ceil(left / 1_000) * 1_000).replace('.0', '')} left`}
    </time>
  )
}
