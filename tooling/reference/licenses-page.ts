/** Generates the page of third-party licenses. */
import { fileURLToPath } from 'node:url'

import { listShippedPackages } from '../packages/licenses.ts'
import { page, table } from './markdown.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the text of `docs/reference/licenses.md`. */
export function licensesPage(): string {
  const byLicense = Map.groupBy(listShippedPackages(ROOT), ({ license }) => license)
  const rows = [...byLicense]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([license, packages]) => [
      license,
      [...new Set(packages.map(({ name }) => name))].join(', '),
    ])
  return page('Third-party licenses', [
    'Tutti itself is under Apache-2.0. This page lists the licenses of the packages that an install of any package of Tutti or the container',
    'image contains, optional ones included. A test refuses licenses that are not permissive.',
    '',
    ...table(['license', 'packages'], rows),
    '',
    'Packages that are bundled into the files of a package, such as those of the dashboard, are in its `dist/THIRD_PARTY_LICENSES.txt`, with the',
    'text of their licenses. The image also contains Node and Debian; its [bill of materials](../../SECURITY.md#what-we-publish) lists them.',
  ])
}
