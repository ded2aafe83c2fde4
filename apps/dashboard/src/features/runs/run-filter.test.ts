import { UNFINISHED_RUN_STATUSES } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import {
  parseRunFilter,
  toFilterQuery,
  matchesGroup,
  isUnfiltered,
  toListQuery,
  type RunFilter,
} from './run-filter.ts'

describe('run filter', () => {
  it.each<[Record<string, string>, RunFilter]>([
    [{}, { group: 'all' }],
    [{ status: 'review' }, { group: 'review' }],
    [{ status: 'toString', q: '  ', tag: '', ensemble: '' }, { group: 'all' }],
    [
      { status: 'failed', q: ' x ', tag: 'a:b', ensemble: 'band', other: '1' },
      { group: 'failed', text: 'x', tag: 'a:b', ensemble: 'band' },
    ],
    [{ q: 'x'.repeat(300) }, { group: 'all', text: 'x'.repeat(200) }],
  ])('A run filter is parsed from %j', (query, filter) =>
    expect(parseRunFilter(query)).toEqual(filter),
  )

  it('A run filter is restored from its URL', () => {
    const filter: RunFilter = { group: 'active', ensemble: 'a b', tag: 'k:v:w', text: '%&' }
    const query = Object.entries(toFilterQuery(filter)).map(([key, value = '']) => [key, value])
    expect(parseRunFilter(Object.fromEntries(query))).toEqual(filter)
    expect(toFilterQuery({ group: 'all' })).toEqual({})
  })

  it('A run filter is converted to a query that contains only its conditions', () => {
    expect(toListQuery({ group: 'all' })).toEqual({})
    expect(toListQuery({ group: 'failed', text: 'x', tag: 't', ensemble: 'e' })).toEqual({
      status: 'FAILED,REJECTED',
      q: 'x',
      tag: 't',
      ensemble: 'e',
    })
  })

  it('A run filter recognizes that it matches every run', () => {
    const filters: readonly RunFilter[] = [
      { group: 'all' },
      { group: 'active' },
      { group: 'all', text: 'x' },
      { group: 'all', tag: 'x' },
      { group: 'all', ensemble: 'x' },
    ]
    expect(filters.map(isUnfiltered)).toEqual([true, false, false, false, false])
  })

  it('The run filter assigns every status to "all" and to one other group', () => {
    const groups = (['active', 'completed', 'failed', 'cancelled'] as const).map((group) => group)
    for (const status of UNFINISHED_RUN_STATUSES) {
      expect(groups.filter((group) => matchesGroup({ group }, status))).toEqual(['active'])
    }
    for (const status of ['COMPLETED', 'FAILED', 'REJECTED', 'CANCELLED'] as const) {
      expect(groups.filter((group) => matchesGroup({ group }, status))).toHaveLength(1)
      expect(matchesGroup({ group: 'all' }, status)).toBe(true)
    }
    expect(matchesGroup({ group: 'review' }, 'WAITING_REVIEW')).toBe(true)
    expect(matchesGroup({ group: 'review' }, 'RUNNING')).toBe(false)
    expect(matchesGroup({ group: 'review' }, 'WAITING')).toBe(false)
  })
})
