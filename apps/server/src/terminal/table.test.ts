import { expect, it } from 'vitest'

import { lineText } from './line.ts'
import { runTable } from '../cli/runs/run-table.ts'
import { formatAge } from '../cli/live/format-values.ts'
import { tableLines } from './table.ts'

import type { RunSummary } from '@tutti/protocol'

it('The table aligns columns by terminal width, with numbers to the right and cells on one line', () => {
  const lines = tableLines(
    [{ title: 'NAME' }, { title: 'N', align: 'right' }, { title: 'LAST' }],
    [
      [{ text: '漢字 of\nthem' }, { text: '1' }, { text: 'a\x1b[31m' }],
      [{ text: 'x' }, { text: '1,000' }, { text: '' }],
    ],
  )
  expect(lines.map(lineText)).toEqual([
    'NAME              N  LAST',
    '漢字 of them      1  a',
    'x             1,000  ',
  ])
})

it.each([
  [-1, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [7_200_000, '2 h'],
  [86_400_000 * 40, '40 d'],
])('The table formats an age of %i ms as %s', (ms, text) => {
  expect(formatAge(ms)).toBe(text)
})

it('The table shows the current task, open reviews, or the error of a run', () => {
  const run: RunSummary = {
    runId: 'run-1',
    status: 'RUNNING',
    startedAt: '2026-01-01T00:00:00Z',
    durationMs: null,
    taskCount: 3,
    completedTasks: 1,
    skippedTasks: 0,
    workflow: 'PARALLEL',
    tags: {},
    ensemble: 'trip',
    totalTokens: 1_234,
    totalToolCalls: 0,
    openReviews: 0,
    costUsd: 0.0012,
    currentTask: { name: 'write', index: 1 },
  }
  const now = Date.parse('2026-01-01T00:01:05Z')
  const shown = (change: Partial<RunSummary>) => {
    const [, line = []] = runTable([{ ...run, ...change }], now)
    return lineText(line).split(/ {2,}/)
  }
  const head = ['run-1', 'RUNNING', 'trip', '1 min', '1m 05s', '1,234', '$0.0012', '1/3']
  expect(shown({})).toEqual([...head, 'write'])
  expect(shown({ status: 'WAITING' })).toEqual(['run-1', 'WAITING', ...head.slice(2), 'write'])
  expect(shown({ openReviews: 1 }).at(-1)).toBe('1 open review')
  expect(shown({ openReviews: 2 }).at(-1)).toBe('2 open reviews')
  expect(shown({ status: 'ACCEPTED' })[4]).toBe('-')
  const { currentTask: __task, ...ended } = run
  const done = { ...ended, status: 'COMPLETED', completedTasks: 2, skippedTasks: 1 } as const
  expect(lineText(runTable([done], now)[1] ?? [])).toMatch(/2\/3 +1 skipped$/)
  expect(shown({ totalTokens: -1 })[5]).toBe('-')
  const { currentTask: _, costUsd: __, ...failed } = run
  const [, line = []] = runTable(
    [{ ...failed, status: 'FAILED', durationMs: 5, error: 'No\nluck' }],
    now,
  )
  expect(lineText(line).split(/ {2,}/)).toEqual([
    'run-1',
    'FAILED',
    'trip',
    '1 min',
    '5 ms',
    '1,234',
    '-',
    '1/3',
    'No luck',
  ])
})
