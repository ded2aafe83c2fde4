/** The server as an agent that is asked over the `/tasks` wire: `send`, `sendSubscribe`, `cancel`. */
import type { ResolvedControlApiOptions } from '../options.ts'
import type { Route } from '../routes/route.ts'

/** The routes of the `/tasks` wire. */
export function tasksWireRoutes(_options: ResolvedControlApiOptions): readonly Route[] {
  return []
}
