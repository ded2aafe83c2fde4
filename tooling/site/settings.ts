/** Public addresses of the project, and the version that the documentation describes. */
import { readFileSync } from 'node:fs'

import { DOCUMENTATION_URL } from '../../packages/control-api/src/documents/introduction.ts'
import { REPOSITORY } from '../packages/manifest-rules.ts'

/** Version in `package.json` before the first release. */
const UNRELEASED = '0.0.0'

/** Addresses and version to which pages refer. */
export interface SiteSettings {
  /** Path below which the site is served, with a slash at both ends. */
  readonly base: string
  /** Version of all packages, such as `v0.1.0`, or `unreleased`. */
  readonly version: string
  /** Address of the repository. */
  readonly repository: string
  /** Tag or branch to which links to files lead. */
  readonly ref: string
  /** Address at which the site of the latest version is served. */
  readonly latest: string
}

/** Returns the settings of a site that is served below `base`. @default the path of its public address */
export function readSettings(base: string = new URL(DOCUMENTATION_URL).pathname): SiteSettings {
  const manifest = readFileSync(new URL('../../apps/server/package.json', import.meta.url), 'utf8')
  const { name, version }: { name: string; version: string } = JSON.parse(manifest)
  const isReleased = version !== UNRELEASED
  return {
    base,
    version: isReleased ? `v${version}` : 'unreleased',
    repository: REPOSITORY,
    // A release tags each package.
    ref: isReleased ? `${name}@${version}` : 'main',
    latest: DOCUMENTATION_URL,
  }
}
