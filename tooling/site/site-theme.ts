/// <reference types="vite/client" />
/** The default theme of VitePress in the colors and fonts of the dashboard, with the install command above each page. */
import DefaultTheme from 'vitepress/theme-without-fonts'
import { useData, withBase } from 'vitepress'
import { defineComponent, h } from 'vue'

import '../../apps/dashboard/src/ui/tokens/fonts.css'
import '../../apps/dashboard/src/ui/tokens/tokens.css'
import './site-theme.css'

import type { Theme } from 'vitepress'
import type { SiteTheme } from './site-config.ts'

/** Shows how to install what the page is about, and links to its Markdown. */
const InstallLine = defineComponent(() => {
  const { frontmatter, page, theme } = useData<SiteTheme>()
  return () => {
    const { clone } = theme.value
    return h('section', { class: 'install', 'aria-label': 'Installation' }, [
      h('code', String(frontmatter.value['install'])),
      ...(clone === undefined
        ? []
        : [
            h('span', [
              'Not on npm yet: ',
              h('a', { href: withBase(`/${clone.replace('.md', '.html')}`) }, 'use a clone'),
            ]),
          ]),
      h('a', { href: withBase(`/${page.value.relativePath}`), target: '_self' }, 'Markdown'),
    ])
  }
})

/** Shows what to do at an unknown address. */
function notFound() {
  return h('main', { class: 'vp-doc not-found' }, [
    h('h1', 'Page not found'),
    h('p', [
      'This address leads to no page. Search for it, or begin at the ',
      h('a', { href: withBase('/') }, 'overview'),
      '.',
    ]),
  ])
}

/** The theme, as VitePress expects it. */
export const theme: Theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, { 'doc-before': () => h(InstallLine), 'not-found': notFound }),
}
