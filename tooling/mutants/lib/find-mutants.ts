/** Finds small changes of a source text that its tests should notice. No I/O. */
import { createHash } from 'node:crypto'

import ts from 'typescript-api'

/** One change of a source text. */
export interface Mutant {
  readonly operator: string
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** Number of the changed line, from 1. */
  readonly line: number
  /** Start of the code that runs whenever the changed code can run; undefined in code that runs on import. */
  readonly reachedAt: Reach | undefined
}

/** Positions at which a call that records execution fits: after the brace of a block, or around the body of an arrow function. */
interface Reach {
  readonly start: number
  /** End of the body of an arrow function without a block. */
  readonly end?: number
}

/** A replacement of a node, or of a part of it. */
type Change = readonly [operator: string, replacement: string, range?: ts.TextRange]

const SWAPPED: Partial<Record<ts.SyntaxKind, string>> = {
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [ts.SyntaxKind.PlusToken]: '-',
  [ts.SyntaxKind.MinusToken]: '+',
  [ts.SyntaxKind.AsteriskToken]: '/',
  [ts.SyntaxKind.SlashToken]: '*',
  [ts.SyntaxKind.PlusEqualsToken]: '-=',
  [ts.SyntaxKind.MinusEqualsToken]: '+=',
  [ts.SyntaxKind.AmpersandAmpersandToken]: '||',
  [ts.SyntaxKind.BarBarToken]: '&&',
}

const SWAPPED_METHODS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
}

const DROPPED_METHODS = new Set(
  'filter slice sort toSorted toReversed map flat trim toLowerCase toUpperCase concat'.split(' '),
)

/** Calls whose arguments are messages to people. */
const MESSAGE_CALL = /(Error|Failure|\.(debug|info|warn|error))$/u

/** Returns all mutants of a TypeScript source, in source order. */
export function findMutants(path: string, text: string): Mutant[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: Mutant[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node))
      return
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return
    for (const [operator, replacement, range] of changesOf(node)) {
      const start = range?.pos ?? node.getStart()
      const line = source.getLineAndCharacterOfPosition(start).line + 1
      const end = range?.end ?? node.end
      if (text.slice(start, end) === replacement) continue
      found.push({ operator, start, end, replacement, line, reachedAt: findReach(node) })
    }
    if (!isMessage(node)) ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/**
 * Chooses up to `size` mutants, on different lines if possible. The choice depends on `seed` and on the text of the
 * lines, so that it stays the same when other lines change.
 */
export function sampleMutants(
  text: string,
  mutants: readonly Mutant[],
  { size, seed }: { readonly size: number; readonly seed: string },
): Mutant[] {
  const lines = text.split('\n')
  const keyed = mutants.map((mutant) => {
    const content = [seed, lines[mutant.line - 1]?.trim(), mutant.operator, mutant.replacement]
    return { mutant, key: createHash('sha256').update(content.join('\0')).digest('hex') }
  })
  const shuffled = keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ mutant }) => mutant)
  const first = new Map(shuffled.toReversed().map((mutant) => [mutant.line, mutant]))
  const isFirst = (mutant: Mutant): boolean => first.get(mutant.line) === mutant
  const chosen = [...shuffled.filter(isFirst), ...shuffled.filter((mutant) => !isFirst(mutant))]
  return chosen.slice(0, size).toSorted((a, b) => a.start - b.start)
}

