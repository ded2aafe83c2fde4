/** Lists that are read again whenever they may have changed. */
import { createLiveStore, type LiveStore } from './live-store.ts'
import { createRefresher } from './refresher.ts'
import { followServer } from './server-feed.ts'
import { toError } from './to-error.ts'

import type { TuttiClient } from '@tutti/client'

/** A list as it was last read. */
export interface ListView<T> {
  /** Undefined until the list was read. */
  readonly data: T | undefined
  /** Reason why the last read failed; absent after one that succeeded. */
  readonly error?: Error
}

export function createListStore<T>(
  client: TuttiClient,
  read: (signal: AbortSignal) => Promise<T>,
): LiveStore<ListView<T>> {
  return createLiveStore<ListView<T>>({ data: undefined }, ({ signal, update }) => {
    const refresh = createRefresher(async () => {
      try {
        const data = await read(signal)
        update(() => ({ data }))
      } catch (thrown) {
        update(({ data }) => ({ data, error: toError(thrown) }))
      }
    }, signal)
    followServer(client, signal, { onOpen: refresh, onEvent: refresh })
    refresh()
    return refresh
  })
}
