/** Pure: how long ago something was, or how long there is left, in one number. */

const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
] as const

/** A time in its largest unit: `12 s`, `5 min`, `3 h`, `2 d`. Less than nothing is nothing. */
export function age(ms: number): string {
  const unit = UNITS.find((known) => ms >= known.ms)
  if (unit === undefined) return `${Math.max(0, Math.floor(ms / 1_000))} s`
  return `${Math.floor(ms / unit.ms)} ${unit.name}`
}
