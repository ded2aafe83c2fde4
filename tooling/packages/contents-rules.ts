/**
 * Rules for the contents of a packed package. A rule names each file, and each module can be reached from an
 * entry point or a program. Each import is present or declared, and third-party code comes with its license.
 */
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path/posix'

import ts from 'typescript-api'

import { codeEntryPoints, type Packed } from './tarball.ts'

/** Files at the root of every package. */
const AT_ROOT = ['LICENSE', 'README.md', 'package.json']

const LICENSES = 'THIRD_PARTY_LICENSES.txt'

/** Files known by name; changesets write the change log at the first release. */
const NAMED = [...AT_ROOT, 'CHANGELOG.md', `dist/${LICENSES}`]

/** Folders that are published completely, because they are served or copied instead of imported. */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  '@tutti/server': ['dist/dashboard/', 'dist/docs/'],
  '@tutti/control-api': ['dist/docs/'],
  'create-tutti': ['template/'],
}

/** Names that are a mistake everywhere except in a template. */
const NEVER =
  /(?:\.test\.|\.tsbuildinfo$|\.map$|\.env$|^\.|\/\.|(?:^|\/)(?:src|test|node_modules)\/)/

/** The parts of a packed package that these rules read. */
type Contents = Pick<Packed, 'manifest' | 'files' | 'read'>

/** Returns every problem of the contents. `license` is the text that all packages must contain. */
export function contentsProblems(packed: Contents, license: string): readonly string[] {
  const modules = modulesOf(packed)
  return [
    ...AT_ROOT.filter((name) => !packed.files.includes(name)).map((name) => `${name} is missing`),
    ...(packed.files.includes('LICENSE') && packed.read('LICENSE') !== license
      ? ['LICENSE differs from the license of the project']
      : []),
    ...strayFiles(packed, modules),
    ...wrongImports(packed, modules),
    ...wrongPrograms(packed),
    ...missingLicences(packed, modules),
  ]
}

/** Returns the modules that entry points and programs reach, each with its imports. */
type Modules = ReadonlyMap<string, readonly string[]>

function modulesOf(packed: Contents): Modules {
  const entryPoints = [...codeEntryPoints(packed.manifest).values()].flatMap((entryPoint) =>
    Object.values(entryPoint),
  )
  const queue = [...entryPoints, ...Object.values(packed.manifest.bin ?? {})].map((path) =>
    join(path),
  )
  const found = new Map<string, readonly string[]>()
  for (const path of queue) {
    if (found.has(path) || !packed.files.includes(path)) continue
    const imports = importsOf(packed.read(path))
    found.set(path, imports)
    queue.push(...imports.filter(isRelative).map((to) => target(path, to)))
  }
  return found
}

/** Returns the specifiers of a module, including dynamic imports and imports of types. */
function importsOf(text: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(text, true, true)
  return importedFiles.map(({ fileName }) => fileName)
}

/** Resolves a relative specifier to a file. Declarations contain the name of the code. */
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
    ...packed.files.filter(isMisplaced).map((path) => `${path} must not be in a package`),
    ...unknown.filter((path) => !isModule(path)).map((path) => `${path} is not an expected file`),
    ...(unreached.length === 0
      ? []
      : [
          `${unreached.join(', ')}: not imported; to remove files of an older build, ` +
            'delete "dist" and build again',
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

/** Bundlers mark third-party code with a comment. The license file must name each of these packages. */
function missingLicences(packed: Contents, modules: Modules): readonly string[] {
  const taken = new Set(
    [...modules.keys()].flatMap((path) =>
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

function isRelative(specifier: string): boolean {
  return specifier.startsWith('.')
}
