/** From the text of an expression to its numbers and operators. */
import { CalculationError } from './calculation-error.ts'

/** The operators, as the parser knows them. */
export type Operator = '+' | '-' | '*' | '/' | '%' | '^' | '(' | ')'

/** A piece of an expression. `at` is its first character, counted from 1. */
export type ExpressionToken =
  | { readonly kind: 'number'; readonly value: number; readonly text: string; readonly at: number }
  | {
      readonly kind: 'operator'
      readonly operator: Operator
      readonly text: string
      readonly at: number
    }
  | { readonly kind: 'end'; readonly text: ''; readonly at: number }

/** How operators are written: the keyboard's signs, and those of print that models like to use. */
const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['+', '+'],
  ['-', '-'],
  ['*', '*'],
  ['/', '/'],
  ['%', '%'],
  ['^', '^'],
  ['(', '('],
  [')', ')'],
  ['**', '^'],
  ['−', '-'],
  ['×', '*'],
  ['⋅', '*'],
  ['·', '*'],
  ['÷', '/'],
  ['∕', '/'],
])

const SPACE = /\s+/y
const SIGN = /\*\*|[+\-*/%^()−×⋅·÷∕]/y
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const WORD = /\p{L}[\p{L}\p{N}_]*/uy
const CHARACTER = /./suy
/** A sign that some write between groups of digits, or in place of the decimal point. */
const SEPARATOR = /[,_'’]\d/y

/**
 * The tokens of an expression; the last one is its end.
 *
 * @throws {CalculationError} at the first character that no expression has there.
 */
export function tokensOf(expression: string): readonly ExpressionToken[] {
  const tokens: ExpressionToken[] = []
  let index = 0
  while (index < expression.length) {
    index += match(SPACE, expression, index).length
    if (index === expression.length) break
    const token = readToken(expression, index)
    tokens.push(token)
    index += token.text.length
  }
  return [...tokens, { kind: 'end', text: '', at: expression.length + 1 }]
}

function readToken(expression: string, index: number): ExpressionToken {
  const at = index + 1
  const sign = match(SIGN, expression, index)
  const operator = OPERATORS.get(sign)
  if (operator !== undefined) return { kind: 'operator', operator, text: sign, at }
  const text = match(NUMBER, expression, index)
  if (text === '') throw unknownText(expression, index)
  assertNumberEnds(expression, index + text.length)
  const value = Number(text)
  if (value === Infinity) throw new CalculationError(`Number too large: ${text}`)
  return { kind: 'number', value, text, at }
}

/** A number is followed by an operator or a space, never by more of itself. */
function assertNumberEnds(expression: string, index: number): void {
  const at = index + 1
  if (match(SEPARATOR, expression, index) !== '') {
    const sign = expression.charAt(index)
    throw invalid(
      `unexpected ${quote(sign)} at position ${at}; write numbers without separators between digits and with a decimal point, such as 1234.5`,
    )
  }
  const next = expression.charAt(index)
  if (next === '.') throw invalid(`a number with two decimal points at position ${at}`)
  if (next === 'e' || next === 'E') {
    throw invalid(`expected the digits of an exponent after ${quote(next)} at position ${at}`)
  }
}

function unknownText(expression: string, index: number): CalculationError {
  const at = index + 1
  const word = match(WORD, expression, index)
  if (word === '') {
    const character = match(CHARACTER, expression, index)
    return invalid(`unexpected ${quote(character)} at position ${at}`)
  }
  return invalid(
    `${quote(word)} at position ${at} is not known, only numbers and + - * / % ^ ( ) are`,
  )
}

/** What the model reads of an expression that is written wrong. */
export function invalid(why: string): CalculationError {
  return new CalculationError(`Invalid expression: ${why}`)
}

/** Longest word of the model that a message repeats. */
const QUOTED_LENGTH = 40

/** A piece of the model's text in a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH)}…` : text)
}

/** What a sticky pattern matches at `index`; nothing is an empty text. */
function match(pattern: RegExp, text: string, index: number): string {
  pattern.lastIndex = index
  return pattern.exec(text)?.[0] ?? ''
}
