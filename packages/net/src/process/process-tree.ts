/**
 * Finds descendants of a child process that have left its process group by starting their own session.
 *
 * Every child process gets a mark in its environment, which its descendants inherit. Only Linux shows the environment of
 * other processes; on other systems only the process group can be ended.
 *
 * NET-T1 At most one scan of the processes runs and at most one waits, for any number of trees that are signalled at
 *    once.
 */
import { readdir, readFile } from 'node:fs/promises'

/** Name of the environment variable that marks all processes of one tree. */
export const TREE_VARIABLE = 'TUTTI_PROCESS_TREE'

/** Sends `signal` to every process with the mark. Never rejects. */
export async function signalMarked(mark: string, signal: NodeJS.Signals): Promise<void> {
  if (process.platform !== 'linux') return
  const trees = await scanTrees()
  for (const pid of trees.get(mark) ?? []) {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has ended.
    }
  }
}

/** Process ids by mark. */
type Trees = ReadonlyMap<string, readonly number[]>

let current: Promise<unknown> = Promise.resolve()
let waiting: Promise<Trees> | undefined

/** Returns the trees of a scan that starts after this call. */
function scanTrees(): Promise<Trees> {
  waiting ??= current.then(() => {
    waiting = undefined
    const trees = readTrees()
    current = trees
    return trees
  })
  return waiting
}

async function readTrees(): Promise<Trees> {
  const entries = await readdir('/proc').catch(() => [])
  const pids = entries.filter((entry) => /^\d+$/.test(entry)).map(Number)
  const found = await Promise.all(pids.map(async (pid) => ({ pid, mark: await readMark(pid) })))
  const trees = new Map<string, number[]>()
  for (const { pid, mark } of found) {
    if (mark === undefined) continue
    const tree = trees.get(mark)
    if (tree === undefined) trees.set(mark, [pid])
    else tree.push(pid)
  }
  return trees
}

/** Returns the mark of a process; undefined when it has none or may not be read. */
async function readMark(pid: number): Promise<string | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1')
    const start = `${TREE_VARIABLE}=`
    const variable = environment.split('\0').find((entry) => entry.startsWith(start))
    return variable?.slice(start.length)
  } catch {
    return undefined
  }
}
