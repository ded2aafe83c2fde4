import { runTool, toolContext } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { randomFrom, type Random } from '../../test/random.ts'
import { calculator, MAX_EXPRESSION_LENGTH } from './calculator.ts'
import { formatNumber } from './format-number.ts'
import { MAX_NESTING } from './parse-expression.ts'

/** Returns the text of the result or of the failure. */
async function calculate(expression: string): Promise<string> {
  const result = await calculator().execute(expression, toolContext())
  if (typeof result === 'string') return result
  return result.success ? result.output : `FAILED ${result.errorMessage}`
}

describe('the value of an expression', () => {
  it.each([
    ['2 + 3 * 4', '14'],
    ['(10 + 5) / 3', '5'],
    ['2 ^ 10', '1024'],
    ['10 - 4 - 3', '3'],
    ['64 / 4 / 2', '8'],
    ['2 * 3 % 4', '2'],
    ['7 % 3 * 2', '2'],
    ['1 + 2 - 3 * 4 / 6', '1'],
    ['-7 % 3', '-1'],
    ['7 % -3', '1'],
    ['5.5 % 2', '1.5'],
    ['0 ^ 0', '1'],
    ['\t 1\n+ 1 ', '2'],
    ['((((7))))', '7'],
  ])('%s is %s', async (expression, value) => {
    expect(await calculate(expression)).toBe(value)
  })
})

describe('[TOOLS-P1] the value of powers and signs', () => {
  it.each([
    ['-2^2', '-4'],
    ['(-2)^2', '4'],
    ['2^-1', '0.5'],
    ['2^-1*3', '1.5'],
    ['2^3^2', '512'],
    ['2^-1^2', '0.5'],
    ['2^-(1+1)^2', '0.0625'],
    ['--2', '2'],
    ['-+-2', '2'],
    ['2--3', '5'],
    ['2*-3', '-6'],
    ['-3*2', '-6'],
    ['-4%3', '-1'],
    ['+5', '5'],
  ])('%s is %s', async (expression, value) => {
    expect(await calculate(expression)).toBe(value)
  })
})

describe('numbers', () => {
  it.each([
    ['.5', '0.5'],
    ['5.', '5'],
    ['5.+.5', '5.5'],
    ['007', '7'],
    ['1e3', '1000'],
    ['1.5E-3', '0.0015'],
    ['5.e+2', '500'],
    ['2e3^2', '4000000'],
  ])('The number parser reads %s as %s', async (expression, value) => {
    expect(await calculate(expression)).toBe(value)
  })

  it.each([
    ['-0', '0'],
    ['0 * -1', '0'],
    ['0.1 + 0.2', '0.30000000000000004'],
    ['1 / 3', '0.3333333333333333'],
    ['6.0 / 2', '3'],
    ['10 ^ 14', '100000000000000'],
    ['999999999999999', '999999999999999'],
    ['10 ^ 15', '1000000000000000'],
    ['2 ^ 53 - 1', '9007199254740991'],
    ['2 ^ 53', '9.007199254740992e+15'],
    ['-(2 ^ 60)', '-1.152921504606847e+18'],
    ['10 ^ -7', '1e-7'],
  ])('The number formatter writes %s as %s', async (expression, text) => {
    expect(await calculate(expression)).toBe(text)
  })

  it('The number formatter writes any result so that it is parsed as the same number', async () => {
    const random = randomFrom(1)
    const bits = new DataView(new ArrayBuffer(8))
    for (let round = 0; round < 2_000; round++) {
      bits.setUint32(0, random.integer(2 ** 32))
      bits.setUint32(4, random.integer(2 ** 32))
      const value = bits.getFloat64(0)
      if (!Number.isFinite(value)) continue
      const text = formatNumber(value)
      expect(Number(text)).toBe(value)
      expect(await calculate(text)).toBe(text)
    }
  })
})

describe('typographic operators', () => {
  it.each([
    ['3 × 4', '12'],
    ['3 ⋅ 4', '12'],
    ['3 · 4', '12'],
    ['12 ÷ 4', '3'],
    ['12 ∕ 4', '3'],
    ['5 − 7', '-2'],
    ['−2 ^ 2', '-4'],
    ['2 ** 3 ** 2', '512'],
    ['1\u00a0+\u20091', '2'],
  ])('The calculator accepts the typographic operators in %s', async (expression, value) => {
    expect(await calculate(expression)).toBe(value)
  })
})

