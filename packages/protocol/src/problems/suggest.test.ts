import { describe, expect, it } from 'vitest'
import { suggest } from './suggest.ts'

const FIELDS = ['inputs', 'tasks', 'taskOverrides', 'options', 'maxIterations', 'runId']

describe('suggest', () => {
  it.each([
    ['input', 'inputs'],
    ['Inputs', 'inputs'],
    ['inptus', 'inputs'],
    ['max_iterations', 'maxIterations'],
    ['MAX-ITERATIONS', 'maxIterations'],
    ['maxIteration', 'maxIterations'],
    ['run_id', 'runId'],
    ['task', 'tasks'],
  ])('%j suggests %j', (word, meant) => {
    expect(suggest(word, FIELDS)).toBe(meant)
  })

  it.each(['webhook', '', 'x', '__proto__', 'a'.repeat(10_000)])(
    '`suggest` suggests nothing for %j',
    (word) => {
      expect(suggest(word, FIELDS)).toBeUndefined()
    },
  )

  it('`suggest` returns the first of equally similar words', () => {
    expect(suggest('cat', ['bat', 'hat'])).toBe('bat')
  })
})
