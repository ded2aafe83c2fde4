/** Instants and durations that update while they are shown. */
import { formatAgo, formatDuration, formatInstant } from '../../lib/format.ts'
import { useNow } from '../../lib/use-now.ts'

/** The age of an instant (ISO 8601), with the instant as its tooltip. */
export function Ago({ at }: { readonly at: string }) {
  const now = useNow()
  const instant = Date.parse(at)
  return (
    <time dateTime={at} title={formatInstant(instant)}>
      {formatAgo(instant, now)}
    </time>
  )
}

interface ElapsedProps {
  /** Start (ISO 8601); undefined before it starts. */
  readonly since: string | undefined
  /** Duration in milliseconds; null or undefined while it is running. */
  readonly ms: number | null | undefined
}

/** The duration of something, or the elapsed time while it is running. */
export function Elapsed({ since, ms }: ElapsedProps) {
  const isRunning = since !== undefined && (ms === undefined || ms === null)
  const now = useNow(isRunning)
  if (!isRunning) return <>{formatDuration(ms)}</>
  const span = Math.max(0, now - Date.parse(since))
  return <>{formatDuration(Math.floor(span / 1_000) * 1_000)}</>
}

interface WorkTimeProps {
  readonly work: {
    readonly status: string
    readonly startedAt?: string
    readonly completedAt?: string
    readonly durationMs?: number
  }
}

/** The duration of a task or a call, or its elapsed time while it is running. */
export function WorkTime({ work: { status, startedAt, completedAt, durationMs } }: WorkTimeProps) {
  if (status === 'RUNNING') return <Elapsed since={startedAt} ms={undefined} />
  const derivedMs = Date.parse(completedAt ?? '') - Date.parse(startedAt ?? '')
  return <>{formatDuration(durationMs ?? derivedMs)}</>
}

/** The time left until an instant (ISO 8601). */
export function Countdown({ until }: { readonly until: string }) {
  const left = Math.max(0, Date.parse(until) - useNow())
  // The clock ticks once a second, so tenths are omitted.
  return (
    <time dateTime={until}>
      {left === 0
        ? 'time is up'
        : `${formatDuration(Math.ceil(left / 1_000) * 1_000).replace('.0', '')} left`}
    </time>
  )
}
