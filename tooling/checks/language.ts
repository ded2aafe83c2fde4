/**
 * Checks the words of comments, messages, test titles and documents: `node tooling/checks/language.ts [path…]`.
 * Prints every word of {@link WORDS}, every docstring that begins with a clause or only repeats the name below it, every
 * {@link LIMIT_NAME}, every test title without a subject, and every head of a file that calls a class with state pure. Outside of test titles it also prints
 * every phrase of {@link GRAMMAR}. Exceptions are in {@link ALLOWED}.
 *
 * With `--sample 200` it prints that many random docstrings for a reader to judge; `--seed` selects the same ones again.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

import ts from 'typescript-api'

import { draw } from '../chaos/lib/draw.ts'
import { findTitlesWithoutSubject } from './test-titles.ts'

/** Words and phrases, with what to write instead. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:nobody|somebody|whoever|whatever|whichever|whom)\b/i, 'name the actor or the thing'],
  [/\bwho (?:asks?|asked|came|comes|calls?|called|reads?|waits?|sends?)\b/i, 'caller, reader'],
  [/\banew\b/i, 'again'],
  [/\bbeside\b/i, 'next to, in addition to'],
  [/\b(?:goes|go|went|going|gone) on\b/i, 'continues'],
  [/\b(?:comes?|came|coming) to an end\b/i, 'ends'],
  [/\b(?:comes?|came|coming) back\b/i, 'returns'],
  [/\b(?:tells?|told|telling)\b(?! apart)/i, 'report, notify, emit, log, show'],
  [/\bsa(?:ys?|id|ying) so\b/i, 'say what is reported, and how'],
  [/\blet(?:s|ting)? go\b/i, 'release'],
  [/\bg(?:ives?|ave|iven|iving) up\b/i, 'release, stop, fail'],
  [/\bst(?:ands?|ood|anding) still\b/i, 'drain, stop'],
  [/(?<!\bencryption )\bat rest\b/i, 'unowned, idle'],
  [/\bmend(?:s|ed|ing)?\b/i, 'coerce, repair, fix'],
  [/\b(?:wish(?:es|ed)?|patience|askers?)\b/i, 'command, timeout, caller'],
  [/\bin one piece\b/i, 'atomically, in one transaction'],
  [/\b(?:news|hears?|heard)\b/i, 'notification, notified'],
  [/\b(?:an)?other sites?\b/i, 'cross-origin'],
  [/\bany ?more\b/i, 'no longer'],
  [/\bas far as\b/i, 'up to'],
  [/(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b)/i, 'is not, cannot'],
  [/\bnothing (?:is|are|was|were|comes|came|goes|went|happens|happened)\b/i, 'not, never'],
  [/\bnone of which\b/i, 'not'],
  [/\bbec(?:ame|omes?|oming) of\b/i, 'outcome'],
  [/\ball the same\b/i, 'anyway, still'],
  [/\b(?:is|are|was|were) (?:not )?there[.,;:)]/i, 'exists, is missing'],
  [/\b(?:is|are|was|were|be|been) looked (?:at|for)\b/i, 'checked, polled'],
  [
    /\b(?:is|are|was|were|be|been) kept\b(?! (?:in memory|open|alive|free|short|small))/i,
    'stored, retained',
  ],
  [/\b(?:is|are|was|were) to be\b/i, 'must, will'],
  [/\bof (?:its|their|his|her|one's) own\b/i, 'its own …, separate'],
  [/\bon (?:its|the|their) way\b/i, 'pending, in flight'],
  [
    /\b(?:in vain|thereby|whereby|hereby|lest|ought|shall|sign of life|signs of life)\b/i,
    'plain words',
  ],
  [/\bthe other side\b/i, 'the peer, the server, the client'],
  [/\b(?:gates?|desks?)\b/i, 'review'],
  [/\bfigures\b/i, 'metrics, numbers, results'],
  [/\bdoors?\b/i, 'entry point'],
  [/\bthe seed\b|§/i, 'state the rule, or link a public specification'],
  [
    /\b(?:behaviour|colour|favour|honour|neighbour|analyse|centre|licence|catalogue|whilst|canceled|canceling|\w+(?:alis|anis|gnis|imis|aris|oris)(?:e|es|ed|ing|ation))s?\b/i,
    'American spelling; "cancelled" and "cancelling" have two l',
  ],
]

/** Grammar that a reader has to untangle, and nouns that name nothing. A pattern stays within a sentence. */
const GRAMMAR: readonly (readonly [RegExp, string])[] = [
  [
    /\bof the\b(?:[ ’'-]+[\w’'-]+){1,6}?(?<! and| or| not| than| nor) of the\b/i,
    'use noun adjuncts, such as "run id"',
  ],
  [
    /\bof (?:which|whom)\b|\b(?:in|on|to|from|by|with|at) (?:whom|whose)\b/i,
    'two sentences, or a noun phrase',
  ],
  [
    /\b(?:that|which|whose|who)(?: (?!(?:and|or|but|so|if|when|while|because|than|as)\b)[\w’'-]+){1,4} (?<!\b(?:so|such|now|means?|ensures?|is|are|was|shows?|states?|says?|said|expects?|checks?|knows?|sees?|assumes?|reports?|requires?|proves?|finds?|note|fact|at|in|of|from|for|to|with|by|until|after|before|except|like) )(?:that|which|whose|who) (?!(?:the|an?|its?|they|this|of|time|moment|point|run|call)\b)/i,
    'at most one relative clause in a sentence',
  ],
  [
    /\bplaces?\b(?! (?:an?|the|orders?)\b)(?<!\b(?:in|into|takes?) place)/i,
    'index, position, path, slot, location',
  ],
  [
    /\b(?:(?:the|all|as|no|any|every|each|of|what (?:is|was)) given|given (?:to|by|in|with|at|as)|(?:is|are|was|were|be|been) given)\b/i,
    'provided, specified, passed, set',
  ],
  [
    /\b(?:what|as) (?:is |was |are )?(?:shown|asked|made)\b|\b(?:is|are|was|were|be|been) made (?:of|from)\b/i,
    'displayed, requested, created, consists of',
  ],
]

/** A statement or a schema, whose names a database reads. */
const SQL = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ORDER BY|VALUES|RETURNING)\b/

/** Sources whose docstrings become the descriptions of OpenAPI, which each schema needs. */
const DESCRIBED = /^packages\/protocol\/src\/(?:schemas|messages)\//

/** Names of limits that do not begin with MAX_ or MIN_. */
const LIMIT_NAME = /\b(?:MOST|LEAST|LONGEST|SHORTEST|FEWEST)_[A-Z0-9_]+/g

/** First words of a docstring that begins with a clause. */
const CLAUSE =
  /^(?:What|Who|Whom|Whose|How|Where|Why|Which|Whoever|Whatever|Whichever|When (?:it|the|a|an|this|that|its)) /

/** Words of a docstring that say nothing about the name that it documents. */
const FILLERS = new Set(
  'a an the of for to in on by with one its it is are whether which that this option options parameter parameters setting settings props property properties'.split(
    ' ',
  ),
)

/** Words that are right in their place: path prefix, word, reason. */
const ALLOWED: readonly (readonly [path: string, word: string, reason: string])[] = [
  ['tooling/checks/language.ts', '', 'the list itself'],
  ['packages/create-tutti/', 'desk', 'the support desk of the template'],
  ['packages/core/test/json-schema-suite/README.md', '', 'the text of a license'],
  ['packages/pipeline/test/readme-fan-out.ts', 'news', 'the name of a branch'],
  ['tooling/fuzz/', 'the seed', 'the number that repeats a sequence'],
  ['tooling/chaos/', 'the seed', 'the number that repeats a sequence'],
  ['tooling/mutants/', 'the seed', 'the number that repeats a choice'],
  ['packages/core/src/trace-context.ts', 'place', 'the value of an exported type'],
  ['packages/protocol/src/long-numbers.ts', 'places', 'decimal places'],
  ['examples/typed-tool/book-table.ts', 'place', 'where guests sit'],
  ['tooling/postgres/pgbouncer.ts', 'nobody', 'the user of Unix'],
  ['packages/langchain/src/rules/provider-rules.ts', 'of the', 'the error text of a provider'],
  ['packages/runs/src/stores/postgres/log/write-sql.ts', 'as given', 'the name of a table in SQL'],
  ['packages/runs/src/stores/sqlite/runs/thread-store.ts', 'place', 'the name of a column'],
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

/** Whether each word of a docstring is a word of the name, or it only says whose options the name contains. */
function repeatsName(docstring: string, name: string): boolean {
  if (!/^[\w\s'’-]+\.?$/.test(docstring)) return false
  if (
    /^(?:Options|Settings|Parameters) (?:of|for) (?:an? |the |one )?[\w-]+(?: [\w-]+)?(?: tool)?\.$/.test(
      docstring,
    ) &&
    /(?:Options|Settings)$/.test(name)
  )
    return true
  const stem = (word: string): string => word.toLowerCase().replace(/(?:ies|es|s|ed|ing|e|y)$/, '')
  const known = new Set(name.split(/(?=[A-Z])|_/).map(stem))
  return docstring
    .split(/[^\w]+/)
    .filter((word) => word !== '' && !FILLERS.has(word.toLowerCase()))
    .every((word) => known.has(stem(word)))
}

/** Whether the head of a file calls a class with mutable private fields "Pure". */
function claimsPurity(text: string): boolean {
  return /^\/\*\*(?:(?!\*\/)[\s\S])*?\bPure\b/.test(text) && /^ {2}#\w+(?:\??:| =)/m.test(text)
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
