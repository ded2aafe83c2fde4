/**
 * Two laws of the wire: what a client sends is closed at every level, so that a slip is named; what the
 * server sends is open, so that a newer server can say more to an older client.
 */
import { describe, expect, it } from 'vitest'
import * as protocol from '../src/index.ts'
import type { Route } from '../src/index.ts'

const routes: Route[] = Object.values(protocol.ROUTES)
const sent = [
  protocol.ClientMessage,
  ...routes.flatMap(({ body, query }) => [body, query].filter((schema) => schema !== undefined)),
]
const received = [
  protocol.ServerMessage,
  protocol.HubMessage,
  protocol.ErrorBody,
  protocol.ExecutionTrace,
  protocol.DagModel,
  protocol.ProcessToolRequest,
  protocol.ProcessToolResponse,
  protocol.WebhookDelivery,
  ...routes.flatMap(({ response, others = [] }) =>
    [response, ...others.map((other) => other.response)].filter((schema) => schema !== null),
  ),
]

describe('what a client sends', () => {
  it('is closed at every level', () => {
    expect(
      sent.flatMap(objectsIn).filter((schema) => schema['additionalProperties'] !== false),
    ).toEqual([])
  })
})

describe('what the server sends', () => {
  it('is open at every level', () => {
    expect(
      received.flatMap(objectsIn).filter((schema) => schema['additionalProperties'] === false),
    ).toEqual([])
  })
})

describe('every schema', () => {
  it('is plain JSON Schema when written out', () => {
    expect(JSON.stringify([...sent, ...received])).not.toMatch(/"~/)
  })
})

type Node = Readonly<Record<string, unknown>>

/** Every schema of an object with named fields, however deep; conditions are not shapes. */
function objectsIn(schema: unknown): Node[] {
  if (Array.isArray(schema)) return schema.flatMap(objectsIn)
  if (typeof schema !== 'object' || schema === null) return []
  const node: Node = { ...schema }
  const inner = Object.entries(node).filter(([keyword]) => keyword !== 'if' && keyword !== 'then')
  const own = 'properties' in node && node['type'] === 'object' ? [node] : []
  return [...own, ...inner.flatMap(([, value]) => objectsIn(value))]
}
