/** What a listener hears, for tests. */
import type { StoreNotification } from '../../ports/run-storage.ts'

/** Notifications as they come. */
export interface RecordedNotifications {
  readonly all: readonly StoreNotification[]
  /** Resolves with the first notification, heard already or to come, that `wanted` takes. */
  first(wanted: (notification: StoreNotification) => boolean): Promise<StoreNotification>
  /** Forgets what was heard so far. */
  clear(): void
}

/** How long to wait for a notification, in milliseconds. */
const LIMIT_MS = 10_000

/** Listens with `listen` for as long as the process lives. */
export function recordNotifications(
  listen: (listener: (notification: StoreNotification) => void) => void,
): RecordedNotifications {
  const all: StoreNotification[] = []
  const waiting = new Set<() => void>()
  listen((notification) => {
    all.push(notification)
    for (const look of waiting) look()
  })
  return {
    all,
    first(wanted) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(`The notification did not come; heard were ${JSON.stringify(all)}`))
        }, LIMIT_MS)
        const look = (): void => {
          const found = all.find(wanted)
          if (found === undefined) return
          clearTimeout(timer)
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      })
    },
    clear() {
      all.length = 0
    },
  }
}
