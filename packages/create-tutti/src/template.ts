/** The files of a new project, made of those in `template/`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

import { inWordsOf, type PackageManager } from './package-manager.ts'

// NOTE: sources and build are both one folder below that of the package.
const PACKAGE = fileURLToPath(new URL('..', import.meta.url))

/** A file of a project. */
export interface ProjectFile {
  /** From the folder of the project on, with `/`. */
  readonly path: string
  readonly content: string
}

/** What the files are made for. */
export interface ProjectFacts {
  readonly name: string
  readonly packageManager: PackageManager
  /** Version of all `@tutti` packages, which are released together with this one. */
  readonly version: string
}

/** The version of this package. */
export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))
  return version
}

/** All files of a project, by path. */
export function projectFiles(facts: ProjectFacts): readonly ProjectFile[] {
  const template = join(PACKAGE, 'template')
  return readdirSync(template, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(template, join(entry.parentPath, entry.name)))
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(template, path), 'utf8')
      return { path: pathInProject(path), content: contentOf(path, text, facts) }
    })
}

/** npm leaves `.gitignore` out of packages: here such files begin with `_`. */
function pathInProject(path: string): string {
  return path.replaceAll(sep, '/').replace(/^_/, '.')
}

function contentOf(path: string, text: string, facts: ProjectFacts): string {
  if (path === 'package.json') return manifestOf(text, facts)
  if (path === 'README.md') return inWordsOf(facts.packageManager, withTitle(text, facts.name))
  const hasCommands = path.endsWith('.md') || path === 'Dockerfile'
  return hasCommands ? inWordsOf(facts.packageManager, text) : text
}

function withTitle(text: string, title: string): string {
  return text.replace(/^# .*$/m, () => `# ${title}`)
}

function manifestOf(text: string, { name, version }: ProjectFacts): string {
  const manifest: {
    readonly name: string
    readonly dependencies: Readonly<Record<string, string>>
  } = JSON.parse(text)
  const dependencies = Object.entries(manifest.dependencies).map(([dependency, range]) => [
    dependency,
    dependency.startsWith('@tutti/') ? `^${version}` : range,
  ])
  const made = { ...manifest, name, dependencies: Object.fromEntries(dependencies) }
  return `${JSON.stringify(made, undefined, 2)}\n`
}
