/**
 * Checks the TypeScript of the pages with the compiler. A block that begins with `// name.ts` is that file; the
 * blocks of one page share a folder, so that they can import each other. A later block with the same name replaces
 * the earlier one from there on, as a reader would save it. Any other block is a separate file.
 *
 * Code that is not ours and cannot be checked is marked: ```ts foreign.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { CodeBlock, Page } from './pages.ts'

/** Pages whose code is checked elsewhere: blocks of package READMEs are files of `packages/x/test`. */
const ELSEWHERE = /^(?:README\.md|packages\/|apps\/)/

const LANGUAGES = ['ts', 'tsx']

/** A file made from a block. */
export interface SnippetFile {
  /** Path within the folder of all snippets. */
  readonly path: string
  readonly text: string
  readonly page: string
  /** Line of the page at which the text begins, from 1. */
  readonly line: number
}

/** Returns the files that the blocks of the pages define, with one folder for each state that a reader reaches. */
export function snippetFiles(pages: readonly Page[]): readonly SnippetFile[] {
  return pages.filter(({ path }) => !ELSEWHERE.test(path)).flatMap(filesOfPage)
}

function filesOfPage(page: Page): readonly SnippetFile[] {
  const folder = page.path.replaceAll(/[^\w]+/g, '-')
  const states: Map<string, CodeBlock>[] = [new Map()]
  const blocks = page.blocks.filter(
    ({ language, meta }) => LANGUAGES.includes(language) && !meta.split(' ').includes('foreign'),
  )
  for (const [index, block] of blocks.entries()) {
    const name = /^\/\/ ([\w./-]+\.tsx?)\n/.exec(block.code)?.[1] ?? `snippet-${index + 1}.ts`
    const current = states.at(-1) ?? new Map<string, CodeBlock>()
    // Saving a file again begins a new state that contains all previous files.
    if (current.has(name)) states.push(new Map([...current, [name, block]]))
    else current.set(name, block)
  }
  return states.flatMap((state, step) =>
    [...state].map(([name, { code, line }]) => ({
      path: join(folder, String(step), name),
      text: `${code}\nexport {}\n`,
      page: page.path,
      line,
    })),
  )
}

/** Returns the compiler errors of the files, at their lines on the pages. `root` is the root of the repository. */
export function snippetProblems(root: string, files: readonly SnippetFile[]): readonly string[] {
  if (files.length === 0) return []
  // The folder is next to docs/package.json, whose dependencies the code may import.
  const folder = join(root, 'docs', '.snippets')
  rmSync(folder, { recursive: true, force: true })
  try {
    for (const { path, text } of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    const { status, stdout, stderr } = spawnSync('tsc', ['-p', folder, '--pretty', 'false'], {
      encoding: 'utf8',
      cwd: folder,
    })
    if (status === 0) return []
    const problems = (stdout + stderr).trim().split('\n')
    return problems.map((problem) => onPage(problem, files))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const TSCONFIG = {
  extends: '../../tooling/tsconfig/base.json',
  compilerOptions: {
    // A reader need not use everything that a page shows.
    noUnusedLocals: false,
    types: ['node'],
    typeRoots: ['../../node_modules/@types'],
    jsx: 'react-jsx',
  },
  include: ['**/*.ts', '**/*.tsx'],
}

function onPage(problem: string, files: readonly SnippetFile[]): string {
  const [, path, line, rest] = /^(.+?)\((\d+),\d+\): (.*)$/.exec(problem) ?? []
  const file = files.find((known) => known.path === path)
  if (file === undefined) return problem
  return `${file.page}:${file.line + Number(line) - 1}: ${rest}`
}
