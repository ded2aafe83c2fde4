import { describe, expect, it } from 'vitest'

import { toolResult } from './call-tool.ts'

import type { ToolInvocation } from '@tutti/protocol'

function result(invocation: Partial<ToolInvocation>, schema?: object) {
  return toolResult({ tool: 'tune', durationMs: 1, status: 'SUCCESS', ...invocation }, schema)
}

describe('toolResult', () => {
  it('is the text of the tool, and no value where there is none', () => {
    expect(result({ output: 'A' })).toEqual({ content: [{ type: 'text', text: 'A' }] })
  })

  it('has the JSON of a value as its text when the tool gave none', () => {
    expect(result({ output: '', structured: [1] })).toEqual({
      content: [{ type: 'text', text: '[1]' }],
      structuredContent: { result: [1] },
    })
  })

  it('is an error when the value is missing that was promised', () => {
    const broken = result({ output: 'Much [left out]' }, { type: 'object' })
    expect(broken.isError).toBe(true)
    expect(JSON.stringify(broken.content)).toContain('Much [left out]')
  })

  it('is an error when the tool failed, with a text in any case', () => {
    expect(result({ status: 'FAILED', errorMessage: 'Flat' })).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'Flat' }],
    })
    expect(result({ status: 'FAILED' }).content).toEqual([
      { type: 'text', text: 'The tool failed' },
    ])
  })
})
