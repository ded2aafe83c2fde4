/** The calculator tool. */
import { defineTextTool, ToolResult } from '@tutti/core'

import { CalculationError } from './calculation-error.ts'
import { evaluate } from './evaluate.ts'
import { formatNumber } from './format-number.ts'
import { parseExpression } from './parse-expression.ts'

import type { ToolSettings, TypedTool } from '@tutti/core'

/** Maximum number of characters of an expression; enough for a sum of a thousand numbers. */
export const MAX_EXPRESSION_LENGTH = 10_000

const DEFAULTS = {
  name: 'calculator',
  description:
    'Computes an arithmetic expression with + - * / % (modulo) ^ (power) and brackets, such as ' +
    '(10 + 5) / 3 or 2 ^ 10. Write numbers without thousands separators. No functions, no variables.',
} as const satisfies ToolSettings<string>

/**
 * Creates a text tool that computes an arithmetic expression in double precision: `2 + 3 * 4` gives `14`.
 *
 * @throws {TypeError} naming every invalid setting.
 */
export function calculator(settings: Partial<ToolSettings<string>> = {}): TypedTool<string> {
  return defineTextTool({ ...DEFAULTS, ...settings, execute: calculate })
}

function calculate(expression: string): ToolResult {
  if (expression.trim() === '') return ToolResult.failure('Expression must not be blank')
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    return ToolResult.failure(
      `Expression too long: ${expression.length} characters, maximum ${MAX_EXPRESSION_LENGTH}`,
    )
  }
  try {
    return ToolResult.success(formatNumber(evaluate(parseExpression(expression))))
  } catch (error) {
    if (error instanceof CalculationError) return ToolResult.failure(error.message)
    throw error
  }
}
