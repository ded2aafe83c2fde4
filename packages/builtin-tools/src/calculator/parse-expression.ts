/**
 * A Pratt parser: each operator has a binding power, and wins its operands from operators with less power.
 *
 *   + -      10   from left to right
 *   * / %    20   from left to right
 *   unary    30
 *   ^        40   from right to left
 *
 * TOOLS-P1 `^` binds more tightly than a sign before it, and accepts a sign after it: -2^2 is -4, 2^-1 is 0.5.
 * TOOLS-P2 The resulting program is in evaluation order, so evaluating it needs no recursion.
 * TOOLS-P3 Nesting is limited, so that no expression exhausts the stack.
 */
import {
  invalidExpression,
  quote,
  tokenize,
  type Operator,
  type ExpressionToken,
} from './tokens.ts'

/** An operator between two values. */
export type BinaryOperator = Exclude<Operator, '(' | ')'>

/** A step of a program: pushes a number on the stack, or replaces one or two numbers with their result. */
export type ExpressionStep = number | BinaryOperator | 'negate'

/** Maximum number of nested brackets, signs and powers; real calculations need far fewer. */
export const MAX_NESTING = 200

const POWERS: Readonly<Record<BinaryOperator, number>> = {
  '+': 10,
  '-': 10,
  '*': 20,
  '/': 20,
  '%': 20,
  '^': 40,
}
const UNARY_POWER = 30

/**
 * Parses an expression into the program that computes it.
 *
 * @throws {CalculationError} naming the position of the error and what was expected there.
 */
export function parseExpression(expression: string): readonly ExpressionStep[] {
  return new Parser(tokenize(expression)).parse()
}

class Parser {
  readonly #tokens: readonly ExpressionToken[]
  readonly #steps: ExpressionStep[] = []
  #index = 0
  #nesting = 0

  constructor(tokens: readonly ExpressionToken[]) {
    this.#tokens = tokens
  }

  parse(): readonly ExpressionStep[] {
    this.#parseExpression(0)
    const token = this.#token
    if (token.kind === 'end') return this.#steps
    if (token.text === ')')
      throw invalidExpression(`")" at position ${token.at} does not close a "("`)
    throw this.#unexpected('an operator')
  }

  /** Parses values and the operators between them whose power is above `power`. */
  #parseExpression(power: number): void {
    this.#nesting += 1
    if (this.#nesting > MAX_NESTING) {
      throw invalidExpression(
        `nested deeper than ${MAX_NESTING} levels at position ${this.#token.at}`,
      )
    }
    this.#parseValue()
    for (let operator = this.#peekBinary(power); operator; operator = this.#peekBinary(power)) {
      this.#index += 1
      this.#parseExpression(operator === '^' ? POWERS['^'] - 1 : POWERS[operator])
      this.#steps.push(operator)
    }
    this.#nesting -= 1
  }

  #parseValue(): void {
    const token = this.#token
    if (token.kind === 'end') throw this.#unexpected('a number or "("')
    this.#index += 1
    if (token.kind === 'number') {
      this.#steps.push(token.value)
    } else if (token.operator === '(') {
      this.#parseBracket(token)
    } else if (token.operator === '+' || token.operator === '-') {
      this.#parseExpression(UNARY_POWER)
      if (token.operator === '-') this.#steps.push('negate')
    } else {
      this.#index -= 1
      throw this.#unexpected('a number or "("')
    }
  }

  #parseBracket(opening: ExpressionToken): void {
    this.#parseExpression(0)
    const token = this.#token
    if (token.kind !== 'operator' || token.operator !== ')') {
      throw this.#unexpected(`an operator or ")" to close the "(" at position ${opening.at}`)
    }
    this.#index += 1
  }

  /** Returns the next token if it is a binary operator with more than this power. */
  #peekBinary(power: number): BinaryOperator | undefined {
    const token = this.#token
    if (token.kind !== 'operator') return undefined
    const { operator } = token
    if (operator === '(' || operator === ')') return undefined
    return POWERS[operator] > power ? operator : undefined
  }

  get #token(): ExpressionToken {
    return this.#tokens[this.#index] ?? { kind: 'end', text: '', at: 1 }
  }

  #unexpected(expected: string): Error {
    const { kind, text, at } = this.#token
    const got = kind === 'end' ? 'the end' : quote(text)
    return invalidExpression(`expected ${expected} at position ${at}, got ${got}`)
  }
}
