/** Rules for `package.json` of a published package. Pure: takes a manifest and returns problems. */
import type { PackedManifest } from './tarball.ts'

/** Address of the repository. */
export const REPOSITORY = 'https://github.com/tutti-dev/tutti'

/** Version ranges that are valid only inside this workspace. */
const LOCAL_RANGE = /^(?:workspace|catalog|link|file|portal):/

/** Returns every problem of a manifest. `directory` is the folder of its package in the repository. */
export function manifestProblems(
  manifest: PackedManifest,
  directory: string,
  versions: ReadonlyMap<string, string>,
): readonly string[] {
  return [
    ...wrongFields(manifest, directory),
    ...tooFewWords(manifest),
    ...wrongRanges(manifest, versions),
  ]
}

function wrongFields(manifest: PackedManifest, directory: string): readonly string[] {
  const wanted: readonly (readonly [string, unknown, unknown])[] = [
    ['homepage', manifest.homepage, `${REPOSITORY}/tree/main/${directory}#readme`],
    ['bugs.url', manifest.bugs?.url, `${REPOSITORY}/issues`],
    ['repository.type', manifest.repository?.type, 'git'],
    ['repository.url', manifest.repository?.url, `git+${REPOSITORY}.git`],
    ['repository.directory', manifest.repository?.directory, directory],
    ['license', manifest.license, 'Apache-2.0'],
    ['author', manifest.author, 'The Tutti authors'],
    ['type', manifest.type, 'module'],
    ['sideEffects', manifest.sideEffects, false],
    ['engines.node', manifest.engines?.node, '>=22.18'],
    ['publishConfig.access', manifest.publishConfig?.access, 'public'],
    ['exports["./package.json"]', manifest.exports?.['./package.json'], './package.json'],
  ]
  return wanted
    .filter(([, actual, right]) => actual !== right)
    .map(([field, actual, right]) => `${field} is ${shown(actual)}, must be ${shown(right)}`)
}

function tooFewWords({ description = '', keywords = [] }: PackedManifest): readonly string[] {
  return [
    ...(description.length < 20 ? ['description is too short'] : []),
    ...(keywords.length < 5 ? [`has ${keywords.length} keywords, must have at least 5`] : []),
    ...(keywords.includes('tutti') ? [] : ['keywords lack "tutti"']),
  ]
}

/** Packages of this project depend on each other in their own version; third-party packages on a range. */
function wrongRanges(
  manifest: PackedManifest,
  versions: ReadonlyMap<string, string>,
): readonly string[] {
  const ranges = Object.entries({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  })
  return ranges.flatMap(([name, range]) => {
    const version = versions.get(name)
    if (LOCAL_RANGE.test(range))
      return [`${name} has the range "${range}", which is valid only in this workspace`]
    if (version === undefined) {
      return name.startsWith('@tutti/') ? [`${name} is not published`] : []
    }
    return range === `^${version}`
      ? []
      : [`${name} has the range "${range}", must be "^${version}"`]
  })
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value)
}
