/** Prints results of durable runs, of the embedded store and of Postgres. */
import { printTable } from './report.ts'

/** Stands for a missing result. */
export const NONE = '–'

/** A label, and the results of the embedded store and of Postgres. */
export type StoreRow = readonly [label: string, embedded: string, postgres: string]

/** Prints results of durable runs. */
export function printStores(title: string, rows: readonly StoreRow[]): void {
  printTable({ title, columns: ['', 'embedded', 'Postgres'], rows })
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
