/** Pure: formats times, numbers and money for people. */

/** Formats a duration: `340 ms`, `4.2 s`, `3m 05s`, `2h 10m`. */
export function formatTerminalDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m ${pad(seconds % 60)}s`
  return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`
}

/** Formats an elapsed time: `0:07`, `12:40`, `1:02:03`. A negative time counts as zero. */
export function formatStopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}:${pad(seconds % 60)}`
  return `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(seconds % 60)}`
}

/** Formats a count with its noun: `1 tool call`, `2,314 tokens`. */
export function formatTerminalCount(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}

/** Formats US dollars; amounts below one dollar with two significant digits. */
export function formatDollars(usd: number): string {
  if (usd === 0 || usd >= 0.995) return `$${usd.toFixed(2)}`
  return `$${Number(usd.toPrecision(2)).toFixed(countDecimals(usd))}`
}

function countDecimals(usd: number): number {
  return Math.min(8, Math.max(2, 1 - Math.floor(Math.log10(usd))))
}

function pad(count: number): string {
  return String(count).padStart(2, '0')
}

const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
] as const

/** Formats a duration in its largest unit: `12 s`, `5 min`, `3 h`, `2 d`. A negative one counts as zero. */
export function formatAge(ms: number): string {
  const unit = UNITS.find((known) => ms >= known.ms)
  if (unit === undefined) return `${Math.max(0, Math.floor(ms / 1_000))} s`
  return `${Math.floor(ms / unit.ms)} ${unit.name}`
}
