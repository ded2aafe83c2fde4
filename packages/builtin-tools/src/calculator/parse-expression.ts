/**
 * A Pratt parser: each operator has a power, and takes what stands beside it from operators of less.
 *
 *   + -      10   from left to right
 *   * / %    20   from left to right
 *   unary    30
 *   ^        40   from right to left
 *
 * P1 `^` binds tighter than a sign before it, and takes a sign after it: -2^2 is -4, 2^-1 is 0.5.
 * P2 The program that comes out is in the order of evaluation, so that running it needs no recursion.
 * P3 Nesting is bounded, so that no expression exhausts the stack.
 */
import { invalid, quote, tokensOf, type Operator, type ExpressionToken } from './tokens.ts'

/** Operators between two values. */
export type BinaryOperator = Exclude<Operator, '(' | ')'>

/** A step of a program: put a number on the stack, or take one or two from it and put their result. */
export type ExpressionStep = number | BinaryOperator | 'negate'

/** Levels of brackets, signs and powers within each other; no calculation by hand comes near it. */
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
 * The program that computes an expression.
 *
 * @throws {CalculationError} saying where the expression is wrong and what was expected there.
 */
export function parseExpression(expression: string): readonly ExpressionStep[] {
  return new Parser(tokensOf(expression)).program()
}

class Parser {
  readonly #tokens: readonly ExpressionToken[]
  readonly #steps: ExpressionStep[] = []
  #index = 0
  #nesting = 0

  constructor(tokens: readonly ExpressionToken[]) {
    this.#tokens = tokens
  }

  program(): readonly ExpressionStep[] {
    this.#expression(0)
    const token = this.#token
    if (token.kind === 'end') return this.#steps
    if (token.text === ')') throw invalid(`")" at position ${token.at} closes no "("`)
    throw this.#unexpected('an operator')
  }

  /** Reads values and the operators between them whose power is above `power`. */
  #expression(power: number): void {
    this.#nesting += 1
    if (this.#nesting > MAX_NESTING) {
      throw invalid(`nested deeper than ${MAX_NESTING} levels at position ${this.#token.at}`)
    }
    this.#value()
    for (let operator = this.#binary(power); operator; operator = this.#binary(power)) {
      this.#index += 1
      this.#expression(operator === '^' ? POWERS['^'] - 1 : POWERS[operator])
      this.#steps.push(operator)
    }
    this.#nesting -= 1
  }

  #value(): void {
    const token = this.#token
    if (token.kind === 'end') throw this.#unexpected('a number or "("')
    this.#index += 1
    if (token.kind === 'number') {
      this.#steps.push(token.value)
    } else if (token.operator === '(') {
      this.#bracket(token)
    } else if (token.operator === '+' || token.operator === '-') {
      this.#expression(UNARY_POWER)
      if (token.operator === '-') this.#steps.push('negate')
    } else {
      this.#index -= 1
      throw this.#unexpected('a number or "("')
    }
  }

  #bracket(opening: ExpressionToken): void {
    this.#expression(0)
    const token = this.#token
    if (token.kind !== 'operator' || token.operator !== ')') {
      throw this.#unexpected(`an operator or ")" to close the "(" of position ${opening.at}`)
    }
    this.#index += 1
  }

  /** The operator that is next, if it is one between values with more than this power. */
  #binary(power: number): BinaryOperator | undefined {
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
    return invalid(`expected ${expected} at position ${at}, got ${got}`)
  }
}
