/** How the figures of durable runs are printed: a line each, the embedded store and then Postgres. */

/** A figure that there is none of. */
export const NONE = '–'

/** Prints what the columns of the lines below are. */
export function printHeading(title: string): void {
  console.log(`## ${title}: embedded | Postgres`)
}

/** Prints one line. */
export function printRow(label: string, embedded: string, postgres: string): void {
  console.log(`${label}: ${embedded} | ${postgres}`)
}

/** The value below which the share `q` of the values lies, 0.5 for the median; NaN when there is none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * q), sorted.length - 1)] ?? Number.NaN
}

/** Median and 95th percentile of times in milliseconds, as text. */
export function typicalMs(values: readonly number[]): string {
  return `${ms(quantile(values, 0.5))}, p95 ${ms(quantile(values, 0.95))}`
}

/** A time as text: with a digit after the point when it is short. */
export function ms(value: number): string {
  return `${value.toFixed(value < 100 ? 1 : 0)} ms`
}
