/**
 * Checks the comparisons with other products: each row links the test that proves what it says about Tutti and the page
 * that it cites about the other product, and the page says when those were read.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Page } from './pages.ts'

/** Pages that compare. */
const PAGES = ['README.md', 'docs/coming-from.md']

/** Last header of a comparison. */
const PROOF = 'tested by'

/** Cell that says nothing about the other product. */
const NOTHING = '–'

const READ_ON = /\bread on \d{4}-\d{2}-\d{2}\b/

/** Returns the problems of the comparisons on the pages below `root`, one line each. */
export function comparisonProblems(root: string, pages: readonly Page[]): readonly string[] {
  return PAGES.flatMap((path) => {
    const page = pages.find((each) => each.path === path)
    if (page === undefined) return [`${path}: missing`]
    const rows = listRows(page.text)
    return [
      ...(rows.length > 0 ? [] : [`${path}: no table ends with "${PROOF}"`]),
      ...(READ_ON.test(page.text)
        ? []
        : [`${path}: no date on which the other products were read`]),
      ...rows.flatMap((row) => rowProblems(root, path, row)),
    ]
  })
}

interface Row {
  /** Line of the page, from 1. */
  readonly line: number
  /** Cells before the proof. */
  readonly claims: readonly string[]
  readonly proof: string
  /** Header of the table, which can link one page for all rows. */
  readonly header: string
}

/** Returns the rows of all comparisons. */
function listRows(text: string): readonly Row[] {
  const rows: Row[] = []
  let header: string | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const cells = line.startsWith('|')
      ? line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim())
      : []
    if (cells.length === 0) header = undefined
    else if (cells.at(-1) === PROOF) header = line
    else if (header !== undefined && !/^-+$/.test(cells[0] ?? '')) {
      rows.push({ line: index + 1, claims: cells.slice(0, -1), proof: cells.at(-1) ?? '', header })
    }
  }
  return rows
}

function rowProblems(root: string, path: string, row: Row): readonly string[] {
  const tests = [...row.proof.matchAll(/\]\(([^)#]+\.test\.ts)\)/g)].map(
    ([, target = '']) => target,
  )
  const missing = tests.filter((target) => !existsSync(join(root, dirname(path), target)))
  const cites = [row.header, ...row.claims].some((cell) => cell.includes('](https://'))
  const isSilent = row.claims.includes(NOTHING)
  return [
    ...(tests.length > 0 ? [] : ['the row links no test']),
    ...missing.map((target) => `the test ${target} does not exist`),
    ...(cites || isSilent ? [] : ['the row cites no page of the other product']),
  ].map((problem) => `${path}:${row.line}: ${problem}`)
}
