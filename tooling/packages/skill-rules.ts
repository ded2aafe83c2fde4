/**
 * Rules for the skill of a package: `skills/<name>/SKILL.md`, from which a coding agent learns when and how to use the package.
 * Pure: takes the contents of a package and returns problems.
 *
 * @see https://agentskills.io/specification
 */
import type { Packed } from './tarball.ts'

/** Limits of the specification, in characters, and ours, in lines. */
const MAX_NAME_LENGTH = 64
const MAX_DESCRIPTION_LENGTH = 1024
const MAX_LINES = 60

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Paths that a skill recommends, from the folder of the project. */
const PATHS = /`node_modules\/((?:@[\w-]+\/)?[\w-]+)\/([^`]*)`/g

/** A file of a package that a skill names. */
export interface NamedFile {
  readonly packageName: string
  /** Path in the package; a folder ends in a slash. */
  readonly path: string
}

/** Returns every problem of the skill of a package. */
export function skillProblems({
  manifest,
  files,
  read,
}: Pick<Packed, 'manifest' | 'files' | 'read'>): readonly string[] {
  const name = skillName(manifest.name)
  const path = `skills/${name}/SKILL.md`
  const others = files.filter((file) => file.startsWith('skills/') && file !== path)
  if (!files.includes(path)) return [`${path} is missing`]
  const text = read(path)
  const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? []
  const field = (key: string): string =>
    new RegExp(`^${key}: "?(.*?)"?$`, 'm').exec(head)?.[1] ?? ''
  const description = field('description')
  const lines = text.trim().split('\n').length
  const named = namedFiles(body)
  const missing = named.filter((file) => file.packageName === manifest.name && !has(files, file))
  const pages = files.filter((file) => /^docs\/reference\/|^README\.md$/.test(file))
  const unnamed = pages.filter(
    (page) => !named.some((file) => file.packageName === manifest.name && isWithin(page, file)),
  )
  return [
    ...others.map((file) => `${file} is a second skill`),
    ...(field('name') === name ? [] : [`${path}: its name must be "${name}"`]),
    ...(NAME.test(name) && name.length <= MAX_NAME_LENGTH ? [] : [`"${name}" cannot name a skill`]),
    ...(description.length > 0 && description.length <= MAX_DESCRIPTION_LENGTH
      ? []
      : [`${path}: its description must have 1 to ${MAX_DESCRIPTION_LENGTH} characters`]),
    ...(lines > MAX_LINES ? [`${path} has ${lines} lines, at most ${MAX_LINES} are allowed`] : []),
    ...missing.map((file) => `${path} names ${file.path}, which the package lacks`),
    ...unnamed.map((page) => `${path} does not name ${page}`),
  ]
}

/** Returns the files that a text recommends. */
export function namedFiles(text: string): readonly NamedFile[] {
  return [...text.matchAll(PATHS)].map(([, packageName = '', path = '']) => ({ packageName, path }))
}

/** Returns whether the files of a package contain a named file or folder. */
export function has(files: readonly string[], named: NamedFile): boolean {
  return files.some((file) => isWithin(file, named))
}

/** Returns the name of the skill of a package: `tutti-core` for `@tutti/core`. */
export function skillName(packageName: string): string {
  return packageName.replace(/^@/, '').replace('/', '-')
}

function isWithin(file: string, { path }: NamedFile): boolean {
  return path.endsWith('/') ? file.startsWith(path) : file === path
}
