/** Whether a process is there, seen from outside. */
import { readFileSync } from 'node:fs'

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
