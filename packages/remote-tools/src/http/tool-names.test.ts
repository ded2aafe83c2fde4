import { describe, expect, it } from 'vitest'

import { ToolNames } from './tool-names.ts'

describe('ToolNames', () => {
  it.each([
    ['users/get-user', 'users_get-user'],
    ['a  b.c', 'a_b_c'],
    ['/a/{b}/', 'a_b'],
    ['größe', 'gr_e'],
    ['', 'tool'],
    ['💥', 'tool'],
    ['x'.repeat(80), 'x'.repeat(64)],
  ])('ToolNames returns a valid name close to %j', (preferred, expected) => {
    expect(new ToolNames().take(preferred)).toBe(expected)
  })

  it('ToolNames returns each name once, and numbered names of valid length', () => {
    const names = new ToolNames()
    const long = 'y'.repeat(70)
    const taken = ['a b', 'a.b', 'a_b_2', 'a/b', long, long].map((preferred) =>
      names.take(preferred),
    )
    expect(taken).toEqual([
      'a_b',
      'a_b_2',
      'a_b_2_2',
      'a_b_3',
      'y'.repeat(64),
      `${'y'.repeat(62)}_2`,
    ])
    expect(new Set(taken).size).toBe(taken.length)
  })
})
