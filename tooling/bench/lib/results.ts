/** The results of full benchmarks that the performance page shows: `docs/performance.json`. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

import type { Report } from './report.ts'

/** Results of one benchmark. */
export interface AreaResults extends Report {
  readonly area: string
}

/** Results of one machine, each with its date. */
export interface Results {
  readonly machine: Machine
  readonly areas: readonly (AreaResults & { readonly date: string })[]
}

/** The machine, without its name and paths. */
export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryGiB: number
  readonly node: string
}

const FILE = fileURLToPath(new URL('../../../docs/performance.json', import.meta.url))

/** Returns the recorded results. */
export function readResults(): Results {
  // NOTE: only `recordResults` writes this file.
  return JSON.parse(readFileSync(FILE, 'utf8')) as Results
}

/** Replaces the recorded results of these benchmarks. Results of another machine are dropped. */
export function recordResults(results: readonly AreaResults[]): void {
  const machine = describeMachine()
  const recorded = readResults()
  const isSame = JSON.stringify(recorded.machine) === JSON.stringify(machine)
  const kept = isSame ? recorded.areas : []
  const date = new Date().toISOString().slice(0, 10)
  const areas = [
    ...kept.filter(({ area }) => !results.some((result) => result.area === area)),
    ...results.map((result) => ({ ...result, date })),
  ].toSorted((a, b) => a.area.localeCompare(b.area))
  writeFileSync(FILE, JSON.stringify({ machine, areas }))
  execFileSync('oxfmt', [FILE])
}

function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    node: process.versions.node,
  }
}
