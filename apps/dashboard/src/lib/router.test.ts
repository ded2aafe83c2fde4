import { describe, expect, it } from 'vitest'

import { formatHash, parseHash } from './router.ts'

describe('routes', () => {
  it.each([
    ['', [], {}],
    ['#/', [], {}],
    ['#/runs', ['runs'], {}],
    ['#/runs/a%2Fb?tab=costs&q=%3F%26', ['runs', 'a/b'], { tab: 'costs', q: '?&' }],
    ['#runs//x/', ['runs', 'x'], {}],
    ['#/runs/%zz', ['runs', '%zz'], {}],
  ])('Routes of the dashboard are parsed from %j', (hash, path, query) => {
    expect(parseHash(hash)).toEqual({ path, query })
  })

  it('Routes of the dashboard are restored from their hash', () => {
    const path = ['runs', 'ä/?#&=%', ' ']
    const query = { q: 'a=b&c#d?', tag: 'team:x' }
    expect(parseHash(formatHash(path, query))).toEqual({ path, query })
  })

  it('Routes of the dashboard are formatted without empty values', () => {
    expect(formatHash(['runs'], { q: undefined, status: '' })).toBe('#/runs')
  })
})
