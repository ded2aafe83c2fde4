import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { defineTextTool, defineTool } from './definition/define-tool.ts'
import { findChoiceProblems, findOptionProblems, pickOptions } from './known-options.ts'

const KNOWN = { review: true, retries: true } as const

describe('findOptionProblems', () => {
  it('findOptionProblems suggests the option that was meant', () => {
    expect(findOptionProblems({ review: 1, reviw: 2, retrys: undefined }, KNOWN)).toEqual([
      'unknown option "reviw" (did you mean "review"?)',
      'unknown option "retrys" (did you mean "retries"?)',
    ])
  })

  it('findOptionProblems lists the known options when none is similar, and names the owner', () => {
    expect(findOptionProblems({ colour: 1 }, KNOWN, 'task')).toEqual([
      'unknown option "colour" of task (known options: review, retries)',
    ])
  })

  it('findOptionProblems ignores inherited names', () => {
    expect(findOptionProblems({ toString: 1 }, KNOWN)).toHaveLength(1)
  })
})

describe('findChoiceProblems', () => {
  it('findChoiceProblems accepts a choice and undefined', () => {
    expect(findChoiceProblems('mode', 'once', ['once', 'worker'])).toEqual([])
    expect(findChoiceProblems('mode', undefined, ['once', 'worker'])).toEqual([])
  })

  it('findChoiceProblems shows the value, the choices and a suggestion', () => {
    expect(findChoiceProblems('workflow', 'PARALEL', ['SEQUENTIAL', 'PARALLEL', 'X'])).toEqual([
      'workflow must be one of "SEQUENTIAL", "PARALLEL", "X", got "PARALEL" (did you mean "PARALLEL"?)',
    ])
    expect(findChoiceProblems('mode', 7, ['once', 'worker'])).toEqual([
      'mode must be "once" or "worker", got number',
    ])
  })
})

describe('pickOptions', () => {
  it('pickOptions copies only known options', () => {
    expect(pickOptions({ review: 1, url: 2 }, KNOWN)).toEqual({ review: 1 })
  })
})

describe('definitionError', () => {
  it('definitionError returns a TypeError with a code', () => {
    const definition = { name: 'two words', description: 'A', execute: () => '' }
    expect(() => defineTextTool(definition)).toThrow(TypeError)
    expect(() => defineTextTool(definition)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    )
  })
})

describe('a tool definition with an unknown option', () => {
  const BASE = { name: 'pay', description: 'Pays', execute: () => 'paid' }

  it('A tool definition with an unknown option is rejected with every problem', () => {
    const definition = { ...BASE, input: Type.Object({}), requireAproval: true, timeoutMs: 0 }
    expect(() => defineTool(definition)).toThrow(
      'Cannot define tool "pay": unknown option "requireAproval" (did you mean "requireApproval"?); ' +
        'timeoutMs must be > 0, got 0',
    )
    const text = { ...BASE, input: Type.Object({}) }
    expect(() => defineTextTool(text)).toThrow('unknown option "input"')
  })

  it('A tool definition with an unknown option is rejected for a misspelled option of its approval', () => {
    const misspelled = { onTimout: 'FAIL' } as never
    expect(() => defineTextTool({ ...BASE, requireApproval: misspelled })).toThrow(
      'unknown option "onTimout" of requireApproval (did you mean "onTimeout"?)',
    )
    const requireApproval = { onTimeout: 'FAL' as never, timeoutMs: -1 }
    expect(() => defineTextTool({ ...BASE, requireApproval })).toThrow(
      'requireApproval.onTimeout must be one of "CONTINUE", "EXIT_EARLY", "FAIL", got "FAL" ' +
        '(did you mean "FAIL"?); requireApproval.timeoutMs must be > 0, got -1',
    )
  })

  it('A tool definition with an unknown option is accepted when it is a changed copy of a tool', () => {
    const tool = defineTool({ ...BASE, input: Type.Object({}) })
    expect(defineTool({ ...tool, input: Type.Object({}), name: 'again' }).name).toBe('again')
  })
})
