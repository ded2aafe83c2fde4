/**
 * Checks the words of comments, messages, test titles and documents: `node tooling/checks/language.ts [path…]`.
 * Prints every word of {@link WORDS}, every docstring that begins with a clause or only repeats the name below it, every
 * {@link LIMIT_NAME}, every test title without a subject, and every head of a file that calls a class with state pure.
 * Outside of test titles it also prints every phrase of {@link GRAMMAR}. Exceptions are in {@link ALLOWED}.
 *
 * With `--sample 200` it prints that many random docstrings for a reader to judge; `--seed` selects the same ones again.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

import ts from 'typescript-api'

import { draw } from '../chaos/lib/draw.ts'
import {
  claimsPurity,
  CLAUSE,
  GRAMMAR,
  LIMIT_NAME,
  repeatsName,
  SQL,
  WORDS,
} from './language-rules.ts'
import { findTitlesWithoutSubject } from './test-titles.ts'

/** Sources whose docstrings become the descriptions of OpenAPI, which each schema needs. */
const DESCRIBED = /^packages\/protocol\/src\/(?:schemas|messages)\//

/** Words that are right in their place: path prefix, word, reason. */
const ALLOWED: readonly (readonly [path: string, word: string, reason: string])[] = [
  ['tooling/checks/language', '', 'the rules and their test'],
  ['packages/create-tutti/', 'desk', 'the support desk of the template'],
  ['packages/core/test/json-schema-suite/README.md', '', 'the text of a license'],
  ['packages/pipeline/test/readme-fan-out.ts', 'news', 'the name of a branch'],
  ['tooling/fuzz/', 'the seed', 'the number that repeats a sequence'],
  ['tooling/chaos/', 'the seed', 'the number that repeats a sequence'],
  ['packages/core/src/trace-context.ts', 'place', 'the value of an exported type'],
  ['packages/protocol/src/long-numbers.ts', 'places', 'decimal places'],
  ['examples/typed-tool/book-table.ts', 'place', 'where guests sit'],
  ['tooling/postgres/pgbouncer.ts', 'nobody', 'the user of Unix'],
  ['tooling/reference/client-features.ts', 'of the', 'the titles of tests'],
  ['packages/langchain/src/rules/provider-rules.ts', 'of the', 'the error text of a provider'],
  ['packages/runs/src/stores/postgres/log/write-sql.ts', 'as given', 'the name of a table in SQL'],
  ['packages/runs/src/stores/shared/runs/thread-store.ts', 'place', 'the name of a column'],
  ['packages/runs/src/stores/sqlite/schema/dialect.ts', 'place', 'the name of a column'],
]

const { positionals: paths, values } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' }, seed: { type: 'string', default: '1' } },
})
const files = execFileSync('git', ['ls-files', ...paths], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(?:tsx?|mjs|md)$/.test(path) && existsSync(path))
  .filter(
    (path) => !/CHANGELOG\.md$|\.api\.md$|^docs\/reference\/|schema-descriptions\.ts$/.test(path),
  )
