/**
 * Formats a duration in milliseconds as Java does, such as `PT1M2.345S`: in hours, minutes and seconds, never days.
 *
 * @see https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/time/Duration.html#toString()
 */
export function formatJavaDuration(ms: number): string {
  const total = Math.max(0, Math.round(ms))
  const hours = Math.floor(total / 3_600_000)
  const minutes = Math.floor((total % 3_600_000) / 60_000)
  const seconds = (total % 60_000) / 1_000
  const parts = [
    hours === 0 ? '' : `${hours}H`,
    minutes === 0 ? '' : `${minutes}M`,
    seconds === 0 && total > 0 ? '' : `${seconds}S`,
  ]
  return `PT${parts.join('')}`
}
