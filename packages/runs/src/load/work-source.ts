/** The caller whose work is being done. Queues and the budget of bytes are fair to callers. */
import { AsyncLocalStorage } from 'node:async_hooks'

import type { Reservation } from './byte-budget.ts'

/** The sender of a request or message. */
export interface WorkSource {
  /** Name of the API key; without keys, the address of the caller. */
  readonly key: string
  /** Connection over which the request came. */
  readonly connection: object
  /** Bytes that the request holds until it has been answered. */
  readonly held?: Pick<Reservation, 'grow'>
}

/** Source of work that no caller has requested. */
const OWN_WORK: WorkSource = { key: '', connection: {} }

const sources = new AsyncLocalStorage<WorkSource>()

/** Does work for a caller: `currentSource` returns `source` in `work` and in everything that it starts. */
export function workFor<T>(source: WorkSource, work: () => T): T {
  return sources.run(source, work)
}

/** Returns the caller whose work is being done. */
export function currentSource(): WorkSource {
  return sources.getStore() ?? OWN_WORK
}
