/** Evaluates the program of an expression in double precision. */
import { CalculationError } from './calculation-error.ts'

import type { BinaryOperator, ExpressionStep } from './parse-expression.ts'

/**
 * Returns the value of a program.
 *
 * @throws {CalculationError} for a division or modulo by zero, and for a result that is not finite.
 */
export function evaluate(program: readonly ExpressionStep[]): number {
  const stack: number[] = []
  const take = (): number => stack.pop() ?? Number.NaN
  for (const step of program) {
    if (typeof step === 'number') {
      stack.push(step)
    } else if (step === 'negate') {
      stack.push(-take())
    } else {
      const right = take()
      stack.push(apply(step, take(), right))
    }
  }
  return take()
}

function apply(operator: BinaryOperator, left: number, right: number): number {
  const result = compute(operator, left, right)
  if (Number.isFinite(result)) return result
  const operation = `${formatOperand(left)} ${operator} ${formatOperand(right)}`
  throw new CalculationError(
    Number.isNaN(result)
      ? `Not a real number: ${operation}`
      : `Result too large: ${operation} is beyond 1.8e308`,
  )
}

/** Formats a value for a message, in brackets if its sign would look like an operator. */
function formatOperand(value: number): string {
  return value < 0 ? `(${value})` : String(value)
}

function compute(operator: BinaryOperator, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      if (right === 0) throw new CalculationError('Division by zero')
      return left / right
    case '%':
      if (right === 0) throw new CalculationError('Modulo by zero')
      return left % right
    case '^':
      if (left === 0 && right < 0) throw new CalculationError('Division by zero')
      return left ** right
  }
}
