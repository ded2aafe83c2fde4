import Type from 'typebox'
import { Settings } from 'typebox/system'
import { afterEach, describe, expect, it } from 'vitest'
import { compileCheck, compiledCheck } from './compiled-check.ts'

describe('compiledCheck', () => {
  it('compiledCheck compiles a schema once', () => {
    const schema = Type.String()
    expect(compiledCheck(schema)).toBe(compiledCheck(schema))
    expect(compiledCheck(Type.String())).not.toBe(compiledCheck(schema))
  })

  it.each(['toString', 'valueOf', 'hasOwnProperty', 'constructor', '__proto__'])(
    'compiledCheck ignores an inherited %s, at any depth',
    (name) => {
      const inner = { type: 'object', properties: JSON.parse(`{"${name}":{"type":"string"}}`) }
      const optional = compiledCheck({ type: 'array', items: inner })
      expect(optional([{}])).toBe(true)
      expect(optional(JSON.parse(`[{"${name}":"x"}]`))).toBe(true)
      expect(optional(JSON.parse(`[{"${name}":1}]`))).toBe(false)
      const required = compiledCheck({ type: 'object', required: [name] })
      expect(required({})).toBe(false)
      expect(required(JSON.parse(`{"${name}":1}`))).toBe(true)
    },
  )
})

describe('compileCheck', () => {
  it('compileCheck resolves a reference among the given ones, and else in the schema itself', () => {
    const check = compileCheck(
      {
        $defs: { N: { type: 'integer' } },
        items: { $ref: '#/$defs/N' },
        contains: { $ref: 'Big' },
      },
      { references: { Big: { minimum: 10 } } },
    )
    expect(check([1, 12])).toBe(true)
    expect(check([1, 2])).toBe(false)
    expect(check(['1', 12])).toBe(false)
  })

  it('compileCheck ignores inherited fields in the target of a reference', () => {
    const check = compileCheck(
      { $ref: 'Inner' },
      { references: { Inner: { required: ['toString'] } } },
    )
    expect(check({})).toBe(false)
    expect(check({ toString: 1 })).toBe(true)
  })
})

describe('a check without generated code', () => {
  afterEach(() => {
    Settings.Reset()
  })

  it('A check without generated code keeps no state from one value to the next', () => {
    Settings.Set({ useAcceleration: false })
    const check = compileCheck({
      properties: { a: {} },
      unevaluatedProperties: { type: 'integer' },
    })
    expect([{ b: 1 }, { b: 'x' }, { b: 2 }].map((value) => check(value))).toEqual([
      true,
      false,
      true,
    ])
    const named = compileCheck({ properties: { toString: { type: 'string' } } })
    expect([{}, { toString: 1 }].map((value) => named(value))).toEqual([true, false])
  })
})
