import { runTool, ToolResult } from '@tutti/core'
import { expect, it } from 'vitest'

import { scriptedTool } from './scripted-tool.ts'

it('scriptedTool returns its answers in order, repeats the last one, and records its calls', async () => {
  const tool = scriptedTool('search', [
    'two hits',
    ToolResult.failure('Offline'),
    new Error('Broken'),
  ])
  const ends = []
  for (let n = 1; n <= 4; n += 1) {
    const call = { id: `c${n}`, name: 'search', arguments: JSON.stringify({ n }) }
    const { end, result } = await runTool(tool, call)
    ends.push([end, result.output || result.errorMessage])
  }
  expect(ends).toEqual([
    ['finished', 'two hits'],
    ['finished', 'Offline'],
    ['threw', 'Broken'],
    ['threw', 'Broken'],
  ])
  expect(tool.inputs).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }])
  expect(tool.contexts.map(({ callId }) => callId)).toEqual(['c1', 'c2', 'c3', 'c4'])
})

it('scriptedTool returns ok by default and rejects an empty list', async () => {
  const { result } = await runTool(scriptedTool('x'), { id: 'c', name: 'x', arguments: '' })
  expect(result.output).toBe('ok')
  expect(() => scriptedTool('x', [])).toThrow(RangeError)
})