/** Returns `text` with the change of `mutant`. */
export function applyMutant(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

/** Returns `text` with calls of the function `name`, with the start of the reached code as argument. */
export function addProbes(text: string, mutants: readonly Mutant[], name: string): string {
  const inserted = new Map<number, string>()
  const insert = (at: number, code: string): unknown =>
    inserted.set(at, code + (inserted.get(at) ?? ''))
  const reaches = mutants.flatMap(({ reachedAt }) => reachedAt ?? [])
  for (const { start, end } of new Map(reaches.map((reach) => [reach.start, reach])).values()) {
    if (end === undefined) insert(start, `${name}(${start});`)
    else {
      insert(start, `(${name}(${start}), `)
      insert(end, ')')
    }
  }
  const last = [...inserted].toSorted(([a], [b]) => b - a)
  return last.reduce((code, [at, added]) => code.slice(0, at) + added + code.slice(at), text)
}

function changesOf(node: ts.Node): Change[] {
  if (ts.isIfStatement(node)) return constants(node.expression)
  if (ts.isConditionalExpression(node)) return constants(node.condition)
  if (ts.isWhileStatement(node)) return [['condition', 'false', rangeOf(node.expression)]]
  if (ts.isBinaryExpression(node)) return binaryChanges(node)
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [['negation', node.operand.getText()]]
  if (ts.isExpressionStatement(node)) return callChanges(node)
  if (ts.isThrowStatement(node)) return [['throw', ';']]
  if (ts.isReturnStatement(node) && node.expression !== undefined)
    return [['return', 'return undefined']]
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body))
    return [['return', 'undefined', rangeOf(node.body)]]
  if (node.kind === ts.SyntaxKind.TrueKeyword) return isKeyList(node) ? [] : [['boolean', 'false']]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [['boolean', 'true']]
  if (ts.isNumericLiteral(node))
    return [['number', String(Number(node.text.replaceAll('_', '')) + 1)]]
  if (ts.isStringLiteral(node)) return isValue(node) ? [['string', "''"]] : []
  return ts.isPropertyAccessExpression(node) ? methodChanges(node) : []
}

function constants(condition: ts.Expression): Change[] {
  const constant = [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword].includes(condition.kind)
  if (constant) return []
  return ['true', 'false'].map((value) => ['condition', value, rangeOf(condition)])
}

function binaryChanges({ left, operatorToken, right }: ts.BinaryExpression): Change[] {
  const { kind } = operatorToken
  if (kind === ts.SyntaxKind.QuestionQuestionToken)
    return [['??', '', { pos: left.end, end: right.end }]]
  const isText = (part: ts.Node): boolean =>
    ts.isStringLiteralLike(part) || ts.isTemplateExpression(part)
  const swapped = isText(left) || isText(right) ? equality(kind) : SWAPPED[kind]
  return swapped === undefined ? [] : [[operatorToken.getText(), swapped, rangeOf(operatorToken)]]
}

function equality(kind: ts.SyntaxKind): string | undefined {
  const swapped = SWAPPED[kind]
  return swapped?.endsWith('==') === true ? swapped : undefined
}

function callChanges({ expression }: ts.ExpressionStatement): Change[] {
  const call = ts.isAwaitExpression(expression) ? expression.expression : expression
  if (!ts.isCallExpression(call) || call.expression.kind === ts.SyntaxKind.SuperKeyword) return []
  return MESSAGE_CALL.test(call.expression.getText()) ? [] : [['call', '', rangeOf(expression)]]
}

function methodChanges(node: ts.PropertyAccessExpression): Change[] {
  const call = node.parent
  if (!ts.isCallExpression(call) || call.expression !== node) return []
  const swapped = SWAPPED_METHODS[node.name.text]
  if (swapped !== undefined) return [['method', swapped, rangeOf(node.name)]]
  if (!DROPPED_METHODS.has(node.name.text)) return []
  return [['method', '', { pos: node.expression.end, end: call.end }]]
}

/** Whether a string is data: not a key, and without the spaces of a message. */
function isValue(node: ts.StringLiteral): boolean {
  const { parent } = node
  const isKey = ts.isPropertyAssignment(parent) && parent.name === node
  return node.text !== '' && !node.text.includes(' ') && !isKey
}

/** Whether `true` is the value of a key in an object that only lists keys. */
function isKeyList({ parent: { parent } }: ts.Node): boolean {
  const isTrue = (entry: ts.Node): boolean =>
    ts.isPropertyAssignment(entry) && entry.initializer.kind === ts.SyntaxKind.TrueKeyword
  return (
    ts.isObjectLiteralExpression(parent) &&
    parent.properties.length > 1 &&
    parent.properties.every(isTrue)
  )
}

function isMessage(node: ts.Node): boolean {
  if (ts.isThrowStatement(node)) return true
  const isCall = ts.isCallExpression(node) || ts.isNewExpression(node)
  return isCall && MESSAGE_CALL.test(node.expression.getText())
}

function findReach(changed: ts.Node): Reach | undefined {
  for (let node = changed; node.parent !== undefined; node = node.parent) {
    const { parent } = node
    if (ts.isBlock(parent)) return { start: parent.getStart() + 1 }
    if (ts.isArrowFunction(parent) && parent.body === node)
      return { start: node.getStart(), end: node.end }
  }
  return undefined
}

function rangeOf(node: ts.Node): ts.TextRange {
  return { pos: node.getStart(), end: node.end }
}
