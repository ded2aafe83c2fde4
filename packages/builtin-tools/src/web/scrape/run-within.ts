/** Bounds work that cannot be told to stop. */
import { runInNewContext } from 'node:vm'

/**
 * What `work` returns, or undefined when it throws or takes longer than `limitMs`. The work is ended
 * wherever it is, also within a regular expression; its `finally` blocks do not run. It blocks its
 * thread while it lasts, so that the limit is also how long others may have to wait.
 */
export function runWithin<T>(limitMs: number, work: () => T): T | undefined {
  try {
    // NOTE: it is the work that is called, and what it returns comes back as it is.
    return runInNewContext('work()', { work }, { timeout: limitMs }) as T
  } catch {
    return undefined
  }
}
