import { describe, expect, it } from 'vitest'

import { toolResult } from './call-tool.ts'

import type { ToolInvocation } from '@tutti/protocol/internal'

function result(invocation: Partial<ToolInvocation>, schema?: object) {
  return toolResult({ tool: 'tune', durationMs: 1, status: 'SUCCESS', ...invocation }, schema)
}

describe('toolResult', () => {
  it('toolResult returns the text of the tool, and no value if there is none', () => {
    expect(result({ output: 'A' })).toEqual({ content: [{ type: 'text', text: 'A' }] })
  })

  it('toolResult returns the JSON of a value as the text if the tool returned none', () => {
    expect(result({ output: '', structured: [1] })).toEqual({
      content: [{ type: 'text', text: '[1]' }],
      structuredContent: { result: [1] },
    })
  })

  it('toolResult returns an error if the value that the tool declares is missing', () => {
    const broken = result({ output: 'Much [left out]' }, { type: 'object' })
    expect(broken.isError).toBe(true)
    expect(JSON.stringify(broken.content)).toContain('Much [left out]')
  })

  it('toolResult returns an error with a text if the tool failed', () => {
    expect(result({ status: 'FAILED', errorMessage: 'Flat' })).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'Flat' }],
    })
    expect(result({ status: 'FAILED' }).content).toEqual([
      { type: 'text', text: 'The tool failed' },
    ])
  })
})
