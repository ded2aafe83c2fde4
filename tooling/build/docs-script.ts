/**
 * Copies the script of the page at `/docs` next to a build, with the licenses of everything in it.
 *
 * The script is Scalar's own bundle, one self-contained file. Its source map lists its contents: third-party
 * packages (`node_modules/`) and packages of Scalar.
 */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

import type { Rolldown } from 'tsdown'

const PACKAGE = new URL(
  '../../packages/control-api/node_modules/@scalar/api-reference/',
  import.meta.url,
)

/** Returns a plugin that writes `docs/reference.js` and `docs/THIRD_PARTY_LICENSES.txt`. */
export function docsScript(): Rolldown.Plugin {
  return {
    name: 'docs-script',
    generateBundle() {
      const folder = realpathSync(PACKAGE)
      const script = join(folder, 'dist/browser/standalone.js')
      const licenses = packagesIn(`${script}.map`).map((name) => readLicense(name, folder))
      this.emitFile({ type: 'asset', fileName: 'docs/reference.js', source: readFileSync(script) })
      this.emitFile({
        type: 'asset',
        fileName: 'docs/THIRD_PARTY_LICENSES.txt',
        source: licenses.join('\n\n'),
      })
    },
  }
}

/** Returns the names of the packages in a bundle, from its source map. */
function packagesIn(map: string): readonly string[] {
  const { sources }: { readonly sources: readonly string[] } = JSON.parse(readFileSync(map, 'utf8'))
  const names = sources.flatMap((source) => {
    const last = source.slice(source.lastIndexOf('node_modules/'))
    const [, other] = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(last) ?? []
    const [, own] = /^(?:\.\.\/)+([a-z-]+)\/dist\//.exec(source) ?? []
    return other ?? (own === undefined ? [] : `@scalar/${own}`)
  })
  return [...new Set(['@scalar/api-reference', ...names])].toSorted()
}

/** Returns the license text of a package, or the name of its license if it ships no text. */
function readLicense(name: string, from: string): string {
  const folder = folderOf(name, from)
  if (folder === undefined) return `${name}\n\nPart of Scalar's bundle; not installed here\n`
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const text = textIn(folder) ?? (name.startsWith('@scalar/') ? textOfScalar(from) : undefined)
  return `${name} ${version} (${license})\n\n${text ?? 'Ships no text'}\n`
}

/** Scalar's packages come from one repository with one license; only some ship its text. */
function textOfScalar(from: string): string | undefined {
  const folder = folderOf('@scalar/components', from)
  return folder === undefined ? undefined : textIn(folder)
}

function textIn(folder: string): string | undefined {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(?:[.-]|$)/i.test(entry))
  return file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim()
}

/** Returns the folder of a package. pnpm stores each package in a folder named by package and version. */
function folderOf(name: string, from: string): string | undefined {
  const [modules = ''] = from.split('/.pnpm/')
  const store = join(modules, '.pnpm')
  const entry = readdirSync(store).find((folder) => folder.startsWith(`${name.replace('/', '+')}@`))
  return entry === undefined ? undefined : join(store, entry, 'node_modules', name)
}
