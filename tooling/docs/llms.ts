/**
 * Generates `llms.txt`, the index of the documentation for programs: one line for each page with its title, its path
 * and its first sentence.
 *
 * @see https://llmstxt.org
 */
import type { Page } from './pages.ts'

/** Sections of the file in order, with the paths of their pages. */
const PARTS: readonly (readonly [title: string, paths: RegExp])[] = [
  ['Start', /^(?:README|docs\/README|docs\/tutorial)\.md$/],
  ['How to', /^docs\/how-to\//],
  ['Recipes', /^docs\/recipes\//],
  ['Reference', /^docs\/reference\//],
  ['Packages', /^(?:packages|apps)\/[\w-]+\/README\.md$/],
  ['Operations', /^docs\/(?:production|metrics|performance|traces|security)\.md$/],
  ['Examples', /^examples\//],
  ['Coming from elsewhere', /^docs\/coming-from\.md$/],
  ['Optional', /^(?:ARCHITECTURE|CONTRIBUTING|SECURITY)\.md$|^docs\/decisions\//],
]

/** Returns the text of the file. */
export function formatLlmsText(pages: readonly Page[]): string {
  const readme = pages.find(({ path }) => path === 'README.md')
  const parts = PARTS.flatMap(([title, paths]) => {
    const lines = pages.filter(({ path }) => paths.test(path)).map(formatLine)
    return lines.length === 0 ? [] : [`## ${title}`, '', ...lines, '']
  })
  return [`# ${readme?.title ?? ''}`, '', `> ${readme?.lead ?? ''}`, '', ...parts].join('\n')
}

/** The title of a decision says everything. A how-to begins with what its reader can do afterwards. */
function formatLine({ path, title, lead }: Page): string {
  const [sentence = ''] = /^.*?[.:](?=\s|$)/.exec(lead) ?? [lead]
  const about = sentence
    .replace(/:$/, '.')
    .replace(/^After this page you can (\w)/, (_, first: string) => first.toUpperCase())
  const isDecision = /^docs\/decisions\/\d/.test(path)
  return `- [${title}](${path})${about === '' || isDecision ? '' : `: ${about}`}`
}
