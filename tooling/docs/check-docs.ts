/**
 * Checks the pages of the project: links resolve, TypeScript compiles, JSON parses, commands and routes exist,
 * comparisons have their proofs, and the documentation lists every page.
 */
import { silentProgram } from '../reference/cli-page.ts'
import { commandProblems } from './commands.ts'
import { comparisonProblems } from './comparisons.ts'
import { linkProblems } from './links.ts'
import { navigationProblems } from './navigation.ts'
import { readPages, type Page } from './pages.ts'
import { snippetFiles, snippetProblems } from './snippets.ts'

const ROOT = process.cwd()

const pages = readPages(ROOT)
const files = snippetFiles(pages)
const problems = [
  ...linkProblems(ROOT, pages),
  ...jsonProblems(pages),
  ...commandProblems(pages, silentProgram()),
  ...comparisonProblems(ROOT, pages),
  ...snippetProblems(ROOT, files),
  ...navigationProblems(pages),
]
for (const problem of problems) console.error(problem)
console.log(`${pages.length} pages, ${files.length} files of code, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

function jsonProblems(all: readonly Page[]): readonly string[] {
  return all.flatMap(({ path, blocks }) =>
    blocks.flatMap(({ language, code, line }) => {
      if (language !== 'json') return []
      try {
        JSON.parse(code)
        return []
      } catch (error) {
        return [`${path}:${line}: ${String(error)}`]
      }
    }),
  )
}
