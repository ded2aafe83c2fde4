import { describe, expect, it } from 'vitest'

import { assignToolNames } from './tool-names.ts'

function namesOf(names: readonly string[], taken: readonly string[] = []): readonly string[] {
  return [...assignToolNames(names, taken).values()]
}

describe('assignToolNames', () => {
  it.each([
    ['band', 'band'],
    ['Kronos Quartet', 'Kronos_Quartet'],
    ['a.b/c: d', 'a_b_c_d'],
    ['weekly-report_2', 'weekly-report_2'],
    ['研究チーム', 'ensemble'],
    ['---', 'ensemble'],
    ['x'.repeat(70), 'x'.repeat(64)],
  ])('assignToolNames converts %j to %j', (name, fit) => {
    expect(namesOf([name])).toEqual([fit])
  })

  it('assignToolNames resolves a clash with the prefix run_, and then with a number', () => {
    expect(namesOf(['band', 'a b', 'a_b', 'a.b'], ['band', 'run_band'])).toEqual([
      'run_band_2',
      'a_b',
      'run_a_b',
      'run_a_b_2',
    ])
  })

  it('assignToolNames keeps a name with a prefix or a number within the maximum length', () => {
    const long = 'x'.repeat(64)
    const [first = '', second = ''] = namesOf([`${long}a`, `${long}b`], [long])
    expect([first, second]).toEqual([`run_${'x'.repeat(60)}`, `run_${'x'.repeat(58)}_2`])
  })
})
