/**
 * Detects the end of the package manager that started this process.
 *
 * `npm start` runs a shell, and the shell runs this program. npm forwards SIGTERM only to the shell, and does not forward
 * SIGHUP or a kill, so that the server would stay behind with its port and its data directory.
 *
 * Other parents are not watched: `nohup`, systemd and other supervisors stop a server with a signal.
 */
import { readFileSync } from 'node:fs'
import type { ProcessVariables } from '../environment/env-table.ts'

/** Time between two checks, in milliseconds. */
const POLL_MS = 500

const SHELL = /^(?:ash|bash|busybox|dash|ksh|sh|zsh)$/

/**
 * Calls `onGone` once when the package manager has ended. Does not watch in a process that no package manager started,
 * or that is in the background already. Returns a function that stops watching.
 */
export function watchParent(variables: ProcessVariables, onGone: () => void): () => void {
  // npm, pnpm, yarn and bun set it for the scripts that they run. On Windows, the parent id of an orphan does not change.
  const isScript = variables['npm_lifecycle_event'] !== undefined
  if (!isScript || process.platform === 'win32' || process.ppid === 1) return () => undefined
  const parent = process.ppid
  // The shell outlives a killed package manager, because it waits for this process.
  const grandparent = SHELL.test(readProcessField(parent, 'comm')) ? findParent(parent) : undefined
  const timer = setInterval(() => {
    const isAlive =
      process.ppid === parent && (grandparent === undefined || findParent(parent) === grandparent)
    if (isAlive) return
    clearInterval(timer)
    onGone()
  }, POLL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Returns the parent of a process; undefined on systems without `/proc`. */
function findParent(pid: number): string | undefined {
  // The name in parentheses may contain spaces, so the fields are counted from its end.
  return /\) \S+ (\d+) [^)]*$/.exec(readProcessField(pid, 'stat'))?.[1]
}

function readProcessField(pid: number, name: 'comm' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8').trim()
  } catch {
    return ''
  }
}
