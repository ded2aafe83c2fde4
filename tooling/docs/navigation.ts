/**
 * Reads the order of the documentation from `docs/README.md`. No other file lists the pages: the site and `llms.txt`
 * follow it.
 */
import { dirname, join, normalize } from 'node:path'

import { fromMarkdown } from 'mdast-util-from-markdown'
import { visit } from 'unist-util-visit'

import { textOf, type Page } from './pages.ts'

import type { RootContent } from 'mdast'

/** A page in the navigation. */
export interface NavigationEntry {
  readonly page: Page
  /** Text of the link, which is shorter than the title. */
  readonly label: string
  /** Pages that this page lists, such as those of all decisions. */
  readonly entries: readonly NavigationEntry[]
}

/** A section of `docs/README.md` that links to pages. */
export interface NavigationSection {
  readonly title: string
  readonly entries: readonly NavigationEntry[]
}

/** Title of the section before the first heading: what Tutti is, the list of pages, and the links above its sections. */
const START = 'Start'

const OVERVIEW = 'README.md'

/** Path of the page that lists all pages. */
export const DOCUMENTATION_INDEX = 'docs/README.md'

/** Pages that must be in the navigation. */
const LISTED = /^docs\/|^(?:packages|apps|examples)\/[\w-]+\/README\.md$/

/** Returns the sections of `docs/README.md`, each with the pages that it links to. */
export function readNavigation(pages: readonly Page[]): readonly NavigationSection[] {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const index = byPath.get(DOCUMENTATION_INDEX)
  if (index === undefined) return []
  const sections: { title: string; nodes: RootContent[] }[] = [{ title: START, nodes: [] }]
  for (const node of fromMarkdown(index.text).children) {
    if (node.type === 'heading' && node.depth === 2) {
      sections.push({ title: textOf(node.children), nodes: [] })
    } else sections.at(-1)?.nodes.push(node)
  }
  const overview = byPath.get(OVERVIEW)
  const first = [
    ...(overview === undefined ? [] : [{ page: overview, label: 'Overview', entries: [] }]),
    { page: index, label: index.title, entries: [] },
  ]
  return sections
    .map(({ title, nodes }, at) => ({
      title,
      entries: [...(at === 0 ? first : []), ...listEntries(index, nodes, byPath)],
    }))
    .filter(({ entries }) => entries.length > 0)
}

/** Returns the pages that the documentation should list and does not, one line each. */
export function navigationProblems(pages: readonly Page[]): readonly string[] {
  const listed = new Set(listPages(readNavigation(pages)).map(({ path }) => path))
  return pages
    .map(({ path }) => path)
    .filter((path) => LISTED.test(path) && !listed.has(path))
    .map(
      (path) =>
        `${path}: ${DOCUMENTATION_INDEX} does not link to it, nor does a list of pages that it links to`,
    )
}

/** Returns all pages of the navigation, in order. */
export function listPages(sections: readonly NavigationSection[]): readonly Page[] {
  const listed = (entries: readonly NavigationEntry[]): readonly Page[] =>
    entries.flatMap(({ page, entries: own }) => [page, ...listed(own)])
  return sections.flatMap(({ entries }) => listed(entries))
}

function listEntries(
  from: Page,
  nodes: readonly RootContent[],
  byPath: ReadonlyMap<string, Page>,
): readonly NavigationEntry[] {
  const entries = new Map<string, NavigationEntry>()
  for (const root of nodes) {
    visit(root, 'link', ({ url, children }) => {
      const page = findTarget(from, url, byPath)
      if (page === undefined || page === from || entries.has(page.path)) return
      const text = textOf(children)
      const isName = children[0]?.type === 'inlineCode'
      const label = isName ? text : text.charAt(0).toUpperCase() + text.slice(1)
      entries.set(page.path, { page, label, entries: listOwnPages(page, byPath) })
    })
  }
  return [...entries.values()]
}

/** Returns the pages in the folder of a `README.md` that it lists. */
function listOwnPages(page: Page, byPath: ReadonlyMap<string, Page>): readonly NavigationEntry[] {
  if (!/^(?:docs\/decisions|examples)\/README\.md$/.test(page.path)) return []
  const folder = `${dirname(page.path)}/`
  return listEntries(page, fromMarkdown(page.text).children, byPath).filter(({ page: { path } }) =>
    path.startsWith(folder),
  )
}

/** Returns the page to which a link leads; undefined for other files and web addresses. */
export function findTarget(
  from: Page,
  url: string,
  byPath: ReadonlyMap<string, Page>,
): Page | undefined {
  const [file = ''] = url.split('#')
  if (file === '' || /^[a-z][a-z+.-]*:/i.test(file)) return undefined
  const path = normalize(join(dirname(from.path), decodeURIComponent(file))).replace(/\/$/, '')
  return byPath.get(path) ?? byPath.get(`${path}/README.md`)
}
