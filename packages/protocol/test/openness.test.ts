/**
 * Two laws of the wire. Messages of clients are closed at every level, so that misspelled keys are reported. Messages of the
 * server are open, so that a newer server can send more to an older client.
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

describe("the schemas of clients' messages", () => {
  it('are closed at every level', () => {
    expect(
      sent.flatMap(objectsIn).filter((schema) => schema['additionalProperties'] !== false),
    ).toEqual([])
  })
})

describe("the schemas of the server's messages", () => {
  it('are open at every level', () => {
    expect(
      received.flatMap(objectsIn).filter((schema) => schema['additionalProperties'] === false),
    ).toEqual([])
  })
})

describe('every schema', () => {
  it('is plain JSON Schema when serialized', () => {
    expect(JSON.stringify([...sent, ...received])).not.toMatch(/"~/)
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
