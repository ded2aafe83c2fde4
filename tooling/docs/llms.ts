/**
 * `llms.txt`: the pages, for programs that read documentation. One line a page: its title, where it is, its first
 * paragraph.
 *
 * @see https://llmstxt.org
 */
import type { Page } from './pages.ts'

/** The parts of the file, in its order: the pages that each shows, by path. */
const PARTS: readonly (readonly [title: string, paths: RegExp])[] = [
  ['Start', /^(?:README|docs\/README|docs\/tutorial)\.md$/],
  ['How to', /^docs\/how-to\//],
  ['Reference', /^docs\/reference\//],
  ['Packages', /^(?:packages|apps)\/[\w-]+\/README\.md$/],
  ['Operations', /^docs\/(?:production|metrics|traces|security)\.md$/],
  ['Examples', /^examples\//],
  ['Coming from elsewhere', /^docs\/coming-from\.md$/],
  ['Optional', /^(?:ARCHITECTURE|CONTRIBUTING|SECURITY)\.md$|^docs\/decisions\//],
]

/** The text of the file. */
export function llmsText(pages: readonly Page[]): string {
  const readme = pages.find(({ path }) => path === 'README.md')
  const parts = PARTS.flatMap(([title, paths]) => {
    const lines = pages.filter(({ path }) => paths.test(path)).map(lineOf)
    return lines.length === 0 ? [] : [`## ${title}`, '', ...lines, '']
  })
  return [`# ${readme?.title ?? ''}`, '', `> ${readme?.lead ?? ''}`, '', ...parts].join('\n')
}

function lineOf({ path, title, lead }: Page): string {
  const [sentence = ''] = /^.*?[.:](?=\s|$)/.exec(lead) ?? [lead]
  const about = sentence.replace(/:$/, '.')
  return `- [${title}](${path})${about === '' ? '' : `: ${about}`}`
}
