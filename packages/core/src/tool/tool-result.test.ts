import { describe, expect, it } from 'vitest'

import { isToolResult, toModelText, ToolResult } from './tool-result.ts'

describe('ToolResult', () => {
  it('A successful ToolResult has its text, and a structured value only when given', () => {
    expect({ ...ToolResult.success('42') }).toStrictEqual({ success: true, output: '42' })
    expect({ ...ToolResult.success('42', { answer: 42 }) }).toStrictEqual({
      success: true,
      output: '42',
      structured: { answer: 42 },
    })
    expect({ ...ToolResult.success('null', null) }).toStrictEqual({
      success: true,
      output: 'null',
      structured: null,
    })
  })

  it('A failed ToolResult has a reason and no output', () => {
    expect({ ...ToolResult.failure('No such city') }).toStrictEqual({
      success: false,
      output: '',
      errorMessage: 'No such city',
    })
  })
})

describe('toModelText', () => {
  it('toModelText returns the output of a success, also an empty one', () => {
    expect(toModelText(ToolResult.success('sunny', { sky: 'blue' }))).toBe('sunny')
    expect(toModelText(ToolResult.success(''))).toBe('')
  })

  it('toModelText returns the reason of a failure after "Error: "', () => {
    expect(toModelText(ToolResult.failure('No such city'))).toBe('Error: No such city')
    expect(toModelText({ success: false, output: 'ignored' })).toBe(
      'Error: Tool execution failed with no message',
    )
  })
})

describe('isToolResult', () => {
  it('isToolResult recognizes a result by its flag and its text', () => {
    expect(isToolResult(ToolResult.success('x'))).toBe(true)
    expect(isToolResult(ToolResult.failure('x'))).toBe(true)
  })

  it.each([
    [undefined],
    [null],
    ['text'],
    [{ success: true }],
    [{ output: 'x' }],
    [{ success: 'yes', output: 'x' }],
    [{ success: true, output: 1 }],
  ])('isToolResult treats %j as plain output', (value) => {
    expect(isToolResult(value)).toBe(false)
  })
})
