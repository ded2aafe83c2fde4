import { describe, expect, it } from 'vitest'

import { formatCount, formatDuration } from '../../lib/format.ts'
import { describeRelation, describeTaskChange, formatChange, listTotals } from './compare-texts.ts'

import type { RunComparison } from '@tutti/protocol'
import type { ComparedRun, ComparedTask, ComparedTaskSide } from '@tutti/protocol/internal'

const run: ComparedRun = {
  runId: 'run-1',
  status: 'COMPLETED',
  ensemble: 'trip',
  workflow: 'SEQUENTIAL',
  startedAt: '2026-11-27T12:00:00.000Z',
  durationMs: 4_000,
  tokens: 900,
  costUsd: 0.02,
  modelCalls: 3,
  toolCalls: 1,
}

const comparison: RunComparison = {
  a: run,
  b: { ...run, runId: 'run-2', parent: { runId: 'run-1', at: 14 } },
  relation: 'PARENT',
  difference: { durationMs: -1_500, tokens: 0, modelCalls: -2, toolCalls: 1 },
  inputs: [],
  tasks: [],
}

const side: ComparedTaskSide = {
  index: 1,
  status: 'COMPLETED',
  agentRole: 'Writer',
  description: { text: 'Write', bytes: 5 },
  attempt: 1,
  output: { text: 'Text', bytes: 4 },
  tokens: 1,
  modelCalls: 1,
  toolCalls: 0,
}

const task: ComparedTask = {
  name: 'write',
  a: side,
  b: side,
  sameOutput: true,
  sameDescription: true,
  calls: [],
}

describe('the texts of a comparison', () => {
  it('The texts of a comparison name the relation of the runs', () => {
    expect(describeRelation(comparison)).toBe('B is a fork after event 14 of A')
    const replay = { ...run, parent: { runId: 'run-2', at: 0, replay: 'frozen' as const } }
    expect(describeRelation({ ...comparison, a: replay, relation: 'CHILD' })).toBe(
      'A is a frozen replay of B',
    )
    const { relation: _, ...unrelated } = comparison
    expect(describeRelation(unrelated)).toBeUndefined()
  })

  it('The texts of a comparison show totals with the sign of each change, and a dash for what is not known', () => {
    expect(listTotals(comparison)).toEqual([
      { name: 'Duration', a: '4.0 s', b: '4.0 s', change: '−1.5 s' },
      { name: 'Tokens', a: '900', b: '900', change: 'same' },
      { name: 'Cost', a: '$0.02', b: '$0.02', change: '—' },
      { name: 'Model calls', a: '3', b: '3', change: '−2' },
      { name: 'Tool calls', a: '1', b: '1', change: '+1' },
    ])
    expect(formatChange(undefined, formatDuration)).toBe('—')
    expect(formatChange(12_000, formatCount)).toBe('+12k')
  })

  it.each<[string, Partial<ComparedTask>]>([
    ['No differences', {}],
    ['Output differs', { sameOutput: false }],
    ['Description, output differ', { sameOutput: false, sameDescription: false }],
    ['Status differs', { b: { ...side, status: 'FAILED' } }],
    ['Tool calls differ', { calls: [{ sameInput: false }] }],
  ])('The texts of a comparison describe a task: %s', (text, change) => {
    expect(describeTaskChange({ ...task, ...change })).toBe(text)
  })

  it('The texts of a comparison describe a task that one run does not have, or in which only one has an output', () => {
    const { a: _, ...inB } = task
    const { b: __, ...inA } = task
    const { output: ___, ...silent } = side
    expect(describeTaskChange(inB)).toBe('Only in B')
    expect(describeTaskChange(inA)).toBe('Only in A')
    const { sameOutput: ____, ...rest } = task
    expect(describeTaskChange({ ...rest, b: silent })).toBe('Output differs')
  })
})
