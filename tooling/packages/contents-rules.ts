/**
 * What a packed package may hold. Nothing that nobody reads: each file is named by a rule here, each module is
 * reached from a door or a program of the package. Nothing that is missing: what is imported is there or declared,
 * and code of others comes with its licence.
 */
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path/posix'

import ts from 'typescript-api'

import { doorsOf, type Packed } from './tarball.ts'

/** Files that stand at the root of every package. */
const AT_ROOT = ['LICENSE', 'README.md', 'package.json']

const LICENCES = 'THIRD_PARTY_LICENSES.txt'

/** Files that are known by their names; changesets write the change log at the first release. */
const NAMED = [...AT_ROOT, 'CHANGELOG.md', `dist/${LICENCES}`]

/** Folders that are shipped whole, since no module imports them: served as files, or copied. */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  '@tutti/server': ['dist/dashboard/', 'dist/docs/'],
  '@tutti/control-api': ['dist/docs/'],
  'create-tutti': ['template/'],
}

/** Names that are a mistake wherever they are, but in a template. */
const NEVER =
  /(?:\.test\.|\.tsbuildinfo$|\.map$|\.env$|^\.|\/\.|(?:^|\/)(?:src|test|node_modules)\/)/

/** As much of a packed package as is looked at here. */
type Contents = Pick<Packed, 'manifest' | 'files' | 'read'>

/** Every problem of what a package holds; `license` is the text that all packages carry. */
export function contentsProblems(packed: Contents, license: string): readonly string[] {
  const modules = modulesOf(packed)
  return [
    ...AT_ROOT.filter((name) => !packed.files.includes(name)).map((name) => `${name} is missing`),
    ...(packed.files.includes('LICENSE') && packed.read('LICENSE') !== license
      ? ['LICENSE is not that of the project']
      : []),
    ...strayFiles(packed, modules),
    ...wrongImports(packed, modules),
    ...wrongPrograms(packed),
    ...missingLicences(packed, modules),
  ]
}

/** Modules that doors and programs lead to, each with what it imports. */
type Modules = ReadonlyMap<string, readonly string[]>

function modulesOf(packed: Contents): Modules {
  const doors = [...doorsOf(packed.manifest).values()].flatMap((door) => Object.values(door))
  const queue = [...doors, ...Object.values(packed.manifest.bin ?? {})].map((path) => join(path))
  const found = new Map<string, readonly string[]>()
  for (const path of queue) {
    if (found.has(path) || !packed.files.includes(path)) continue
    const imports = importsOf(packed.read(path))
    found.set(path, imports)
    queue.push(...imports.filter(isRelative).map((to) => target(path, to)))
  }
  return found
}

/** The specifiers of a module, late ones and those in types too. */
function importsOf(text: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(text, true, true)
  return importedFiles.map(({ fileName }) => fileName)
}

/** The file that a relative specifier means: declarations write the name of the code. */
function target(from: string, to: string): string {
  const path = join(dirname(from), to)
  return from.endsWith('.d.ts') && !path.endsWith('.d.ts') ? path.replace(/\.js$/, '.d.ts') : path
}

function strayFiles(packed: Contents, modules: Modules): readonly string[] {
  const whole = wholeFolders(packed)
  const isWhole = (path: string): boolean => whole.some((folder) => path.startsWith(folder))
  const isMisplaced = (path: string): boolean =>
    isWhole(path) ? /\.map$|node_modules\//.test(path) : NEVER.test(path)
  const isKnown = (path: string): boolean =>
    isWhole(path) || modules.has(path) || NAMED.includes(path)
  const unknown = packed.files.filter((path) => !isMisplaced(path) && !isKnown(path))
  const isModule = (path: string): boolean => /^dist\/.*\.(?:js|d\.ts)$/.test(path)
  const unreached = unknown.filter(isModule)
  return [
    ...packed.files.filter(isMisplaced).map((path) => `${path} has no place in a package`),
    ...unknown
      .filter((path) => !isModule(path))
      .map((path) => `${path} is not a file that packages have`),
    ...(unreached.length === 0
      ? []
      : [
          `${unreached.join(', ')}: imported by nobody; files of an older build go with ` +
            '"dist", so delete it and build',
        ]),
  ]
}

function wrongImports({ manifest, files }: Contents, modules: Modules): readonly string[] {
  const declared = new Set([
    manifest.name,
    ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
  ])
  return [...modules].flatMap(([path, imports]) =>
    imports.flatMap((to) => {
      if (isRelative(to)) {
        return files.includes(target(path, to)) ? [] : [`${path} imports ${to}, which is missing`]
      }
      if (isBuiltin(to)) return []
      const [name = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(to) ?? []
      return declared.has(name) ? [] : [`${path} imports ${to}, which is not declared`]
    }),
  )
}

function wrongPrograms({ manifest, files, read }: Contents): readonly string[] {
  return Object.entries(manifest.bin ?? {}).flatMap(([name, path]) => {
    if (!files.includes(join(path))) return [`the program ${name} is missing: ${path}`]
    return read(join(path)).startsWith('#!/usr/bin/env node\n')
      ? []
      : [`the program ${name} does not begin with "#!/usr/bin/env node"`]
  })
}

/** Bundlers leave a note at code that comes from elsewhere; what they took must be named in the licences. */
function missingLicences(packed: Contents, modules: Modules): readonly string[] {
  const taken = new Set(
    [...modules.keys()].flatMap((path) =>
      [
        ...packed.read(path).matchAll(/^\/\/#region .*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//gm),
      ].flatMap(([, name]) => name ?? []),
    ),
  )
  const told = packed.files.includes(`dist/${LICENCES}`) ? packed.read(`dist/${LICENCES}`) : ''
  const untold = [...taken].filter((name) => !told.includes(`${name} `))
  const bare = wholeFolders(packed).filter(
    (folder) => folder.startsWith('dist/') && !packed.files.includes(folder + LICENCES),
  )
  return [
    ...untold.map((name) => `code of ${name} is taken in without its licence`),
    ...bare.map((folder) => `${folder}${LICENCES} is missing`),
  ]
}

function wholeFolders({ manifest }: Contents): readonly string[] {
  return WHOLE[manifest.name] ?? []
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith('.')
}
