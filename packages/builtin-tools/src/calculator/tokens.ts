/** Splits an expression into numbers and operators. */
import { CalculationError } from './calculation-error.ts'

/** An operator or bracket. */
export type Operator = '+' | '-' | '*' | '/' | '%' | '^' | '(' | ')'

/** A token of an expression. `at` is the position of its first character, from 1. */
export type ExpressionToken =
  | { readonly kind: 'number'; readonly value: number; readonly text: string; readonly at: number }
  | {
      readonly kind: 'operator'
      readonly operator: Operator
      readonly text: string
      readonly at: number
    }
  | { readonly kind: 'end'; readonly text: ''; readonly at: number }

/** Operators by spelling: those of the keyboard, and typographic ones that models use. */
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
/** A character that some writers put between groups of digits or use as a decimal point. */
const SEPARATOR = /[,_'’]\d/y

/**
 * Returns the tokens of an expression; the last one marks its end.
 *
 * @throws {CalculationError} for the first invalid character.
 */
export function tokenize(expression: string): readonly ExpressionToken[] {
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
  if (text === '') throw unknownTextError(expression, index)
  assertNumberEnds(expression, index + text.length)
  const value = Number(text)
  if (value === Infinity) throw new CalculationError(`Number too large: ${text}`)
  return { kind: 'number', value, text, at }
}

/** Throws if the text after a number would continue the number. */
function assertNumberEnds(expression: string, index: number): void {
  const at = index + 1
  if (match(SEPARATOR, expression, index) !== '') {
    const sign = expression.charAt(index)
    throw invalidExpression(
      `unexpected ${quote(sign)} at position ${at}; write numbers without separators between digits and with a decimal point, such as 1234.5`,
    )
  }
  const next = expression.charAt(index)
  if (next === '.') throw invalidExpression(`a number with two decimal points at position ${at}`)
  if (next === 'e' || next === 'E') {
    throw invalidExpression(
      `expected the digits of an exponent after ${quote(next)} at position ${at}`,
    )
  }
}

function unknownTextError(expression: string, index: number): CalculationError {
  const at = index + 1
  const word = match(WORD, expression, index)
  if (word === '') {
    const character = match(CHARACTER, expression, index)
    return invalidExpression(`unexpected ${quote(character)} at position ${at}`)
  }
  return invalidExpression(
    `${quote(word)} at position ${at} is not supported; use only numbers and + - * / % ^ ( )`,
  )
}

/** Creates the error of an invalid expression. */
export function invalidExpression(reason: string): CalculationError {
  return new CalculationError(`Invalid expression: ${reason}`)
}

/** Maximum number of characters of the model's text that a message quotes. */
const QUOTED_LENGTH = 40

/** Quotes text of the model for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH)}…` : text)
}

/** Returns the match of a sticky pattern at `index`; an empty string when there is none. */
function match(pattern: RegExp, text: string, index: number): string {
  pattern.lastIndex = index
  return pattern.exec(text)?.[0] ?? ''
}
