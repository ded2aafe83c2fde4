/** Makes a server an agent on the `/tasks` wire. */
import { tasksRoutes } from './server/routes.ts'

import type { ServerExtension } from '@tutti/gateway/internal'

/**
 * Creates the extension of a server: `/tasks/send`, `/tasks/sendSubscribe` and `/tasks/cancel`, for all shared ensembles
 * and, below `/agents/{ensemble}`, for each.
 */
export function jamJet(): ServerExtension {
  return { routes: tasksRoutes }
}
