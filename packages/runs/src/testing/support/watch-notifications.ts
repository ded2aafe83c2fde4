/** Waits for notifications of a storage, with a time limit. */
import { isDeepStrictEqual } from 'node:util'

import type { StoreNotification } from '../../ports/notifications.ts'
import type { RunStorage } from '../../ports/run-storage.ts'

/** Maximum time for a notification to reach another process, in milliseconds. */
const LIMIT_MS = 20_000

/** The notifications of a storage since the watch began. */
export interface NotificationWatch {
  /**
   * Resolves when the storage sends that notification, or has sent it since the last wait for the same.
   *
   * @throws {Error} with all received notifications when it takes too long.
   */
  next(wanted: StoreNotification): Promise<void>
  /** The same for the event of a run with that sequence number: some notification has it in its range. */
  events(runId: string, seq: number): Promise<void>
  stop(): void
}

/** Starts to watch. */
export function watchNotifications(storage: RunStorage): NotificationWatch {
  const received: StoreNotification[] = []
  const watchers = new Set<() => void>()
  const stop = storage.listen((notification) => {
    received.push(notification)
    for (const watcher of watchers) watcher()
  })
  const until = (wanted: string, isReceived: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        watchers.delete(look)
        clearTimeout(timer)
        settle()
      }
      const look = (): void => {
        if (isReceived()) end(resolve)
      }
      const timer = setTimeout(() => {
        end(() => {
          reject(
            new Error(
              `No notification of ${wanted} in ${LIMIT_MS} ms, only ${JSON.stringify(received)}`,
            ),
          )
        })
      }, LIMIT_MS)
      watchers.add(look)
      look()
    })
  return {
    stop,
    next: (wanted) =>
      until(JSON.stringify(wanted), () => {
        const at = received.findIndex((notification) => isDeepStrictEqual(notification, wanted))
        if (at !== -1) received.splice(at, 1)
        return at !== -1
      }),
    events: (runId, seq) =>
      until(`event ${seq} of ${runId}`, () =>
        received.some((notification) => isIn(notification, { runId, seq })),
      ),
  }
}

function isIn(
  notification: StoreNotification,
  { runId, seq }: { readonly runId: string; readonly seq: number },
): boolean {
  if (notification.kind !== 'events' || notification.runId !== runId) return false
  return notification.from <= seq && seq <= notification.to
}
