/** Observes processes of this machine. */
import { readdirSync, readFileSync } from 'node:fs'

import { until } from './wait.ts'

/** Returns whether the process runs. A zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return statOf(pid)?.state !== 'Z'
}

/** Returns the children of this process. On Linux only. */
export function children(): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => statOf(pid)?.parent === process.pid)
}

/** Waits until a process has ended. */
export function untilGone(pid: number): Promise<void> {
  return until(`the end of process ${pid}`, () => !isRunning(pid))
}

/** Waits for a file that a process writes, up to its final line end, and returns its text. */
export async function untilWritten(path: string): Promise<string> {
  let text = ''
  await until(`a line in ${path}`, () => {
    text = readIfThere(path)
    return text.endsWith('\n')
  })
  return text.trim()
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Reads state and parent of a process from `/proc`. */
function statOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}
