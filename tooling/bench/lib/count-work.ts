/**
 * Counts work in units that do not depend on the speed of the machine: executed blocks of JavaScript of this repository
 * in the main thread, characters that JSON reads and writes, and bytes that the process reads from files.
 */
import { existsSync, readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'

/** The work of a function. */
export interface CountedWork {
  /** Executed functions, branches and bodies of loops, by the precise coverage of V8. */
  readonly blocks: number
  /** Characters that `JSON.stringify` returned and `JSON.parse` got. */
  readonly json: number
  /** Bytes read from files and pipes, as Linux counts them; 0 elsewhere. */
  readonly read: number
}

// Only functions that are compiled later have counters of their blocks, so counting starts with the process.
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

/** Does `work` and returns what it took. Only one call at a time. */
export async function countWork(work: () => Promise<unknown>): Promise<CountedWork> {
  // Taking the counts resets them.
  await session.post('Profiler.takePreciseCoverage')
  const { parse, stringify } = JSON
  let json = 0
  // The wrappers pass on all arguments, whose types differ between the overloads.
  JSON.parse = (...args: Parameters<typeof parse>): unknown => {
    json += args[0].length
    return parse(...args)
  }
  JSON.stringify = (...args: readonly unknown[]): string => {
    const text: string | undefined = Reflect.apply(stringify, JSON, args)
    json += text?.length ?? 0
    // NOTE: undefined for a value without JSON, as in the original.
    return text as string
  }
  const before = readBytes()
  try {
    await work()
  } finally {
    Object.assign(JSON, { parse, stringify })
  }
  const read = readBytes() - before
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const counts = result
    .filter(({ url }) => /\/packages\/[\w-]+\/(?:dist|src)\//.test(url))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)))
  return { blocks: counts.reduce((sum, count) => sum + count, 0), json, read }
}

const IO = '/proc/self/io'

function readBytes(): number {
  if (!existsSync(IO)) return 0
  return Number(/^rchar: (\d+)/.exec(readFileSync(IO, 'utf8'))?.[1])
}
