import { describe, expect, it } from 'vitest'
import { fixturesIn } from '../../test/fixtures.ts'
import { RUN_EVENT_TYPES, RunEvent } from './run-event.ts'

describe('RunEvent', () => {
  it('RunEvent has a golden file for every type, and no other types: stored logs and other programs contain them', () => {
    const golden = fixturesIn('valid').flatMap(({ schema, text }): string[] =>
      schema === 'RunEvent' ? [String(JSON.parse(text).type)] : [],
    )
    expect([...new Set(golden)].toSorted()).toEqual(RUN_EVENT_TYPES.toSorted())
  })

  it('[PROTO-E1] RunEvent has its type first in every member', () => {
    for (const member of RunEvent.anyOf) {
      expect(Object.keys(member.properties)[0], member.properties.type.const).toBe('type')
    }
  })
})
