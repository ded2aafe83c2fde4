/** What no test may leave behind: a rejection that nobody handles. */
import { afterEach, beforeEach } from 'vitest'

/** Makes every test of the file fail that leaves an unhandled rejection. */
export function failOnUnhandledRejections(): void {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => {
    unhandled.push(reason)
  }
  beforeEach(() => {
    unhandled.length = 0
    process.on('unhandledRejection', note)
  })
  afterEach(async () => {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    process.off('unhandledRejection', note)
    if (unhandled.length > 0) throw new Error('A rejection was not handled', { cause: unhandled })
  })
}