if (values.sample === undefined) {
  const problems = files.flatMap(checkFile)
  for (const problem of problems) console.error(problem)
  console.log(`${files.length} files, ${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
} else {
  printSample(Number(values.sample), Number(values.seed))
}

/** Prints `count` random docstrings of sources. */
function printSample(count: number, seed: number): void {
  const docstrings = files
    .filter((path) => /\/src\/.*\.tsx?$/.test(path) && !isTestFile(path))
    .flatMap((path) =>
      readPassages(path, readFileSync(path, 'utf8'))
        .filter(({ isDocstring }) => isDocstring)
        .map(({ line, raw }) => `${path}:${line}: ${raw}`),
    )
  console.log(`${count} of ${docstrings.length} docstrings, seed ${seed}`)
  const ranked = docstrings.map((docstring) => ({ docstring, rank: draw(seed, docstring) }))
  const sample = ranked.toSorted((left, right) => left.rank - right.rank).slice(0, count)
  for (const { docstring } of sample) console.log(docstring)
}

function checkFile(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8')
  const passages = path.endsWith('.md') ? readProse(text) : readPassages(path, text)
  const names = [...new Set(text.match(LIMIT_NAME))].map(
    (name) => `${path}: "${name}": limits begin with MAX_ or MIN_`,
  )
  const problems = passages.flatMap(
    ({ line, text: passage, raw, isDocstring, isTitle, documents }) => [
      ...(isTitle || SQL.test(passage) ? WORDS : [...WORDS, ...GRAMMAR]).flatMap(
        ([pattern, instead]) => {
          const found = pattern.exec(passage)
          if (found === null || isAllowed(path, found[0])) return []
          return [
            `${path}:${line}: "${found[0].trim()}": ${instead} (${excerpt(passage, found.index)})`,
          ]
        },
      ),
      ...(isDocstring && CLAUSE.test(passage)
        ? [`${path}:${line}: begin with a verb or a noun phrase (${excerpt(passage, 0)})`]
        : []),
      ...(documents !== undefined && !DESCRIBED.test(path) && repeatsName(raw, documents)
        ? [`${path}:${line}: repeats the name ${documents} (${excerpt(raw, 0)})`]
        : []),
    ],
  )
  const purity = claimsPurity(text) ? [`${path}: "Pure" has state: write "No I/O"`] : []
  const titles = isTestFile(path) ? checkTitles(path, text) : []
  return [...names, ...purity, ...problems, ...titles]
}

function checkTitles(path: string, text: string): readonly string[] {
  return findTitlesWithoutSubject(path, text).map(
    ({ line, title }) => `${path}:${line}: begin a test title with its subject (${title})`,
  )
}

function isAllowed(path: string, found: string): boolean {
  return ALLOWED.some(
    ([prefix, word]) => path.startsWith(prefix) && found.toLowerCase().includes(word),
  )
}

function excerpt(passage: string, at: number): string {
  const from = Math.max(0, at - 40)
  return passage.slice(from, at + 60).trim()
}

/** A comment, a text, the name of a local value, or a line of a document. */
interface Passage {
  readonly line: number
  /** Text without code. */
  readonly text: string
  readonly raw: string
  readonly isDocstring: boolean
  /** Whether it is the title of a test. */
  readonly isTitle: boolean
  /** Name that a docstring documents. */
  readonly documents?: string | undefined
}

/** Paragraphs, items, headings and rows of a Markdown page, outside of code. */
function readProse(page: string): readonly Passage[] {
  const blocks: { readonly line: number; raw: string }[] = []
  let isCode = false
  let isOpen = false
  for (const [index, source] of page.split('\n').entries()) {
    const isFence = /^\s*```/.test(source)
    if (isFence) isCode = !isCode
    const isText = !isFence && !isCode && source.trim() !== ''
    const last = blocks.at(-1)
    // A phrase may continue on the next line.
    if (isText && isOpen && last !== undefined && !/^\s*(?:[-*|#>]|\d+\.) ?/.test(source))
      last.raw += ` ${source.trim()}`
    else if (isText) blocks.push({ line: index + 1, raw: source })
    isOpen = isText
  }
  return blocks.map(({ line, raw }) => ({
    line,
    raw,
    text: raw.replaceAll(/`[^`]*`|\]\([^)]*\)/g, ''),
    isDocstring: false,
    isTitle: false,
  }))
}

/** Comments of a file; texts and local names of a source; titles of a test. */
function readPassages(path: string, text: string): readonly Passage[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const isTest = isTestFile(path)
  const passages: Passage[] = []
  const seen = new Set<number>()
  const lineOf = (position: number): number =>
    source.getLineAndCharacterOfPosition(position).line + 1
  const addComment = ({ pos, end }: ts.CommentRange, node?: ts.Node): void => {
    if (seen.has(pos)) return
    seen.add(pos)
    const comment = text.slice(pos, end)
    // A phrase may continue on the next line.
    const raw = comment
      .replaceAll(/^\/\*\*?|\*\/$|^\s*\*(?!\/)|^\/\//gm, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
    const plain = raw.replaceAll(/`[^`]*`|\{@link [^}]*\}/g, '')
    const isDocstring = comment.startsWith('/**')
    const documents = isDocstring ? documentedName(node) : undefined
    passages.push({ line: lineOf(pos), text: plain, raw, isDocstring, isTitle: false, documents })
  }
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? []) addComment(range, node)
    for (const range of ts.getTrailingCommentRanges(text, node.end) ?? []) addComment(range)
    if (isText(node) && (!isTest || isTitle(node))) {
      const written = node.getText(source)
      // One word is a value, such as a name on the wire.
      if (/\w\s+\w/.test(written)) {
        const line = lineOf(node.getStart(source))
        const plain = written.replaceAll(/\$\{[^}]*\}/g, '')
        passages.push({ line, text: plain, raw: written, isDocstring: false, isTitle: isTest })
      }
    }
    if (!isTest && ts.isIdentifier(node) && isLocalValue(node)) {
      const line = lineOf(node.getStart(source))
      passages.push({ line, text: node.text, raw: node.text, isDocstring: false, isTitle: false })
    }
    for (const child of node.getChildren(source)) visit(child)
  }
  visit(source)
  return passages
}

/** Returns the name of the declaration after a docstring, or nothing for the head of a file. */
function documentedName(node: ts.Node | undefined): string | undefined {
  if (node === undefined || isProperty(node)) return undefined
  const named = ts.isVariableStatement(node) ? node.declarationList.declarations[0] : node
  const name = named !== undefined && 'name' in named ? (named.name as ts.Node) : undefined
  return name !== undefined && ts.isIdentifier(name) ? name.text : undefined
}

/** Whether an identifier declares a parameter, or a variable that is not a function. */
function isLocalValue(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isVariableDeclaration(parent))
    return parent.name === node && !(parent.initializer && ts.isArrowFunction(parent.initializer))
  return (ts.isParameter(parent) || ts.isBindingElement(parent)) && parent.name === node
}

function isProperty(node: ts.Node): boolean {
  return (
    ts.isPropertySignature(node) || ts.isPropertyDeclaration(node) || ts.isPropertyAssignment(node)
  )
}

function isTestFile(path: string): boolean {
  return /\.test(?:-d)?\.tsx?$|\/test\/|\/src\/testing\/|-cases\.ts$/.test(path)
}

function isText(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isJsxText(node)
}

/** Whether a text is the first argument of `it`, `describe` or one of their forms. */
function isTitle(node: ts.Node): boolean {
  const { parent } = node
  return (
    ts.isCallExpression(parent) &&
    parent.arguments[0] === node &&
    /^(?:it|describe|test)\b/.test(parent.expression.getText())
  )
}
