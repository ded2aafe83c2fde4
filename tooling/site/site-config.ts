/** Configures VitePress. */
import { slug } from 'github-slugger'

import { SCHEMAS_PATH, toSitePath } from './site-paths.ts'

import type { DefaultTheme, MarkdownEnv, MarkdownRenderer, UserConfig } from 'vitepress'
import type { NavigationEntry, NavigationSection } from '../docs/navigation.ts'
import type { ApiPage } from './api-pages.ts'
import type { SiteSettings } from './settings.ts'

/** Input of the configuration of one build. Its values can be written as JSON. */
export interface SiteContent {
  readonly settings: SiteSettings
  readonly description: string
  readonly sidebar: DefaultTheme.SidebarItem[]
  /** Path of the section on clones, while the packages are not on npm. */
  readonly clone: string | undefined
}

/** Settings of the theme, with the values that `site-theme.ts` shows. */
export interface SiteTheme extends DefaultTheme.Config {
  readonly clone: string | undefined
}

/** Returns the configuration of VitePress. The pages are in the folder `pages` next to it. */
export function siteConfig(content: SiteContent): UserConfig<SiteTheme> {
  const { settings, description, sidebar, clone } = content
  const { base, version, repository, latest } = settings
  const isLatest = base === new URL(latest).pathname
  return {
    lang: 'en-US',
    title: 'Tutti',
    description,
    base,
    srcDir: 'pages',
    head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}favicon.svg` }]],
    sitemap: { hostname: new URL(base, latest).href },
    transformHead: ({ page, pageData: { relativePath } }) =>
      // The page for unknown addresses has no Markdown.
      page === '404.md'
        ? []
        : [['link', { rel: 'alternate', type: 'text/markdown', href: base + relativePath }]],
    // Addresses of the reader's own server.
    ignoreDeadLinks: 'localhostLinks',
    markdown: {
      config: useDataCells,
      // Braces at the end of a text are text, as on GitHub.
      attrs: false,
      // The anchors of GitHub, because the same links are followed there.
      anchor: { slugify: slug },
      // Themes whose comments have the contrast of WCAG AA.
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    },
    themeConfig: {
      clone,
      logo: '/favicon.svg',
      search: { provider: 'local', options: { _render: renderForSearch } },
      outline: { level: [2, 3] },
      sidebar,
      nav: [
        { text: 'Tutorial', link: '/tutorial' },
        { text: 'HTTP API', link: '/api/' },
        {
          text: version,
          items: [
            { text: 'Versions and compatibility', link: '/versions' },
            { text: 'Changes', link: `${repository}/releases` },
            ...(isLatest ? [] : [{ text: 'Documentation of the latest version', link: latest }]),
          ],
        },
        { text: 'GitHub', link: repository },
      ],
    },
  }
}

/** Makes empty header cells data cells: a header without text says nothing to a screen reader. */
function useDataCells(md: MarkdownRenderer): void {
  md.core.ruler.push('empty-header-cells', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const [content, end] = tokens.slice(index + 1, index + 3)
      if (token.type !== 'th_open' || content?.content !== '' || end === undefined) continue
      token.tag = 'td'
      end.tag = 'td'
    }
  })
}

/** Renders a page for the index of the search, without highlighting its code, which takes half of the time of a build. */
async function renderForSearch(
  text: string,
  env: MarkdownEnv,
  md: MarkdownRenderer,
): Promise<string> {
  // Each operation links to its schemas, whose many names would come before the guides.
  if (env.relativePath === SCHEMAS_PATH) return ''
  return md.renderAsync(text.replaceAll(/^( *`{3,}).+$/gm, '$1'), env)
}

/** Returns the sidebar: the sections of the documentation, with the API after the reference. */
export function toSidebar(
  sections: readonly NavigationSection[],
  api: readonly ApiPage[],
): DefaultTheme.SidebarItem[] {
  return sections.flatMap(({ title, entries }) => [
    { text: title, items: entries.map(toItem) },
    ...(title === 'Reference' ? [apiItem(api)] : []),
  ])
}

function toItem({ page, label, entries }: NavigationEntry): DefaultTheme.SidebarItem {
  const link = toLink(toSitePath(page.path))
  return entries.length === 0
    ? { text: label, link }
    : { text: label, link, collapsed: true, items: entries.map(toItem) }
}

function apiItem([introduction, ...pages]: readonly ApiPage[]): DefaultTheme.SidebarItem {
  return {
    text: introduction?.title ?? '',
    link: toLink(introduction?.path ?? ''),
    collapsed: true,
    items: pages.map(({ title, path }) => ({ text: title, link: toLink(path) })),
  }
}

/** Returns the link to a page, as VitePress expects it. */
function toLink(path: string): string {
  return `/${path.replace(/(?:index)?\.md$/, '')}`
}
