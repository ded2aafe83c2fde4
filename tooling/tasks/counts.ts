/**
 * Prints the size and the structure of the sources: lines, import cycles, small files, names that are
 * exported twice, large interfaces. `--list <count>` prints what is behind one of them; `--check` fails
 * when an exported name is not unique.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import ts from 'typescript-api'

/** The properties of a source file that the counts use. */
interface SourceFile {
  readonly path: string
  readonly lines: number
  /** Paths of imported files in the same package, type-only imports included. */
  readonly imports: readonly string[]
  /** Names that it declares and exports; a re-export is not a declaration. */
  readonly exports: readonly string[]
  /** Interfaces, with the number of their members. */
  readonly interfaces: readonly (readonly [name: string, members: number])[]
  readonly functions: readonly string[]
}

const SMALL_FILE_LINES = 35
const LARGE_INTERFACE_MEMBERS = 12
const NOT_SOURCE =
  /\.test(-d)?\.tsx?$|\.examples\.ts$|\.d\.ts$|\/test\/|\/src\/testing\/|\/template\//
const JOURNEYS_PAGE = 'docs/engine.md'

const { values } = parseArgs({
  options: { list: { type: 'string' }, check: { type: 'boolean', default: false } },
})
const tracked = execFileSync('git', ['ls-files', 'packages', 'apps'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.tsx?$/.test(path) && existsSync(path))
const files = tracked
  .filter((path) => /\/src\//.test(path) && !NOT_SOURCE.test(path))
  .map(readSource)
const tests = tracked.filter((path) => /\.test(-d)?\.tsx?$|\/test\/|\/src\/testing\//.test(path))
const cycles = findCycles(files)
const small = findSmallFiles(files)
const twice = findNamesExportedTwice(files)
const large = files.flatMap(({ path, interfaces }) =>
  interfaces
    .filter(([, members]) => members > LARGE_INTERFACE_MEMBERS)
    .map(([name, members]) => `${name} ${members} ${path}`),
)
const ofNames = files.flatMap(({ path, functions }) =>
  functions.filter((name) => /[a-z]Of$/.test(name)).map((name) => `${name} ${path}`),
)
const journeys = readJourneys()

const lists: Record<string, readonly string[]> = {
  cycles: cycles.map((cycle) => `${cycle.length}: ${cycle.join(' ')}`),
  small,
  names: twice,
  interfaces: large,
  of: ofNames,
  journeys: journeys.map(({ title, paths }) => `${paths.length}: ${title}`),
}

if (values.check) {
  for (const name of twice) console.error(`exported more than once: ${name}`)
  process.exitCode = twice.length === 0 ? 0 : 1
} else if (values.list === undefined) {
  printCounts()
} else {
  const list = lists[values.list]
  if (list === undefined) {
    console.error(`Unknown list "${values.list}". Known: ${Object.keys(lists).join(', ')}`)
    process.exitCode = 2
  } else {
    for (const line of list) console.log(line)
  }
}

function printCounts(): void {
  const byPackage = new Map<string, { files: number; lines: number }>()
  for (const { path, lines } of files) {
    const name = path.split('/').slice(0, 2).join('/')
    const sum = byPackage.get(name) ?? { files: 0, lines: 0 }
    byPackage.set(name, { files: sum.files + 1, lines: sum.lines + lines })
  }
  for (const [name, sum] of byPackage) print(name, `${sum.lines} lines in ${sum.files} files`)
  print('sources', `${sumOf(files.map(({ lines }) => lines))} lines in ${files.length} files`)
  print('tests', `${sumOf(tests.map(countLines))} lines in ${tests.length} files`)
  print(
    'import cycles',
    `${cycles.length} with ${sumOf(cycles.map((cycle) => cycle.length))} files, type imports included`,
  )
  print(`files under ${SMALL_FILE_LINES} lines with one user`, `${small.length}`)
  print('names exported by several files', `${twice.length}`)
  print(`interfaces over ${LARGE_INTERFACE_MEMBERS} members`, `${large.length}`)
  print('functions named xOf', `${ofNames.length}`)
  for (const { title, paths } of journeys) print(`journey: ${title}`, `${paths.length} files`)
}

function print(name: string, count: string): void {
  console.log(`${name.padEnd(42)} ${count}`)
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

function countLines(path: string): number {
  return readFileSync(path, 'utf8').split('\n').length - 1
}

function readSource(path: string): SourceFile {
  const text = readFileSync(path, 'utf8')
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const imports = source.statements.flatMap((statement) => importedFile(path, statement) ?? [])
  const exports = new Set<string>()
  const functions = new Set<string>()
  const interfaces: (readonly [string, number])[] = []
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement)) {
      interfaces.push([statement.name.text, statement.members.length])
    }
    if (ts.isFunctionDeclaration(statement) && statement.name !== undefined) {
      functions.add(statement.name.text)
    }
    if (isExported(statement)) for (const name of declaredNames(statement)) exports.add(name)
  }
  return {
    path,
    lines: text.split('\n').length - 1,
    imports: [...new Set(imports)],
    exports: [...exports],
    interfaces,
    functions: [...functions],
  }
}

/** Returns the file that a statement imports; undefined for imports of packages and other statements. */
function importedFile(from: string, statement: ts.Statement): string | undefined {
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return undefined
  const { moduleSpecifier } = statement
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return undefined
  if (!moduleSpecifier.text.startsWith('.')) return undefined
  const path = resolve(dirname(from), moduleSpecifier.text)
  const found = [path, `${path}.ts`, `${path}.tsx`].find(
    (one) => /\.tsx?$/.test(one) && existsSync(one),
  )
  return found?.slice(process.cwd().length + 1)
}

function isExported(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false)
  )
}

function declaredNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    )
  }
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement)
  return isNamed && statement.name !== undefined ? [statement.name.text] : []
}

/** Returns the strongly connected components of more than one file (Tarjan's algorithm). */
function findCycles(sources: readonly SourceFile[]): readonly (readonly string[])[] {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports]))
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  for (const path of graph.keys()) if (!order.has(path)) visit(path)
  return found.toSorted((one, other) => other.length - one.length)

  function visit(path: string): void {
    order.set(path, order.size)
    lowest.set(path, order.size - 1)
    stack.push(path)
    for (const target of graph.get(path) ?? []) {
      if (!graph.has(target)) continue
      if (!order.has(target)) visit(target)
      if (stack.includes(target)) {
        lowest.set(path, Math.min(lowest.get(path) ?? 0, lowest.get(target) ?? 0))
      }
    }
    if (lowest.get(path) !== order.get(path)) return
    const component = stack.splice(stack.indexOf(path))
    if (component.length > 1) found.push(component.toSorted())
  }
}

/** Returns small files that exactly one other file imports. An entry point is not a user. */
function findSmallFiles(sources: readonly SourceFile[]): readonly string[] {
  const users = new Map<string, number>()
  for (const { path, imports } of sources) {
    for (const target of imports) {
      const isEntryPoint = /\/(?:index|adapter|internal)\.ts$/.test(path)
      users.set(target, (users.get(target) ?? 0) + (isEntryPoint ? 2 : 1))
    }
  }
  return sources
    .filter(({ path, lines }) => lines < SMALL_FILE_LINES && users.get(path) === 1)
    .map(({ path, lines }) => `${path} ${lines}`)
}

function findNamesExportedTwice(sources: readonly SourceFile[]): readonly string[] {
  const homes = new Map<string, string[]>()
  for (const { path, exports } of sources) {
    for (const name of exports) homes.set(name, [...(homes.get(name) ?? []), path])
  }
  return [...homes]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(' ')}`)
    .toSorted()
}

/** Returns the journeys that `docs/engine.md` lists: each a heading with the files that it passes. */
function readJourneys(): readonly { readonly title: string; readonly paths: readonly string[] }[] {
  const [, section = ''] = readFileSync(JOURNEYS_PAGE, 'utf8').split('\n## Five journeys\n')
  const [own = ''] = section.split('\n## ')
  return own
    .split('\n### ')
    .slice(1)
    .map((part) => ({
      title: part.split('\n')[0] ?? '',
      paths: [...new Set(part.match(/`(?:packages|apps)\/[^`]+\.tsx?`/g) ?? [])],
    }))
}
