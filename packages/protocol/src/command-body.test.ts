import { describe, expect, it } from 'vitest'

import { readCommandBody } from './command-body.ts'

describe('readCommandBody', () => {
  it('readCommandBody reads the texts of the fields that a command has, and no empty ones', () => {
    const texts = { content: '42', priority: 'HIGH', target: '', json: true }
    expect(readCommandBody('inject', texts)).toEqual({
      ok: true,
      value: { content: '42', priority: 'HIGH' },
    })
  })

  it('readCommandBody returns every problem of a body that is invalid', () => {
    expect(readCommandBody('inject', { priority: 'URGENT' })).toMatchObject({
      ok: false,
      problems: [{ path: '/content' }, { path: '/priority' }],
    })
  })
})