describe('an expression without a value', () => {
  it.each([
    ['', 'Expression must not be blank'],
    [' \n', 'Expression must not be blank'],
    ['1 / 0', 'Division by zero'],
    ['1 / (2 - 2)', 'Division by zero'],
    ['1 / -0', 'Division by zero'],
    ['0 ^ -1', 'Division by zero'],
    ['5 % 0', 'Modulo by zero'],
    ['10 ^ 400', 'Result too large: 10 ^ 400 is beyond 1.8e308'],
    ['1 / 10 ^ 400', 'Result too large: 10 ^ 400 is beyond 1.8e308'],
    ['-10 ^ 308 * 10', 'Result too large: (-1e+308) * 10 is beyond 1.8e308'],
    ['(-8) ^ 0.5', 'Not a real number: (-8) ^ 0.5'],
    ['1e999', 'Number too large: 1e999'],
  ])('An expression without a value fails for %j: %s', async (expression, message) => {
    expect(await calculate(expression)).toBe(`FAILED ${message}`)
  })
})

describe('an invalid expression', () => {
  const known = 'only numbers and + - * / % ^ ( )'
  const hint =
    'write numbers without separators between digits and with a decimal point, such as 1234.5'
  it.each([
    ['2 +', 'expected a number or "(" at position 4, got the end'],
    ['* 2', 'expected a number or "(" at position 1, got "*"'],
    ['2 + × 3', 'expected a number or "(" at position 5, got "×"'],
    ['()', 'expected a number or "(" at position 2, got ")"'],
    [
      '(1 + 2',
      'expected an operator or ")" to close the "(" at position 1 at position 7, got the end',
    ],
    ['((1) 2', 'expected an operator or ")" to close the "(" at position 1 at position 6, got "2"'],
    ['1 + 2)', '")" at position 6 does not close a "("'],
    ['2 (3)', 'expected an operator at position 3, got "("'],
    ['2 3', 'expected an operator at position 3, got "3"'],
    ['50%', 'expected a number or "(" at position 4, got the end'],
    ['1.2.3', 'a number with two decimal points at position 4'],
    ['1..2', 'a number with two decimal points at position 3'],
    ['.', 'unexpected "." at position 1'],
    ['2e', 'expected the digits of an exponent after "e" at position 2'],
    ['2E+', 'expected the digits of an exponent after "E" at position 2'],
    ['1,000 + 1', `unexpected "," at position 2; ${hint}`],
    ['1_000', `unexpected "_" at position 2; ${hint}`],
    ["1'000", `unexpected "'" at position 2; ${hint}`],
    ['1,', 'unexpected "," at position 2'],
    ['$5', 'unexpected "$" at position 1'],
    ['2 + 2 =', 'unexpected "=" at position 7'],
    ['1 + 😀', 'unexpected "😀" at position 5'],
    ['sqrt(4)', `"sqrt" at position 1 is not supported; use ${known}`],
    ['2 * größe_1', `"größe_1" at position 5 is not supported; use ${known}`],
    ['0x10', `"x10" at position 2 is not supported; use ${known}`],
    ['a'.repeat(50), `"${'a'.repeat(40)}…" at position 1 is not supported; use ${known}`],
  ])('An invalid expression fails with the position for %s: %s', async (expression, message) => {
    expect(await calculate(expression)).toBe(`FAILED Invalid expression: ${message}`)
  })

  it('An invalid expression fails before anything is computed', async () => {
    expect(await calculate('1 / 0 +')).toContain('Invalid expression')
  })
})

describe('the limits of an expression', () => {
  const tooDeep = `Invalid expression: nested deeper than ${MAX_NESTING} levels`

  it('[TOOLS-P3] The limits of an expression limit nested brackets, signs and powers', async () => {
    const within = MAX_NESTING - 1
    expect(await calculate(`${'('.repeat(within)}7${')'.repeat(within)}`)).toBe('7')
    expect(await calculate(`${'('.repeat(MAX_NESTING)}7${')'.repeat(MAX_NESTING)}`)).toContain(
      tooDeep,
    )
    expect(await calculate(`${'('.repeat(4_000)}7${')'.repeat(4_000)}`)).toContain(tooDeep)
    expect(await calculate(`${'-'.repeat(5_000)}7`)).toContain(tooDeep)
    expect(await calculate(`1${'^1'.repeat(4_000)}`)).toContain(tooDeep)
  })

  it('[TOOLS-P2] The limits of an expression do not count a long row of operators as nesting', async () => {
    expect(await calculate(`${'1+'.repeat(4_999)}1`)).toBe('5000')
    expect(await calculate(Array.from({ length: 1_000 }, () => '(1)').join('+'))).toBe('1000')
  })

  it('The limits of an expression limit its length', async () => {
    const longest = '1'.padEnd(MAX_EXPRESSION_LENGTH)
    expect(await calculate(longest)).toBe('1')
    expect(await calculate(`${longest} `)).toBe(
      'FAILED Expression too long: 10001 characters, maximum 10000',
    )
    expect(await calculate('('.repeat(100_000))).toContain('Expression too long: 100000')
  })
})

