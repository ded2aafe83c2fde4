import { CheckRun } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { createSchemaDocument } from './schema-document.ts'

const A = { type: 'string' }
const B = { pattern: '^..' }

describe('createSchemaDocument', () => {
  const whole = { $defs: { A }, allOf: [B, { $ref: '#/$defs/A' }], title: 'x' }
  const document = createSchemaDocument(whole)

  it('createSchemaDocument combines the schemas of a place with everything that they refer to, each once', () => {
    const { nodes } = document.locate([whole, B, A])
    expect(nodes).toEqual([whole, B, { $ref: '#/$defs/A' }, A])
    expect(document.locate([]).nodes).toEqual([])
    expect(document.locate([true]).nodes).toEqual([])
  })

  it('createSchemaDocument returns the same place for the same schemas and settled unions, and another for others', () => {
    expect(document.locate([A])).toBe(document.locate([A]))
    expect(document.locate([A, B])).toBe(document.locate([A, B]))
    expect(document.locate([A], [[B]])).not.toBe(document.locate([A]))
    const settled = [A]
    expect(document.locate([A], [settled])).toBe(document.locate([A], [settled]))
    expect(document.locate([A], [settled])).not.toBe(document.locate([A], [[A]]))
    expect(document.locate([A, settled as never])).not.toBe(document.locate([A], [settled]))
  })

  it('createSchemaDocument caches a bounded number of places', () => {
    const first = document.locate([A, B])
    for (let count = 0; count < 10_001; count++) document.locate([A, { pattern: `${count}` }])
    expect(document.locate([A, B])).not.toBe(first)
    expect(document.locate([A, B])).toEqual(first)
  })

  it('createSchemaDocument recognizes a place that no value matches', () => {
    expect(document.locate([{ allOf: [true, { allOf: [false] }] }]).impossible).toBe(true)
    expect(document.locate([A, true]).impossible).toBe(false)
  })

  it('createSchemaDocument checks a part separately although it refers to the whole', () => {
    const location = document.locate([{ items: { $ref: '#/$defs/A' } }, { type: 'array' }])
    expect(
      [['a'], [1], 'a'].map((value) => document.fits(location, value, new CheckRun())),
    ).toEqual([true, false, false])
  })

  it('createSchemaDocument resolves a reference without siblings, in the same list each time', () => {
    expect(document.resolved(whole.allOf)).toEqual([B, A])
    const beside = createSchemaDocument({
      $defs: { A },
      anyOf: [{ $ref: '#/$defs/A', pattern: 'x' }, true],
    })
    const members = typeof beside.root === 'object' ? (beside.root.anyOf ?? []) : []
    expect(beside.resolved(members)).toEqual(members)
    expect(document.resolved(whole.allOf)).toBe(document.resolved(whole.allOf))
  })

  it('createSchemaDocument does not use a reference whose text has two meanings', () => {
    const inner = {
      $id: 'urn:example:inner',
      $defs: { N: { type: 'integer' } },
      properties: { n: { $ref: '#/$defs/N' } },
    }
    const outer = { $defs: { N: A }, properties: { n: { $ref: '#/$defs/N' }, inner } }
    const { faults, references } = createSchemaDocument(outer)
    expect(faults).toEqual([])
    expect(references).toEqual({})
  })
})
