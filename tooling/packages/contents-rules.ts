/**
 * Rules for the contents of a packed package: a rule allows each file, and third-party code comes with its license.
 * publint checks entry points and programs, "are the types wrong" the declarations, and `fresh-install.test.ts` imports.
 */
import { skillProblems } from './skill-rules.ts'
import type { Packed } from './tarball.ts'

/** Files at the root of every package. */
const AT_ROOT = ['LICENSE', 'README.md', 'package.json']

const LICENSES = 'THIRD_PARTY_LICENSES.txt'

const CHANGELOG = 'CHANGELOG.md'

/** Maximum number of lines that a change log has for one release. A longer one says how a release was built. */
const MAX_RELEASE_LINES = 60

/** Files known by name; changesets write the change log of a new package at its first release. */
const NAMED = [...AT_ROOT, CHANGELOG, `dist/${LICENSES}`]

/** Folders that are published completely, because they are served or copied instead of imported. */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  '@tutti/server': ['dist/dashboard/', 'dist/docs/'],
  '@tutti/control-api': ['dist/docs/'],
  'create-tutti': ['template/'],
}

/** Names that are a mistake everywhere except in a template. */
const NEVER =
  /(?:\.test\.|\.tsbuildinfo$|\.map$|\.env$|^\.|\/\.|(?:^|\/)(?:src|test|node_modules)\/)/

/** A module or its declarations. */
const MODULE = /^dist\/.*\.(?:js|d\.ts)$/

/** A page for coding agents. */
const PAGE = /^(?:docs\/.*\.md|skills\/[^/]+\/SKILL\.md)$/

/** The parts of a packed package that these rules read. */
type Contents = Pick<Packed, 'manifest' | 'files' | 'read'>

/** Returns every problem of the contents. `license` is the text that all packages must contain. */
export function contentsProblems(packed: Contents, license: string): readonly string[] {
  return [
    ...AT_ROOT.filter((name) => !packed.files.includes(name)).map((name) => `${name} is missing`),
    ...(packed.files.includes('LICENSE') && packed.read('LICENSE') !== license
      ? ['LICENSE differs from the license of the project']
      : []),
    ...changelogProblems(packed),
    ...skillProblems(packed),
    ...strayFiles(packed),
    ...missingLicences(packed),
  ]
}

/** A change log has a section for the version of the package that is short enough to be read. */
function changelogProblems({
  manifest: { name, version },
  files,
  read,
}: Contents): readonly string[] {
  if (!files.includes(CHANGELOG)) return []
  const [title = '', ...sections] = read(CHANGELOG).split(/^## /m)
  const section = sections.find((text) => text.startsWith(`${version}\n`))
  if (title.trim() !== `# ${name}`) return [`${CHANGELOG} must begin with "# ${name}"`]
  if (section === undefined) return [`${CHANGELOG} has no section "## ${version}"`]
  const lines = section.trim().split('\n').length
  return lines > MAX_RELEASE_LINES
    ? [`${CHANGELOG} has ${lines} lines for ${version}, at most ${MAX_RELEASE_LINES} are allowed`]
    : []
}

function strayFiles(packed: Contents): readonly string[] {
  const whole = wholeFolders(packed)
  return packed.files.flatMap((path) => {
    const isWhole = whole.some((folder) => path.startsWith(folder))
    if (isWhole ? /\.map$|node_modules\//.test(path) : NEVER.test(path))
      return [`${path} must not be in a package`]
    const isKnown = isWhole || NAMED.includes(path) || MODULE.test(path) || PAGE.test(path)
    return isKnown ? [] : [`${path} is not an expected file`]
  })
}

/** Bundlers mark third-party code with a comment. The license file must name each of these packages. */
function missingLicences(packed: Contents): readonly string[] {
  const taken = new Set(
    packed.files
      .filter((path) => MODULE.test(path))
      .flatMap((path) =>
        [
          ...packed.read(path).matchAll(/^\/\/#region .*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//gm),
        ].flatMap(([, name]) => name ?? []),
      ),
  )
  const notices = packed.files.includes(`dist/${LICENSES}`) ? packed.read(`dist/${LICENSES}`) : ''
  const missing = [...taken].filter((name) => !notices.includes(`${name} `))
  const bare = wholeFolders(packed).filter(
    (folder) => folder.startsWith('dist/') && !packed.files.includes(folder + LICENSES),
  )
  return [
    ...missing.map((name) => `code of ${name} is bundled without its license`),
    ...bare.map((folder) => `${folder}${LICENSES} is missing`),
  ]
}

function wholeFolders({ manifest }: Contents): readonly string[] {
  return WHOLE[manifest.name] ?? []
}
