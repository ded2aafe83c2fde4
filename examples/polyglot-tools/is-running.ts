/** Whether a process is there, seen from outside. */
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** Whether a process runs. One that has ended and that nobody has asked about yet, a zombie, does not. */
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

/** Waits, at most a second, until none of the processes runs: a signal reaches the child of a child a moment later. */
export async function untilStopped(pids: readonly number[]): Promise<void> {
  for (let look = 0; look < 50 && pids.some(isRunning); look += 1) await setTimeout(20)
}
