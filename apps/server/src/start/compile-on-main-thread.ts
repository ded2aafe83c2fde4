/**
 * Makes V8 compile hot code on the main thread, on machines without a free core. By default it does so on up to four
 * threads, and each leaves the memory of its largest compilation to the allocator: 25 to 60 MiB after some thousand runs.
 * The processor time of a run is the same, so one or two cores lose nothing. With free cores, the first runs are faster
 * with these threads.
 *
 * V8 reads the flag only when it starts. So the program replaces itself: the process keeps its id, its environment and
 * its standard streams, and only the start of Node is repeated.
 */
import { availableParallelism } from 'node:os'

const FLAG = '--no-concurrent-recompilation'

/** Number of cores that requests and runs keep busy under load: the event loop, and the thread of the store. */
const BUSY_CORES = 2

/** Replaces the process, unless it has free cores or the flag, or cannot be replaced. */
export function compileOnMainThread(cores = availableParallelism()): void {
  const { argv, argv0, env, execArgv, execPath } = process
  if (cores > BUSY_CORES || execArgv.includes(FLAG) || !isReplaceable()) return
  process.execve?.(execPath, [argv0, FLAG, ...execArgv, ...argv.slice(1)], env)
}

/** Whether this is not Windows, a process without permission to start others, or one that its parent sends messages. */
function isReplaceable(): boolean {
  const { permission, platform, send } = process
  return platform !== 'win32' && permission === undefined && send === undefined
}
