/**
 * Notices the end of the package manager that started this process.
 *
 * `npm start` runs a shell, and the shell runs this program. npm forwards SIGTERM to the shell only, and SIGHUP or a
 * kill to nobody, so that a server would stay behind with its port and its data directory.
 *
 * A parent that is not a package manager is not watched: `nohup`, systemd and other supervisors stop a server with a
 * signal of their own.
 */
import { readFileSync } from 'node:fs'

/** Time between two looks, in milliseconds. */
const POLL_MS = 500

const SHELL = /^(?:ash|bash|busybox|dash|ksh|sh|zsh)$/

/**
 * Calls `onGone` once, when the package manager has ended; does nothing in a process that no package manager started,
 * or that has been put into the background already. Returns a function that stops watching.
 */
export function watchParent(variables: NodeJS.ProcessEnv, onGone: () => void): () => void {
  // Set by npm, pnpm, yarn and bun for the scripts that they run. Windows keeps the parent id of an orphan.
  const isScript = variables['npm_lifecycle_event'] !== undefined
  if (!isScript || process.platform === 'win32' || process.ppid === 1) return () => undefined
  const parent = process.ppid
  // A shell outlives a package manager that was killed, and waits for this process.
  const grandparent = SHELL.test(processField(parent, 'comm')) ? parentOf(parent) : undefined
  const timer = setInterval(() => {
    const isThere =
      process.ppid === parent && (grandparent === undefined || parentOf(parent) === grandparent)
    if (isThere) return
    clearInterval(timer)
    onGone()
  }, POLL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** The parent of a process; undefined where the system has no `/proc`. */
function parentOf(pid: number): string | undefined {
  // The name in parentheses may hold spaces: the fields are counted from its end.
  return /\) \S+ (\d+) [^)]*$/.exec(processField(pid, 'stat'))?.[1]
}

function processField(pid: number, name: 'comm' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8').trim()
  } catch {
    return ''
  }
}
