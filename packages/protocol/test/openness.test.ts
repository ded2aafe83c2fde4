/**
 * Two laws of the wire. Messages of clients are closed at every level, so that misspelled keys are reported. Messages of the
 * server are open, so that a newer server can send more to an older client.
 */
import { describe, expect, it } from 'vitest'

import { SENT_BY_CLIENTS, SENT_BY_SERVERS } from './wire-schemas.ts'

describe("the schemas of clients' messages", () => {
  it("The schemas of clients' messages are closed at every level", () => {
    expect(
      SENT_BY_CLIENTS.flatMap(objectsIn).filter(
        (schema) => schema['additionalProperties'] !== false,
      ),
    ).toEqual([])
  })
})

describe("the schemas of the server's messages", () => {
  it("The schemas of the server's messages are open at every level", () => {
    expect(
      SENT_BY_SERVERS.flatMap(objectsIn).filter(
        (schema) => schema['additionalProperties'] === false,
      ),
    ).toEqual([])
  })
})

describe('every schema', () => {
  it('Every schema is plain JSON Schema when serialized', () => {
    expect(JSON.stringify([...SENT_BY_CLIENTS, ...SENT_BY_SERVERS])).not.toMatch(/"~/)
  })
})

type Node = Readonly<Record<string, unknown>>

/** Returns every schema of an object with named fields, at any depth, except conditions. */
function objectsIn(schema: unknown): Node[] {
  if (Array.isArray(schema)) return schema.flatMap(objectsIn)
  if (typeof schema !== 'object' || schema === null) return []
  const node: Node = { ...schema }
  const inner = Object.entries(node).filter(([keyword]) => keyword !== 'if' && keyword !== 'then')
  const own = 'properties' in node && node['type'] === 'object' ? [node] : []
  return [...own, ...inner.flatMap(([, value]) => objectsIn(value))]
}
