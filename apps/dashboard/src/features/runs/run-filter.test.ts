import { describe, expect, it } from 'vitest'

import {
  filterOf,
  filterQuery,
  fitsGroup,
  isUnfiltered,
  listQuery,
  type RunFilter,
} from './run-filter.ts'

describe('a filter', () => {
  it.each<[Record<string, string>, RunFilter]>([
    [{}, { group: 'all' }],
    [{ status: 'review' }, { group: 'review' }],
    [{ status: 'toString', q: '  ', tag: '', ensemble: '' }, { group: 'all' }],
    [
      { status: 'failed', q: ' x ', tag: 'a:b', ensemble: 'band', other: '1' },
      { group: 'failed', text: 'x', tag: 'a:b', ensemble: 'band' },
    ],
    [{ q: 'x'.repeat(300) }, { group: 'all', text: 'x'.repeat(200) }],
  ])('is read from %j', (query, filter) => expect(filterOf(query)).toEqual(filter))

  it('is written into an address and read again', () => {
    const filter: RunFilter = { group: 'active', ensemble: 'a b', tag: 'k:v:w', text: '%&' }
    const query = Object.entries(filterQuery(filter)).map(([key, value = '']) => [key, value])
    expect(filterOf(Object.fromEntries(query))).toEqual(filter)
    expect(filterQuery({ group: 'all' })).toEqual({})
  })

  it('asks the server for statuses, and for nothing that it does not say', () => {
    expect(listQuery({ group: 'all' })).toEqual({})
    expect(listQuery({ group: 'failed', text: 'x', tag: 't', ensemble: 'e' })).toEqual({
      status: 'FAILED,REJECTED',
      q: 'x',
      tag: 't',
      ensemble: 'e',
    })
  })

  it('knows whether it leaves anything out', () => {
    const filters: readonly RunFilter[] = [
      { group: 'all' },
      { group: 'active' },
      { group: 'all', text: 'x' },
      { group: 'all', tag: 'x' },
      { group: 'all', ensemble: 'x' },
    ]
    expect(filters.map(isUnfiltered)).toEqual([true, false, false, false, false])
  })

  it('puts every status into all and into one group more', () => {
    const groups = (['active', 'completed', 'failed', 'cancelled'] as const).map((group) => group)
    for (const status of ['ACCEPTED', 'RUNNING', 'CANCELLING', 'WAITING_REVIEW'] as const) {
      expect(groups.filter((group) => fitsGroup({ group }, status))).toEqual(['active'])
    }
    for (const status of ['COMPLETED', 'FAILED', 'REJECTED', 'CANCELLED'] as const) {
      expect(groups.filter((group) => fitsGroup({ group }, status))).toHaveLength(1)
      expect(fitsGroup({ group: 'all' }, status)).toBe(true)
    }
    expect(fitsGroup({ group: 'review' }, 'WAITING_REVIEW')).toBe(true)
    expect(fitsGroup({ group: 'review' }, 'RUNNING')).toBe(false)
  })
})
