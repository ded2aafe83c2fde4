/** Generates the list of decisions. */
import { page } from '../reference/markdown.ts'

import type { Page } from './pages.ts'

/** Returns the text of `docs/decisions/README.md`. */
export function decisionsPage(pages: readonly Page[]): string {
  const decisions = pages.filter(({ path }) => /^docs\/decisions\/\d/.test(path))
  return page('Decisions', [
    'Choices of weight, each on a page: what it is about, what was chosen, what speaks against it.',
    '',
    ...decisions.map(({ path, title }) => {
      const [, number, words] = /^(\d+)\. (.*)$/.exec(title) ?? []
      return `${number}. [${words}](${path.replace(/^.*\//, '')})`
    }),
  ])
}
