/** Checks whether processes are running. */
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** Whether a process is running. A zombie, which has ended but was not reaped, is not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Waits up to a second until all processes have ended: a signal reaches a grandchild a moment later. */
export async function untilStopped(pids: readonly number[]): Promise<void> {
  for (let attempt = 0; attempt < 50 && pids.some(isRunning); attempt += 1) await setTimeout(20)
}
