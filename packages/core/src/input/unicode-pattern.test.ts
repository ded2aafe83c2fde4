import { describe, expect, it } from 'vitest'

import { defineTool } from '../definition/define-tool.ts'
import { runTool } from '../call/run-tool.ts'
import { toUnicodePattern } from './unicode-pattern.ts'

describe('toUnicodePattern', () => {
  it.each([
    ['^a$', '^a$'],
    ['^https\\:\\/\\/', '^https:\\/\\/'],
    ['^a\\_b$', '^a_b$'],
    ['\\-x', '-x'],
    ['^[\\w-\\.]+$', '^[\\w\\-\\.]+$'],
    ['[\\w-a]', '[\\w\\-a]'],
    ['[a-\\d]', '[a\\-\\d]'],
    ['[\\-\\!]', '[\\-!]'],
    ['a{2,3}', 'a{2,3}'],
    ['{a}', '\\{a\\}'],
    ['a]', 'a\\]'],
  ])('toUnicodePattern rewrites %s to %s', (pattern, rewritten) => {
    expect(toUnicodePattern(pattern)).toBe(rewritten)
  })

  it.each(['[', '(?i)x', '^a\\Z', '\\A', '(', '\\h+', '*'])(
    'toUnicodePattern refuses %s',
    (pattern) => {
      expect(toUnicodePattern(pattern)).toBeUndefined()
    },
  )
})

describe('a tool of the author', () => {
  const define = (x: object) =>
    defineTool({
      name: 't',
      description: 'd',
      input: { type: 'object', properties: { x }, required: ['x'] },
      execute: (input) => JSON.stringify(input),
    })

  it.each([
    ['^a\\_b$', 'a_b', 'ab'],
    ['^[\\w-\\.]+$', 'a-b', 'a b'],
  ])(
    'A tool of the author reads the JavaScript expression %s and shows it unchanged',
    async (pattern, valid, invalid) => {
      const tool = define({ type: 'string', pattern })
      expect(tool.inputSchema).toMatchObject({ properties: { x: { pattern } } })
      const call = async (x: string) =>
        (await runTool(tool, { id: 'c', name: 't', arguments: JSON.stringify({ x }) })).result
          .success
      expect([await call(valid), await call(invalid)]).toEqual([true, false])
    },
  )

  it.each([
    [{ type: 'string', pattern: '^a\\Z' }, 'pattern must be a regular expression'],
    [{ type: 'integer', default: null }, 'default must match its schema'],
    [{ enum: ['a'], default: 'b' }, 'default must match its schema'],
  ])('A tool of the author refuses %j, which its author can correct', (schema, message) => {
    expect(() => define(schema)).toThrow(message)
  })
})
