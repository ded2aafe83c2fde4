import { describe, expect, it } from 'vitest'

import { orderByDuration } from './long-first.ts'
import { addDurations } from './test-durations.ts'

const files = ['light a', 'light b', 'light c', 'whole d', 'whole e'].map((text) => {
  const [name = '', path = ''] = text.split(' ')
  return { project: { name }, moduleId: `/root/${path}.test.ts` }
})

describe('the order of test files', () => {
  it('The order of test files starts the longest file of each project first, and the project of the longest file, and keeps projects together', () => {
    const durations = {
      light: { 'b.test.ts': 3, 'c.test.ts': 9 },
      whole: { 'e.test.ts': 100, 'gone.test.ts': 200 },
    }
    const ordered = orderByDuration(files, { durations, root: '/root' })
    expect(ordered.map(({ moduleId }) => moduleId.at('/root/'.length))).toEqual([
      'e',
      'd',
      'c',
      'b',
      'a',
    ])
  })

  it('The order of test files is that of vitest without durations', () => {
    expect(orderByDuration(files, { durations: {}, root: '/root' })).toEqual(files)
  })
})

describe('the durations of test files', () => {
  it('The durations of test files are those of the last run of each file, per project, the longest first', () => {
    const before = { light: { 'a.test.ts': 5, 'b.test.ts': 2 }, pure: { 'a.test.ts': 1 } }
    const after = addDurations(before, [
      { project: 'light', path: 'b.test.ts', ms: 7_400 },
      { project: 'built', path: 'b.test.ts', ms: 1_600 },
    ])
    expect(JSON.stringify(after)).toBe(
      JSON.stringify({
        light: { 'b.test.ts': 7, 'a.test.ts': 5 },
        pure: { 'a.test.ts': 1 },
        built: { 'b.test.ts': 2 },
      }),
    )
  })

  it('The durations of test files leave out files that take less than half a second', () => {
    const files = [{ project: 'light', path: 'a.test.ts', ms: 499 }]
    expect(addDurations({ light: { 'a.test.ts': 5 } }, files)).toEqual({ light: {} })
  })
})
