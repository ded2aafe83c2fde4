/** Finds the built dashboard: the build puts it beside the program, sources have the package. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import type { TuttiConfig } from '../config/config.ts'
import type { Environment } from '../environment/env.ts'
import type { Logger } from '@tutti/core'

/** What a server may lack beside its config. */
export interface DashboardParts {
  readonly logger: Pick<Logger, 'warn'>
  /** Folders to look in. @default beside the program, then in the package */
  readonly places?: readonly URL[]
}

/** Beside the built program; see `tooling/build/dashboard-files.ts`. */
const BUILT = './dashboard/'

/** In the package, seen from its manifest. */
const IN_PACKAGE = './dist/'

/**
 * The folder of the dashboard that this process serves; undefined where it serves none. An installation
 * that lacks it is no reason not to start: runs go on without a page, and the log says what to do.
 */
export function dashboardOf(
  { dashboard = true }: Pick<TuttiConfig, 'dashboard'>,
  { role }: Pick<Environment, 'role'>,
  { logger, places = knownPlaces() }: DashboardParts,
): string | undefined {
  if (!dashboard || role === 'worker') return undefined
  const found = places.find((place) => existsSync(new URL('index.html', place)))
  if (found !== undefined) return fileURLToPath(found)
  logger.warn(
    'The dashboard is missing in this installation, so browsers get a text at "/". Install ' +
      '@tutti/server again, or in its repository run "npm run build"; without a need for it, ' +
      'set dashboard: false in the config file',
    { tried: places.map((place) => fileURLToPath(place)) },
  )
  return undefined
}

function knownPlaces(): readonly URL[] {
  return [new URL(BUILT, import.meta.url), ...packagedPlace()]
}

function packagedPlace(): readonly URL[] {
  try {
    return [new URL(IN_PACKAGE, import.meta.resolve('@tutti/dashboard/package.json'))]
  } catch {
    // An installation has no such package.
    return []
  }
}
