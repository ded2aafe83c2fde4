/** Creates the files of a new project from those in `template/`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

import { translateCommands, type PackageManager } from './package-manager.ts'

// NOTE: sources and build are both in a folder of the package.
const PACKAGE = fileURLToPath(new URL('..', import.meta.url))

export interface ProjectFile {
  /** Path in the project, with `/`. */
  readonly path: string
  readonly content: string
}

/** Values that are inserted into the files. */
export interface TemplateValues {
  readonly name: string
  readonly packageManager: PackageManager
  /** Version of all `@tutti` packages, which are released together with this one. */
  readonly version: string
}

/** Returns the version of this package. */
export function readOwnVersion(): string {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))
  return version
}

/** Returns all files of a project, sorted by path in the template. */
export function createProjectFiles(values: TemplateValues): readonly ProjectFile[] {
  const template = join(PACKAGE, 'template')
  return readdirSync(template, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(template, join(entry.parentPath, entry.name)))
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(template, path), 'utf8')
      return { path: toProjectPath(path), content: toContent(path, text, values) }
    })
}

/** Converts a path of the template. npm does not pack `.gitignore`, so such files start with `_` in the template. */
function toProjectPath(path: string): string {
  return path.replaceAll(sep, '/').replace(/^_/, '.')
}

function toContent(path: string, text: string, values: TemplateValues): string {
  if (path === 'package.json') return toManifest(text, values)
  if (path === 'README.md')
    return translateCommands(values.packageManager, withTitle(text, values.name))
  const hasCommands = path.endsWith('.md') || path === 'Dockerfile'
  return hasCommands ? translateCommands(values.packageManager, text) : text
}

function withTitle(text: string, title: string): string {
  return text.replace(/^# .*$/m, () => `# ${title}`)
}

function toManifest(text: string, { name, version }: TemplateValues): string {
  const manifest: {
    readonly name: string
    readonly dependencies: Readonly<Record<string, string>>
  } = JSON.parse(text)
  const dependencies = Object.entries(manifest.dependencies).map(([dependency, range]) => [
    dependency,
    dependency.startsWith('@tutti/') ? `^${version}` : range,
  ])
  const created = { ...manifest, name, dependencies: Object.fromEntries(dependencies) }
  return `${JSON.stringify(created, undefined, 2)}\n`
}
