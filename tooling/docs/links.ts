/** Finds broken links. Web addresses are not requested: a check must not fail because a site is down. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

import type { Page } from './pages.ts'

/** Returns the broken links of the pages below `root`, one line each. */
export function linkProblems(root: string, pages: readonly Page[]): readonly string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  return pages.flatMap((page) =>
    page.links.flatMap(({ target, line }) => {
      const problem = linkProblem({ root, page, byPath }, target)
      return problem === undefined ? [] : [`${page.path}:${line}: ${problem}`]
    }),
  )
}

interface Place {
  readonly root: string
  readonly page: Page
  readonly byPath: ReadonlyMap<string, Page>
}

function linkProblem({ root, page, byPath }: Place, target: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target)) {
    return URL.canParse(target) ? undefined : `"${target}" is not a valid address`
  }
  const [file = '', anchor] = target.split('#')
  const path =
    file === '' ? page.path : normalize(join(dirname(page.path), decodeURIComponent(file)))
  if (path.startsWith('..')) return `"${target}" leads out of the repository`
  if (!existsSync(join(root, path))) return `"${target}" leads to no file`
  if (anchor === undefined) return undefined
  const isFolder = statSync(join(root, path)).isDirectory()
  const there = byPath.get(isFolder ? join(path, 'README.md') : path)
  if (there === undefined || there.anchors.has(anchor)) return undefined
  return `"${target}" names no heading of ${there.path}; there are ${[...there.anchors].join(', ')}`
}
