/** Detects unhandled rejections in tests. */
import { afterEach, beforeEach } from 'vitest'

/** Fails every test of the file that leaves an unhandled rejection. */
export function failOnUnhandledRejections(): void {
  const unhandled: unknown[] = []
  const record = (reason: unknown): void => {
    unhandled.push(reason)
  }
  beforeEach(() => {
    unhandled.length = 0
    process.on('unhandledRejection', record)
  })
  afterEach(async () => {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    process.off('unhandledRejection', record)
    if (unhandled.length > 0) throw new Error('Unhandled rejection', { cause: unhandled })
  })
}
