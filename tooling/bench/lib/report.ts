/**
 * Prints the tables and claims of a benchmark, and records them for `bench.ts`, which makes the performance page
 * from them. A claim that does not hold is not a failure.
 */
import { writeFileSync } from 'node:fs'

import { isShort } from './form.ts'

/** A table; the first cell of a row is its label. */
export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A limit that a measurement should reach or not exceed. */
export interface Claim {
  /** The claim, such as `AI SDK takes at least 10 times as long`. */
  readonly text: string
  /** Minimum or maximum value for which the claim holds. */
  readonly atLeast?: number
  readonly atMost?: number
  readonly measured: number
  /** Unit after the measured number, such as ` times`. @default '' */
  readonly unit?: string
}

/** A claim as it is printed. */
export interface ClaimResult {
  readonly text: string
  readonly measured: string
  readonly isMet: boolean
}

/** The tables and claims of a benchmark. */
export interface Report {
  readonly tables: readonly Table[]
  readonly claims: readonly ClaimResult[]
}

/** Names the file to which a benchmark writes its report at its end. */
export const REPORT_FILE = 'TUTTI_BENCH_REPORT'

const tables: Table[] = []
const claims: ClaimResult[] = []

const file = process.env[REPORT_FILE]
if (file !== undefined) {
  // A fixture that this process starts must not write it.
  delete process.env[REPORT_FILE]
  process.once('exit', () => {
    const report: Report = { tables, claims }
    writeFileSync(file, JSON.stringify(report))
  })
}

/** Returns what was printed so far. */
export function currentReport(): Report {
  return { tables: [...tables], claims: [...claims] }
}

/** Returns whether the claim holds; false for NaN. */
export function isMet({ atLeast, atMost, measured }: Claim): boolean {
  return measured >= (atLeast ?? -Infinity) && measured <= (atMost ?? Infinity)
}

/** Returns the claim as it is printed. */
export function toClaimResult(claim: Claim): ClaimResult {
  return {
    text: claim.text,
    measured: Number.isNaN(claim.measured)
      ? 'not measured'
      : `${formatNumber(claim.measured)}${claim.unit ?? ''}`,
    isMet: isMet(claim),
  }
}

/** Prints the claim, the measurement, and whether the claim holds; nothing in the short form. */
export function printClaim(claim: Claim): void {
  if (isShort()) return
  const result = toClaimResult(claim)
  claims.push(result)
  console.log(`CLAIM ${result.text}: ${result.measured}, ${result.isMet ? 'met' : 'NOT met'}`)
}

/** Prints the table in Markdown, with aligned columns. */
export function printTable(table: Table): void {
  tables.push(table)
  console.log(`\n## ${table.title}\n\n${formatTable(table)}\n`)
}

/** Returns the table in Markdown. */
export function formatTable({ columns, rows }: Table): string {
  const lines = [columns, ...rows]
  const widths = columns.map((_, at) => Math.max(3, ...lines.map((line) => line[at]?.length ?? 0)))
  const formatLine = (cells: readonly string[]): string =>
    `| ${widths.map((width, at) => (cells[at] ?? '').padEnd(width)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [formatLine(columns), rule, ...rows.map(formatLine)].join('\n')
}

/** Formats a number with three digits at most, or without a fraction: 0.123, 1.23, 12.3, 1,234. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) < 1 ? 3 : Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0
  return value.toLocaleString('en-US', { maximumFractionDigits: digits })
}
