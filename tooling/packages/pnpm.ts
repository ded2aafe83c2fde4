/** The pnpm of this repository, for installs in other folders. */
import { readFileSync } from 'node:fs'

const MANIFEST = new URL('../../package.json', import.meta.url)

/**
 * Returns the arguments with which `npx` runs pnpm, in the version that package.json names, from npm's cache or the
 * registry. The checksum of that version is left out: with it, npm does not find the version in its cache, asks the
 * registry at each call, and repeats that for minutes without a network.
 */
export function pnpmArguments(...words: readonly string[]): readonly string[] {
  const { packageManager }: { readonly packageManager: string } = JSON.parse(
    readFileSync(MANIFEST, 'utf8'),
  )
  const [version = packageManager] = packageManager.split('+')
  return ['--yes', '--prefer-offline', version, ...words]
}
