/**
 * Builds the documentation site as static files: HTML with search, the Markdown of each page next to its HTML, `llms.txt`,
 * `llms-full.txt`, `openapi.json` and `asyncapi.json`.
 *
 * The pages are converted into a separate folder, in which VitePress builds them. It is inside the repository,
 * because the pages are rendered by modules that import the packages of the repository.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'vitepress'

import { buildAsyncApiDocument } from '../../packages/control-api/src/documents/async-api-document.ts'
import { buildOpenApiDocument } from '../../packages/control-api/src/documents/open-api-document.ts'
import { formatLlmsText } from '../docs/llms.ts'
import { listPages, readNavigation } from '../docs/navigation.ts'
import { readPages, type Page } from '../docs/pages.ts'
import { EXTENSIONS } from '../test-kit/compat.ts'
import { apiPages, type ApiPage } from './api-pages.ts'
import { readSettings, type SiteSettings } from './settings.ts'
import { toSidebar, type SiteContent } from './site-config.ts'
import {
  CREATE_PROJECT,
  findCloneSection,
  toAgentText,
  toSitePages,
  type SitePage,
} from './site-pages.ts'
import { toSitePath } from './site-paths.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Folder and path of a site. */
export interface SiteOptions {
  /** Folder of the site; its content is replaced. */
  readonly out: string
  /** Path below which the site is served, with a slash at both ends. @default the path of its public address */
  readonly base?: string
}

/** Builds the site, and returns the number of its pages. */
export async function buildSite({ out, base }: SiteOptions): Promise<number> {
  const settings = readSettings(base)
  const pages = readPages(ROOT)
  const document = buildOpenApiDocument(EXTENSIONS)
  const api = apiPages(document)
  const all = [...toSitePages(ROOT, pages, settings), ...api.map(toSitePage)]
  const clone = findCloneSection(pages)
  const content: SiteContent = {
    settings,
    description: pages.find(({ path }) => path === 'README.md')?.lead ?? '',
    sidebar: toSidebar(readNavigation(pages), api),
    clone,
  }
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const work = mkdtempSync(join(ROOT, '.cache', 'site-'))
  try {
    const at = (path: string): string => join(work, 'pages', path)
    for (const page of all) write(at(page.path), withFrontmatter(page))
    cpSync(join(ROOT, 'docs', 'images'), at('images'), { recursive: true })
    // The Markdown of the site refers to the images by their names; the HTML refers to copies with a hash.
    cpSync(join(ROOT, 'docs', 'images'), at('public/images'), { recursive: true })
    cpSync(join(ROOT, 'apps/dashboard/public/favicon.svg'), at('public/favicon.svg'))
    write(at('public/openapi.json'), JSON.stringify(document))
    write(at('public/asyncapi.json'), JSON.stringify(buildAsyncApiDocument(EXTENSIONS)))
    write(join(work, '.vitepress', 'config.mjs'), configModule(content))
    write(join(work, '.vitepress', 'theme', 'index.mjs'), THEME_MODULE)
    await build(work, { outDir: out, emptyOutDir: true })
  } finally {
    rmSync(work, { recursive: true })
  }
  const texts = all.map((page) => ({ path: page.path, text: toAgentText(page, clone) }))
  for (const { path, text } of texts) write(join(out, path), text)
  write(join(out, 'llms.txt'), llmsText(pages, api, settings))
  write(
    join(out, 'llms-full.txt'),
    texts.map(({ path, text }) => `Source: ${addressOf(path, settings)}\n\n${text}`).join('\n\n'),
  )
  return all.length
}

function toSitePage({ path, text }: ApiPage): SitePage {
  return { path, text, install: CREATE_PROJECT }
}

function withFrontmatter({ text, install }: SitePage): string {
  return `---\ninstall: ${JSON.stringify(install)}\n---\n\n${text}`
}

function configModule(content: SiteContent): string {
  const source = JSON.stringify(join(import.meta.dirname, 'site-config.ts'))
  return `import { siteConfig } from ${source}\nexport default siteConfig(${JSON.stringify(content)})\n`
}

const THEME_MODULE = `export { theme as default } from ${JSON.stringify(join(import.meta.dirname, 'site-theme.ts'))}\n`

/** Returns the index of all pages with their public addresses, and the pages of the API. */
function llmsText(pages: readonly Page[], api: readonly ApiPage[], settings: SiteSettings): string {
  const onSite = new Set(listPages(readNavigation(pages)))
  const index = formatLlmsText(pages, (page) =>
    onSite.has(page)
      ? addressOf(toSitePath(page.path), settings)
      : `${settings.repository}/blob/${settings.ref}/${page.path}`,
  )
  const lines = api.map(({ path, title }) => `- [${title}](${addressOf(path, settings)})`)
  return [
    index,
    '## HTTP API',
    '',
    ...lines,
    `- [OpenAPI document](${addressOf('openapi.json', settings)})`,
    `- [AsyncAPI document](${addressOf('asyncapi.json', settings)})`,
    '',
  ].join('\n')
}

function addressOf(path: string, { base, latest }: SiteSettings): string {
  return new URL(base + path, latest).href
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
