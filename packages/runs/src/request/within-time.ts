/**
 * Runs code that must not hold the thread for long, such as a regular expression that somebody else wrote:
 * V8 stops it when its time is over, wherever it is.
 *
 * @see https://nodejs.org/api/vm.html#scriptrunincontextcontextifiedobject-options
 */
import { createContext, Script } from 'node:vm'

const script = new Script('work()')
const surroundings: { work?: () => void } = {}
const context = createContext(surroundings)

/** What work gave that had no time to end. */
export const OUT_OF_TIME = Symbol('out of time')

/** What `work` gives, or throws; {@link OUT_OF_TIME} when it takes longer than so many milliseconds. */
export function withinTime<T>(limitMs: number, work: () => T): T | typeof OUT_OF_TIME {
  let given: T | typeof OUT_OF_TIME = OUT_OF_TIME
  surroundings.work = () => {
    given = work()
  }
  try {
    script.runInContext(context, { timeout: limitMs })
  } catch (error) {
    if (!isTimeout(error)) throw error
  } finally {
    delete surroundings.work
  }
  return given
}

/** The error is one of the context, whose `Error` is another. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    Reflect.get(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}
