/** Copies the built dashboard next to a build, with the licenses that the dashboard's own build has collected. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Rolldown } from 'tsdown'

const BUILT = fileURLToPath(new URL('../../apps/dashboard/dist/', import.meta.url))

/** Required parts of a dashboard build. Without the licenses it must not be distributed. */
const NEEDED = ['index.html', 'THIRD_PARTY_LICENSES.txt']

/** Returns a plugin that writes the folder `dashboard/`. */
export function dashboardFiles(): Rolldown.Plugin {
  return {
    name: 'dashboard-files',
    generateBundle({ dir }) {
      const missing = NEEDED.map((name) => join(BUILT, name)).find((path) => !existsSync(path))
      if (missing !== undefined) {
        throw new Error(`The dashboard is not built: ${missing} is missing. Run "npm run build"`)
      }
      // Files of an older build have other names and would never be removed.
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
