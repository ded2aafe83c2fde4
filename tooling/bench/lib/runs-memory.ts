/** Measures the memory that runs leave in a process with an embedded store. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { NONE, printHeading, printRow } from './runs-table.ts'
import { sized } from './form.ts'

import type { Places } from './runs-places.ts'

/** Input of the program: one JSON argument. */
export interface MemoryTold {
  readonly directory: string
  readonly runs: number
}

/** Output of the program: one line of JSON, in bytes. */
export interface MemorySaid {
  readonly heapBefore: number
  readonly heapAfter: number
  readonly resident: number
}

const RUNS = sized(5_000, 50)
const TIMEOUT_MS = 60_000
const MIB = 1024 * 1024

/** Executes runs in a separate process; returns a function that prints the results. */
export async function measureMemory(places: Places): Promise<() => void> {
  const program = fileURLToPath(new URL('../fixtures/runs-memory.ts', import.meta.url))
  const place = places.embedded()
  const directory = 'directory' in place ? place.directory : ''
  const told: MemoryTold = { directory, runs: RUNS }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', program, JSON.stringify(told)],
    { timeout: TIMEOUT_MS },
  )
  // NOTE: the program prints only this.
  const { heapBefore, heapAfter, resident } = JSON.parse(stdout) as MemorySaid
  return () => {
    printHeading(`memory after ${RUNS} runs`)
    printRow('resident', mib(resident), NONE)
    printRow('heap before and after', `${mib(heapBefore)}, ${mib(heapAfter)}`, NONE)
    printRow('heap a run', `${((heapAfter - heapBefore) / RUNS).toFixed(0)} bytes`, NONE)
  }
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`
}
