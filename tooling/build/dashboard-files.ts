/**
 * Puts the built dashboard beside a build, with the licences of everything in it, which its own build
 * has gathered.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Rolldown } from 'tsdown'

const BUILT = fileURLToPath(new URL('../../apps/dashboard/dist/', import.meta.url))

/** What a build of the dashboard has; without the licences nobody may be given it. */
const NEEDED = ['index.html', 'THIRD_PARTY_LICENSES.txt']

/** A plugin that writes the folder `dashboard/`. */
export function dashboardFiles(): Rolldown.Plugin {
  return {
    name: 'dashboard-files',
    generateBundle({ dir }) {
      const missing = NEEDED.map((name) => join(BUILT, name)).find((path) => !existsSync(path))
      if (missing !== undefined) {
        throw new Error(`The dashboard is not built: ${missing} is missing. Run "npm run build"`)
      }
      // The files of an older build have other names, and would stay for ever.
      if (dir !== undefined) rmSync(join(dir, 'dashboard'), { recursive: true, force: true })
      for (const path of filesIn(BUILT)) {
        const name = relative(BUILT, path).replaceAll(sep, '/')
        this.emitFile({
          type: 'asset',
          fileName: `dashboard/${name}`,
          source: readFileSync(path),
        })
      }
    },
  }
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}
