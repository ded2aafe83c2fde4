/** Measures the disk, because durable runs wait for it. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

import { printTable } from './report.ts'
import { typicalMs } from './runs-table.ts'
import { nowMs } from './runs-teams.ts'
import { sized } from './form.ts'

const WRITES = sized(200, 5)
const BLOCK = Buffer.alloc(4_096, 1)

/** Prints the time of a small synced write, and the load of this machine, on which results depend. */
export function printDisk(): void {
  const directory = mkdtempSync(join(tmpdir(), 'tutti-bench-'))
  const file = openSync(join(directory, 'block'), 'w')
  try {
    const times = Array.from({ length: WRITES }, () => {
      const beginMs = nowMs()
      writeSync(file, BLOCK)
      fdatasyncSync(file)
      return nowMs() - beginMs
    })
    const [load = 0] = loadavg()
    printTable({
      title: 'The disk meanwhile',
      columns: ['synced write of 4 KiB', 'load of the machine'],
      rows: [[typicalMs(times), load.toFixed(1)]],
    })
  } finally {
    closeSync(file)
    rmSync(directory, { recursive: true })
  }
}
