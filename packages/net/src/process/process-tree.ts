/**
 * Finding what a program has started that has left its process group, with a session of its own.
 *
 * Every program gets a mark in its environment, which all that it starts inherit. Linux shows it; on
 * other systems nothing is found, and only the group of a program can be ended.
 *
 * T1 However many trees are signalled at the same time, one look at the processes goes on and at most
 *    one waits.
 */
import { readdir, readFile } from 'node:fs/promises'

/** Name of the variable that marks all processes of one program. */
export const TREE_VARIABLE = 'TUTTI_PROCESS_TREE'

/** Sends `signal` to every process that carries `mark`. Never rejects. */
export async function signalMarked(mark: string, signal: NodeJS.Signals): Promise<void> {
  if (process.platform !== 'linux') return
  const trees = await lookAround()
  for (const pid of trees.get(mark) ?? []) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended since.
    }
  }
}

/** Process ids by mark. */
type Trees = ReadonlyMap<string, readonly number[]>

let current: Promise<unknown> = Promise.resolve()
let waiting: Promise<Trees> | undefined

/** The trees as they are after this call. */
function lookAround(): Promise<Trees> {
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

/** The mark of a process, if it has one and may be looked at. */
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
