/**
 * Selects the pages of `docs/` that each public package contains, so that a coding agent with only `node_modules` finds
 * them. A page has the same path in its package as in the repository.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Copy of a page of the repository, for a package. */
export interface PackagedPage {
  /** Path in the package. */
  readonly path: string
  readonly text: string
}

/** Address of the repository, for links to files that the package does not contain: at the tag of its release. */
const REPOSITORY = 'https://github.com/tutti-dev/tutti'

const OPTIONS = 'docs/reference/options.md'

/** Pages of packages, as patterns. Of {@link OPTIONS}, each package has its own section. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  '@tutti/protocol': ['docs/reference/{errors,events,routes}.md'],
  '@tutti/server': [
    'docs/{README,coming-from,engine,metrics,production,security,traces,tutorial,versions}.md',
    'docs/{how-to,recipes}/*.md',
    'docs/reference/{cli,config,environment,errors,events,metrics,routes}.md',
  ],
}

/** Returns the pages of the package `name`, from the repository at `root`, sorted by path. */
export function packagedPages(
  root: string,
  { name, version }: { readonly name: string; readonly version: string },
): readonly PackagedPage[] {
  const paths = globSync([...(PAGES[name] ?? [])], { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
  const isPackaged = new Set(paths)
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const options = selectOptions(read(OPTIONS), name)
  return [
    ...paths.map((path) => ({ path, text: read(path) })),
    ...(options === undefined ? [] : [{ path: OPTIONS, text: options }]),
  ].map(({ path, text }) => ({
    path,
    text: replaceLinks(text, path, (target) => {
      const [file = '', anchor] = target.split('#')
      if (isPackaged.has(file)) return undefined
      return `${REPOSITORY}/blob/${name}@${version}/${file}${anchor === undefined ? '' : `#${anchor}`}`
    }),
  }))
}

/** Returns the page of options with the section of one package; undefined if it has none. */
export function selectOptions(page: string, name: string): string | undefined {
  const [head = '', ...sections] = page.split(/^## /m)
  const section = sections.find((text) => text.startsWith(`${name}\n`))
  if (section === undefined) return undefined
  const [note = ''] = head.split('\n')
  return `${note}\n\n# Options of ${section.trimEnd()}\n`
}

/**
 * Replaces relative links. `replace` receives the target as a path from the repository's root, with its anchor,
 * and returns the new target, or undefined to keep the link.
 */
function replaceLinks(
  text: string,
  path: string,
  replace: (target: string) => string | undefined,
): string {
  return text.replaceAll(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, (link, target: string) => {
    const next = replace(normalize(join(dirname(path), target)).replaceAll('\\', '/'))
    return next === undefined ? link : `](${next})`
  })
}
