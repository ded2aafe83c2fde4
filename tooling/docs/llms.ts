/**
 * Generates `llms.txt`, the index of the documentation for programs: one line for each page with its title, its path
 * and its first sentence, in the order of `docs/README.md`.
 *
 * @see https://llmstxt.org
 */
import { listPages, readNavigation } from './navigation.ts'

import type { Page } from './pages.ts'

/** Pages of the section that a reader with little space may skip. */
const OPTIONAL = /^docs\/decisions\/\d|^(?:CONTRIBUTING|SECURITY)\.md$/

/** Returns the text of the file. `addressOf` returns the link to a page. @default its path in the repository */
export function formatLlmsText(
  pages: readonly Page[],
  addressOf: (page: Page) => string = ({ path }) => path,
): string {
  const readme = pages.find(({ path }) => path === 'README.md')
  const sections = readNavigation(pages)
  const lists = sections
    .flatMap(({ entries }) => entries)
    .filter(({ entries }) => entries.length > 0)
  const parts = [
    ...sections.map(({ title, entries }) => ({ title, listed: entries.map(({ page }) => page) })),
    ...lists.map(({ page, entries }) => ({
      title: page.title,
      listed: listPages([{ title: page.title, entries }]),
    })),
  ].map(({ title, listed }) => ({
    title,
    listed: listed.filter(({ path }) => !OPTIONAL.test(path)),
  }))
  const optional = pages.filter(({ path }) => OPTIONAL.test(path))
  const text = [...parts, { title: 'Optional', listed: optional }].flatMap(({ title, listed }) => {
    const lines = listed.map((page) => formatLine(page, addressOf(page)))
    return lines.length === 0 ? [] : [`## ${title}`, '', ...lines, '']
  })
  return [`# ${readme?.title ?? ''}`, '', `> ${readme?.lead ?? ''}`, '', ...text].join('\n')
}

/** The title of a decision says everything. A how-to begins with what its reader can do afterwards. */
function formatLine({ path, title, lead }: Page, address: string): string {
  const [sentence = ''] = /^.*?[.:](?=\s|$)/.exec(lead) ?? [lead]
  const about = sentence
    .replace(/:$/, '.')
    .replace(/^After this page you can (\w)/, (_, first: string) => first.toUpperCase())
  const isDecision = /^docs\/decisions\/\d/.test(path)
  return `- [${title}](${address})${about === '' || isDecision ? '' : `: ${about}`}`
}
