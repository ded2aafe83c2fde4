/** Converts Markdown pages from their paths in the repository to those on the site, with links that work there. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

import { DOCUMENTATION_INDEX, findTarget, listPages, readNavigation } from '../docs/navigation.ts'
import { relativeTo, toSitePath } from './site-paths.ts'

import type { Page } from '../docs/pages.ts'
import type { SiteSettings } from './settings.ts'

/** Markdown that is published, and what its reader installs. */
export interface SitePage {
  /** Path below the base, such as `how-to/review.md`. */
  readonly path: string
  /** Markdown with links that are relative to `path`. */
  readonly text: string
  /** Command that installs what the page is about. */
  readonly install: string
}

/** Command on the pages that are not about one package. */
export const CREATE_PROJECT = 'npm create tutti'

/** Section of `docs/README.md` that exists as long as the packages are not on npm. */
const CLONE = { path: DOCUMENTATION_INDEX, anchor: 'use-a-clone' }

interface LinkContext {
  readonly root: string
  readonly settings: SiteSettings
  readonly byPath: ReadonlyMap<string, Page>
  /** Paths of pages in the repository. */
  readonly onSite: ReadonlySet<string>
}

/** Returns the pages that the documentation lists. `root` is the root of the repository. */
export function toSitePages(
  root: string,
  pages: readonly Page[],
  settings: SiteSettings,
): readonly SitePage[] {
  const listed = listPages(readNavigation(pages))
  const context: LinkContext = {
    root,
    settings,
    byPath: new Map(pages.map((page) => [page.path, page])),
    onSite: new Set(listed.map(({ path }) => path)),
  }
  return listed.map((page) => ({
    path: toSitePath(page.path),
    text: rewriteLinks(page, context),
    install: installCommand(root, page.path),
  }))
}

/** Returns the path on the site of the section on clones; undefined when the packages are on npm. */
export function findCloneSection(pages: readonly Page[]): string | undefined {
  const isNeeded = pages.some(
    ({ path, anchors }) => path === CLONE.path && anchors.has(CLONE.anchor),
  )
  return isNeeded ? `${toSitePath(CLONE.path)}#${CLONE.anchor}` : undefined
}

/** Returns the Markdown that programs read: the page with its install command below the title. */
export function toAgentText({ path, text, install }: SitePage, clone: string | undefined): string {
  const note =
    clone === undefined ? '' : ` (not on npm yet: [use a clone](${relativeTo(path, clone)}))`
  return text.replace(/^# .*$/m, (title) => `${title}\n\nInstall: \`${install}\`${note}`)
}

function installCommand(root: string, path: string): string {
  const [folder] = /^(?:packages|apps)\/[\w-]+(?=\/README\.md$)/.exec(path) ?? []
  if (folder === undefined) return CREATE_PROJECT
  const manifest = readFileSync(join(root, folder, 'package.json'), 'utf8')
  const { name, private: isPrivate }: { name: string; private?: boolean } = JSON.parse(manifest)
  return isPrivate === true || name === 'create-tutti' ? CREATE_PROJECT : `npm install ${name}`
}

/** Replaces the targets of all links and images, last ones first, because each replacement moves what follows it. */
function rewriteLinks(page: Page, context: LinkContext): string {
  const changes = page.links.flatMap(({ target, from, to }) => {
    if (/^(?:[a-z][a-z+.-]*:|#)/i.test(target)) return []
    const at = page.text.slice(0, to).lastIndexOf(target)
    if (at < from) {
      throw new Error(`${page.path}: found no "${target}" in a link, expected it as written`)
    }
    return [{ at, target }]
  })
  let { text } = page
  for (const { at, target } of changes.toSorted((left, right) => right.at - left.at)) {
    text = text.slice(0, at) + toSiteLink(page, target, context) + text.slice(at + target.length)
  }
  return text
}

function toSiteLink(
  page: Page,
  url: string,
  { root, settings, byPath, onSite }: LinkContext,
): string {
  const [file = '', anchor] = url.split('#')
  const hash = anchor === undefined ? '' : `#${anchor}`
  const from = toSitePath(page.path)
  const target = findTarget(page, url, byPath)
  if (target !== undefined && onSite.has(target.path)) {
    return relativeTo(from, toSitePath(target.path)) + hash
  }
  const path = normalize(join(dirname(page.path), decodeURIComponent(file))).replace(/\/$/, '')
  if (path.startsWith('docs/images/')) return relativeTo(from, toSitePath(path))
  if (!existsSync(join(root, path))) throw new Error(`${page.path}: "${url}" leads to no file`)
  const kind = statSync(join(root, path)).isDirectory() ? 'tree' : 'blob'
  return `${settings.repository}/${kind}/${settings.ref}/${path}${hash}`
}
