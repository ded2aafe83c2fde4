/** Prints results of durable runs: one line each, the embedded store and then Postgres. */

/** Stands for a missing result. */
export const NONE = '–'

/** Prints the column headers. */
export function printHeading(title: string): void {
  console.log(`## ${title}: embedded | Postgres`)
}

/** Prints one line. */
export function printRow(label: string, embedded: string, postgres: string): void {
  console.log(`${label}: ${embedded} | ${postgres}`)
}

/** Returns the quantile `q` of the values, 0.5 for the median; NaN without values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * q), sorted.length - 1)] ?? Number.NaN
}

/** Formats median and 95th percentile of times in milliseconds. */
export function typicalMs(values: readonly number[]): string {
  return `${ms(quantile(values, 0.5))}, p95 ${ms(quantile(values, 0.95))}`
}

/** Formats a time, with a decimal when it is short. */
export function ms(value: number): string {
  return `${value.toFixed(value < 100 ? 1 : 0)} ms`
}