describe('a random expression', () => {
  it.each([
    ['with brackets everywhere', 11, true],
    ['with no bracket too many', 12, false],
  ])('The calculator computes a random expression %s', async (_title, seed, everywhere) => {
    const random = randomFrom(seed)
    const seen = { values: 0, failures: 0 }
    for (let round = 0; round < 3_000; round++) {
      const tree = randomTree(random, 1 + random.integer(5))
      const value = valueOf(tree)
      const text = spaced(print(tree, { power: 0, everywhere }), random)
      const result = await calculate(text)
      if (Number.isFinite(value)) expect(result, text).toBe(formatNumber(value))
      else expect(result, text).toMatch(/^FAILED (?:Div|Mod|Result too|Not a real)/)
      seen[Number.isFinite(value) ? 'values' : 'failures'] += 1
    }
    expect(seen.values).toBeGreaterThan(1_500)
    expect(seen.failures).toBeGreaterThan(50)
  })
})

describe('calculator', () => {
  it('The calculator accepts its input as models send it', async () => {
    const call = { id: '1', name: 'calculator', arguments: '{"input":"6 * 7"}' }
    expect((await runTool(calculator(), call)).result).toMatchObject({
      success: true,
      output: '42',
    })
    expect((await runTool(calculator(), { ...call, arguments: '6 * 7' })).result.output).toBe('42')
  })

  it('The calculator returns a failed result for an invalid expression', async () => {
    const { result, end } = await runTool(calculator(), {
      id: '1',
      name: 'calculator',
      arguments: '{"input":"1/0"}',
    })
    expect([result.errorMessage, end]).toEqual(['Division by zero', 'finished'])
  })

  it('The calculator has default settings', () => {
    expect(calculator()).toMatchObject({ name: 'calculator', kind: 'text', requireApproval: false })
    expect(calculator({ name: 'sums', timeoutMs: 5 })).toMatchObject({ name: 'sums', timeoutMs: 5 })
    expect(() => calculator({ name: 'no spaces' })).toThrow(TypeError)
  })
})

type Tree =
  | number
  | { readonly sign: '-' | '+'; readonly of: Tree }
  | { readonly operator: string; readonly left: Tree; readonly right: Tree }

function randomTree(random: Random, depth: number): Tree {
  if (depth === 0) return random.pick([0, 1, 2, 3, 10, 0.5, 2.25, 7])
  if (random.integer(4) === 0) {
    return { sign: random.pick(['-', '+']), of: randomTree(random, depth - 1) }
  }
  return {
    operator: random.pick(['+', '-', '*', '/', '%', '^']),
    left: randomTree(random, random.integer(depth)),
    right: randomTree(random, random.integer(depth)),
  }
}

/** Returns the value by JavaScript's operators; NaN if a part of it is not finite. */
function valueOf(tree: Tree): number {
  if (typeof tree === 'number') return tree
  if ('sign' in tree) return tree.sign === '-' ? -valueOf(tree.of) : valueOf(tree.of)
  const [left, right] = [valueOf(tree.left), valueOf(tree.right)]
  const results: Readonly<Record<string, number>> = {
    '+': left + right,
    '-': left - right,
    '*': left * right,
    '/': left / right,
    '%': left % right,
    '^': left ** right,
  }
  // NaN ** 0 is 1, but a failure to the power of 0 is a failure.
  const result = Number.isNaN(left) || Number.isNaN(right) ? Number.NaN : results[tree.operator]!
  return Number.isFinite(result) ? result : Number.NaN
}

const POWERS: Readonly<Record<string, number>> = { '+': 1, '-': 1, '*': 2, '/': 2, '%': 2, '^': 4 }

/** Formats a tree; in brackets where the surrounding operator binds at least as tightly. */
function print(tree: Tree, around: { power: number; everywhere: boolean }): string {
  const { power, everywhere } = around
  if (typeof tree === 'number') return String(tree)
  if ('sign' in tree) {
    const text = `${tree.sign}${print(tree.of, { power: 3, everywhere })}`
    return everywhere || power > 3 ? `(${text})` : text
  }
  const own = POWERS[tree.operator]!
  const isPower = tree.operator === '^'
  const left = print(tree.left, { power: isPower ? 5 : own, everywhere })
  const right = print(tree.right, { power: isPower ? 3 : own + 1, everywhere })
  const text = `${left} ${tree.operator} ${right}`
  return everywhere || power > own ? `(${text})` : text
}

function spaced(text: string, random: Random): string {
  return text.replaceAll(' ', () => random.pick(['', ' ', '\n ']))
}
