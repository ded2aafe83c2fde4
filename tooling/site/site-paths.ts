/** Paths of pages on the site. */
import { posix } from 'node:path'

import { DOCUMENTATION_INDEX } from '../docs/navigation.ts'

/** Path of the page that has all schemas. */
export const SCHEMAS_PATH = 'api/schemas.md'

/** Returns the path on the site of a page of the repository, or of another file in `docs`. */
export function toSitePath(path: string): string {
  if (path === DOCUMENTATION_INDEX) return 'documentation.md'
  return path
    .replace(/^docs\//, '')
    .replace(/(^|\/)README\.md$/, '$1index.md')
    .replace(/^ARCHITECTURE\.md$/, 'architecture.md')
}

/** Returns a link from one page of the site to another one. */
export function relativeTo(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to)
}
