import { describe, expect, it } from 'vitest'

import { assertPriority, findOrder, findOrderProblems } from './queue-order.ts'

import type { RunPriority } from '@tutti/protocol/internal'

describe('findOrderProblems', () => {
  it('findOrderProblems accepts each priority and a key of 200 characters', () => {
    for (const priority of ['low', 'normal', 'high'] as const) {
      expect(findOrderProblems({ priority, fairnessKey: 'x'.repeat(200) })).toEqual([])
    }
    expect(findOrderProblems({})).toEqual([])
  })

  it('findOrderProblems names an unknown priority and a key that is blank or too long', () => {
    // NOTE: a cast, as callers without types pass any text.
    const priority = 'urgent' as RunPriority
    expect(findOrderProblems({ priority, fairnessKey: ' ' })).toEqual([
      { path: '/priority', message: 'must be one of low, normal, high, got "urgent"' },
      { path: '/fairnessKey', message: 'must be 1 to 200 characters that are not all blank' },
    ])
    expect(findOrderProblems({ fairnessKey: 'x'.repeat(201) })).toHaveLength(1)
  })
})

describe('assertPriority', () => {
  it('assertPriority refuses a priority above the maximum of the key and names both', () => {
    const quota = { actor: 'ci', maxPriority: 'normal' } as const
    expect(() => assertPriority('high', quota)).toThrow(
      'Key "ci" may not submit runs of the priority "high"; its maxPriority is "normal"',
    )
    assertPriority('normal', quota)
    assertPriority('low', quota)
    assertPriority(undefined, { actor: 'ci', maxPriority: 'low' })
    assertPriority('high', { actor: 'ci' })
  })
})

describe('findOrder', () => {
  it('findOrder stores no normal priority, and lowers the default to the maximum of the key', () => {
    expect(findOrder({ priority: 'normal' })).toEqual({})
    expect(findOrder({ priority: 'high', fairnessKey: 'a' })).toEqual({
      priority: 'high',
      fairnessKey: 'a',
    })
    expect(findOrder({}, { maxPriority: 'low' })).toEqual({ priority: 'low' })
    expect(findOrder({}, { maxPriority: 'normal' })).toEqual({})
  })
})
