/** Finds the built dashboard: next to the built program, or in its package when running from sources. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import type { TuttiConfig } from '../config/config.ts'
import type { Environment } from '../environment/env.ts'
import type { Logger } from '@tutti/core'

/** Logger and search path of `findDashboard`. */
export interface DashboardParts {
  readonly logger: Pick<Logger, 'warn'>
  /** Folders to search. @default next to the program, then in the package */
  readonly folders?: readonly URL[]
}

/** Folder next to the built program; see `tooling/build/dashboard-files.ts`. */
const BUILT = './dashboard/'

/** Folder in the package, relative to its manifest. */
const IN_PACKAGE = './dist/'

/**
 * Returns the folder of the dashboard that this process serves; undefined when it serves none. If the installation lacks
 * the dashboard, the server starts without it, and the log recommends what to do.
 */
export function findDashboard(
  { dashboard = true }: Pick<TuttiConfig, 'dashboard'>,
  { role }: Pick<Environment, 'role'>,
  { logger, folders = listFolders() }: DashboardParts,
): string | undefined {
  if (!dashboard || role === 'worker') return undefined
  const found = folders.find((folder) => existsSync(new URL('index.html', folder)))
  if (found !== undefined) return fileURLToPath(found)
  logger.warn(
    'The dashboard is missing in this installation, so "/" shows only text. Install @tutti/server ' +
      'again, or run "npm run build" in its repository. To turn the dashboard off, set ' +
      'dashboard: false in the config file',
    { tried: folders.map((folder) => fileURLToPath(folder)) },
  )
  return undefined
}

function listFolders(): readonly URL[] {
  return [new URL(BUILT, import.meta.url), ...findPackagedPlace()]
}

function findPackagedPlace(): readonly URL[] {
  try {
    return [new URL(IN_PACKAGE, import.meta.resolve('@tutti/dashboard/package.json'))]
  } catch {
    // An installation does not contain this package.
    return []
  }
}
