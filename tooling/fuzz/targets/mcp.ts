/** Attacks MCP over HTTP: requests without a session, in both protocol generations. */
import { Type } from '@tutti/core'
import * as fc from 'fast-check'

import { bodiesOf, requestAttempt, type Target } from './target.ts'

import type { Request } from '../lib/exchange.ts'

/** Metadata that a client of the revision 2026-07-28 sends with every request. */
const META = Type.Object({
  'io.modelcontextprotocol/protocolVersion': Type.Literal('2026-07-28'),
  'io.modelcontextprotocol/clientInfo': Type.Object({
    name: Type.String(),
    version: Type.String(),
  }),
  'io.modelcontextprotocol/clientCapabilities': Type.Object({}),
  progressToken: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
})

const CALL = Type.Object({
  name: Type.Enum(['measure', 'echo', 'write', 'reviewed', 'missing', '__proto__']),
  arguments: Type.Optional(
    Type.Object({
      input: Type.Optional(Type.String()),
      topic: Type.Optional(Type.String()),
      boxes: Type.Optional(Type.Array(Type.Object({ name: Type.String(), size: Type.Unknown() }))),
    }),
  ),
  _meta: META,
})

const INITIALIZE = Type.Object({
  protocolVersion: Type.Enum(['2025-11-25', '2025-06-18', '2024-11-05', '2026-07-28', 'x']),
  capabilities: Type.Object({ elicitation: Type.Optional(Type.Object({})) }),
  clientInfo: Type.Object({ name: Type.String(), version: Type.String() }),
})

const PAGE = Type.Object({ cursor: Type.Optional(Type.String()), _meta: META })
const NAMED = Type.Object({
  name: Type.Optional(Type.String()),
  uri: Type.Optional(Type.String()),
  _meta: META,
})

/** Method → schema of its parameters. */
const METHODS: readonly (readonly [string, object])[] = [
  ['initialize', INITIALIZE],
  ['tools/call', CALL],
  ['tools/list', PAGE],
  ['resources/list', PAGE],
  ['resources/read', NAMED],
  ['prompts/list', PAGE],
  ['prompts/get', NAMED],
  ['server/discover', PAGE],
  ['ping', PAGE],
  ['notifications/cancelled', Type.Object({ requestId: Type.Unknown() })],
  ['toString', PAGE],
]

export function mcpTarget(): Target {
  return {
    name: 'mcp',
    attempts: requests().map(requestAttempt),
  }
}

function requests(): fc.Arbitrary<Request> {
  const calls = METHODS.map(([method, params]) =>
    fc.tuple(
      fc.constant(method),
      bodiesOf(
        Type.Object({
          jsonrpc: Type.Literal('2.0'),
          id: Type.Union([Type.Integer(), Type.String()]),
          method: Type.Literal(method),
          params: Type.Unsafe(params),
        }),
      ),
    ),
  )
  const batch = fc.tuple(fc.constant('batch'), fc.integer({ min: 0, max: 60 }).map(batchOf))
  const version = fc.constantFrom('2026-07-28', '2025-06-18', '', 'x')
  const session = fc.constantFrom(undefined, undefined, 'missing', 'x'.repeat(500))
  return fc
    .tuple(fc.oneof(...calls, batch), version, session)
    .map(([[method, body], revision, id]) => ({
      method: 'POST',
      path: '/mcp',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': revision,
        'mcp-method': method,
        ...(id === undefined ? {} : { 'mcp-session-id': id }),
      },
      body,
    }))
}

function batchOf(length: number): string {
  return JSON.stringify(Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })))
}
