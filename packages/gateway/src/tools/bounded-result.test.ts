import { ToolResult } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { limitResult, MAX_ANSWER_LENGTH } from './bounded-result.ts'

describe('limitResult', () => {
  it('limitResult returns a result within the limit unchanged', () => {
    expect(limitResult(ToolResult.success('714', { value: 714 }))).toEqual({
      status: 'SUCCESS',
      output: '714',
      structured: { value: 714 },
    })
    expect(limitResult(ToolResult.success(''))).toEqual({ status: 'SUCCESS', output: '' })
    expect(limitResult(ToolResult.failure('Division by zero'))).toEqual({
      status: 'FAILED',
      errorMessage: 'Division by zero',
    })
  })

  it('limitResult keeps falsy values', () => {
    for (const structured of [0, false, '', null]) {
      expect(limitResult(ToolResult.success('x', structured))).toMatchObject({ structured })
    }
  })

  it('limitResult truncates text beyond the limit and reports its length', () => {
    expect(limitResult(ToolResult.success('12345'), 5).output).toBe('12345')
    expect(limitResult(ToolResult.success('123456'), 5).output).toBe(
      '12345\n[truncated: 6 characters in full]',
    )
    expect(limitResult(ToolResult.failure('123456'), 5).errorMessage).toBe(
      '12345\n[truncated: 6 characters in full]',
    )
  })

  it('limitResult has a default limit of a million characters', () => {
    const output = 'x'.repeat(MAX_ANSWER_LENGTH)
    expect(limitResult(ToolResult.success(output))).toEqual({ status: 'SUCCESS', output })
    expect(limitResult(ToolResult.success(`${output}x`)).output).toContain('[truncated: 1000001')
  })

  it('limitResult omits a value whose JSON exceeds the limit, and reports it', () => {
    const fits = ToolResult.success('a', '123')
    expect(limitResult(fits, 5)).toEqual({ status: 'SUCCESS', output: 'a', structured: '123' })
    expect(limitResult(ToolResult.success('a', '1234'), 5)).toEqual({
      status: 'SUCCESS',
      output: 'a\n[structured result omitted: 6 characters of JSON exceed the limit of 5]',
    })
  })

  it.each<[string, unknown]>([
    ['a circle', circle()],
    ['a big integer', { count: 10n }],
    ['a function', () => 1],
  ])('limitResult omits %s, which is not JSON', (_title, structured) => {
    expect(limitResult({ success: true, output: 'a', structured })).toEqual({
      status: 'SUCCESS',
      output: 'a\n[structured result omitted: not JSON]',
    })
  })
})

function circle(): object {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}
