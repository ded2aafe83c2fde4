import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { discriminatorOf, narrowByTag } from './choose-member.ts'

const A = Type.Object({ type: Type.Literal('a'), x: Type.Literal(1) })
const B = Type.Object({ type: Type.Enum(['b', 'c']), x: Type.Literal(2) })

describe('discriminatorOf', () => {
  it('discriminatorOf prefers "type", and accepts several tags per member', () => {
    const found = discriminatorOf(Type.Union([A, B]).anyOf)
    expect(found?.field).toBe('type')
    expect([...(found?.members ?? [])]).toEqual([
      ['a', A],
      ['b', B],
      ['c', B],
    ])
  })

  it('discriminatorOf accepts any required field that is fixed differently in each member', () => {
    const success = Type.Object({ ok: Type.Literal(true) })
    const failure = Type.Object({ ok: Type.Literal(false), why: Type.String() })
    expect(discriminatorOf([success, failure])?.field).toBe('ok')
  })

  it('discriminatorOf supports nested unions and intersections', () => {
    const found = discriminatorOf([
      Type.Union([A, B]),
      Type.Intersect([
        Type.Object({ type: Type.Literal('d') }),
        Type.Object({ n: Type.Integer() }),
      ]),
    ])
    expect([...(found?.members.keys() ?? [])]).toEqual(['a', 'b', 'c', 'd'])
  })

  it.each([
    ['a tag is shared', [A, Type.Object({ type: Type.Literal('a') })]],
    ['a member has none', [A, Type.Object({ n: Type.Integer() })]],
    ['the tag may be absent', [A, Type.Object({ type: Type.Optional(Type.Literal('b')) })]],
    ['a member is not an object', [A, Type.Null()]],
    ['there is one member', [A]],
    ['there is no member', []],
  ])('discriminatorOf returns undefined when %s', (_, members) => {
    expect(discriminatorOf(members)).toBeUndefined()
  })
})

describe('narrowByTag', () => {
  const union = Type.Union([A, B])
  const logged = Type.Intersect([union, Type.Object({ seq: Type.Integer() })])

  it('narrowByTag returns the member that the value names', () => {
    expect(narrowByTag(union, { type: 'c' })).toBe(B)
    expect(
      narrowByTag(Type.Union([union, Type.Object({ type: Type.Literal('z') })]), { type: 'a' }),
    ).toBe(A)
  })

  it('narrowByTag returns false when the value names no member, or inherits the name', () => {
    expect(narrowByTag(union, { type: 'z' })).toBe(false)
    expect(narrowByTag(union, {})).toBe(false)
    expect(narrowByTag(union, Object.create({ type: 'a' }))).toBe(false)
    expect(narrowByTag(logged, { type: 'z' })).toBe(false)
  })

  it('narrowByTag returns the same intersection for the same tag, so that it can be a cache key', () => {
    const narrowed = narrowByTag(logged, { type: 'a' })
    expect(narrowed).toMatchObject({ allOf: [A, { properties: { seq: { type: 'integer' } } }] })
    expect(narrowByTag(logged, { type: 'a', seq: 2 })).toBe(narrowed)
    expect(narrowByTag(logged, { type: 'b' })).not.toBe(narrowed)
  })

  it('narrowByTag returns other schemas unchanged', () => {
    const open = Type.Union([Type.String(), Type.Object({})])
    expect(narrowByTag(open, {})).toBe(open)
    expect(narrowByTag(union, 'a')).toBe(union)
    expect(narrowByTag(A, {})).toBe(A)
    expect(narrowByTag(true, {})).toBe(true)
  })
})
