/** Records notifications, for tests. */
import type { StoreNotification } from '../../../ports/notifications.ts'

/** Notifications in the order of their arrival. */
export interface RecordedNotifications {
  readonly all: readonly StoreNotification[]
  /** Resolves with the first past or future notification that matches `wanted`. */
  first(wanted: (notification: StoreNotification) => boolean): Promise<StoreNotification>
  /** Forgets the notifications so far. */
  clear(): void
}

/** Maximum time to wait for a notification, in milliseconds. */
const LIMIT_MS = 60_000

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
          reject(new Error(`The notification did not arrive; received ${JSON.stringify(all)}`))
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
