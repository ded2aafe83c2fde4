import { expect, test } from 'vitest'

import { readAgentCard, takesData } from './agent-card.ts'

const CARD_URL = 'https://agents.example/one/.well-known/agent-card.json'

const jsonRpc = {
  url: 'https://agents.example/rpc',
  protocolBinding: 'JSONRPC',
  protocolVersion: '1.0',
}
const rest = {
  url: 'https://agents.example/rest',
  protocolBinding: 'HTTP+JSON',
  protocolVersion: '1.0',
}
const grpc = { url: 'agents.example:443', protocolBinding: 'GRPC', protocolVersion: '1.0' }

function readEndpoint(body: object): unknown {
  const read = readAgentCard(body, CARD_URL)
  return read.kind === 'card' ? read.card.endpoint : read
}

test.each([
  [undefined],
  [null],
  ['a card'],
  [[]],
  [{}],
  [{ name: 'One' }],
  [{ supportedInterfaces: [] }],
])('The card reader does not accept %j as a card', (body) => {
  expect(readAgentCard(body, CARD_URL)).toEqual({ kind: 'none' })
})

test('The card reader reads all supported fields of a 1.0 card', () => {
  const body = {
    name: 'One',
    supportedInterfaces: [{ ...jsonRpc, tenant: 'acme' }],
    capabilities: { streaming: true, extensions: [{ uri: 'https://ext.example/1' }, 5] },
    defaultInputModes: ['text/plain', 7],
  }
  expect(readAgentCard(body, CARD_URL)).toEqual({
    kind: 'card',
    card: {
      name: 'One',
      endpoint: { url: jsonRpc.url, binding: 'JSONRPC', version: '1.0', tenant: 'acme' },
      streams: true,
      extensions: ['https://ext.example/1'],
      inputModes: ['text/plain'],
    },
  })
})

test('The card reader uses empty defaults for fields that the card omits', () => {
  expect(readAgentCard({ supportedInterfaces: [rest] }, CARD_URL)).toMatchObject({
    card: { name: '', streams: false, extensions: [], inputModes: [] },
  })
})

test('The card reader uses the first HTTP address', () => {
  expect(readEndpoint({ supportedInterfaces: [grpc, rest, jsonRpc] })).toMatchObject({
    url: rest.url,
  })
})

test('The card reader prefers 1.0 to 0.3, and JSON-RPC to REST within 0.3', () => {
  const old = { ...jsonRpc, protocolVersion: '0.3' }
  const oldRest = { ...rest, protocolVersion: '0.3.0' }
  expect(readEndpoint({ supportedInterfaces: [old, rest] })).toMatchObject({ version: '1.0' })
  expect(readEndpoint({ supportedInterfaces: [oldRest, old] })).toMatchObject({
    version: '0.3',
    binding: 'JSONRPC',
  })
})

test.each([
  [undefined, '1.0'],
  ['1.0', '1.0'],
  ['1.1', '1.0'],
  ['0.3.0', '0.3'],
  ['0.2.5', '0.3'],
])('An agent of version %s is called with version %s', (protocolVersion, version) => {
  expect(readEndpoint({ supportedInterfaces: [{ ...rest, protocolVersion }] })).toMatchObject({
    version,
  })
})

test('The card reader reads the main and the additional addresses of a 0.3 card', () => {
  expect(readEndpoint({ url: 'https://agents.example/a2a' })).toEqual({
    url: 'https://agents.example/a2a',
    binding: 'JSONRPC',
    version: '0.3',
    tenant: '',
  })
  const body = {
    url: 'agents.example:443',
    preferredTransport: 'GRPC',
    additionalInterfaces: [{ url: 'https://agents.example/v1', transport: 'HTTP+JSON' }],
  }
  expect(readEndpoint(body)).toMatchObject({
    url: 'https://agents.example/v1',
    binding: 'HTTP+JSON',
  })
})

test.each([
  ['/rpc', 'https://agents.example/rpc'],
  ['../rpc', 'https://agents.example/one/rpc'],
  ['//other.example/rpc', 'https://other.example/rpc'],
])('The card reader resolves the address %s against the URL of the card', (url, resolved) => {
  expect(readEndpoint({ supportedInterfaces: [{ ...rest, url }] })).toMatchObject({ url: resolved })
})

test('The card reader reports a card without an HTTP address as unusable', () => {
  const file = { ...rest, url: 'file:///etc/passwd' }
  const empty = { ...rest, url: '' }
  expect(readAgentCard({ supportedInterfaces: [grpc, file, empty] }, CARD_URL)).toEqual({
    kind: 'unusable',
    bindings: ['GRPC', 'HTTP+JSON', 'HTTP+JSON'],
  })
})

test.each([
  [[], false],
  [['text/plain'], false],
  [['text/plain', 'application/json; charset=utf-8'], true],
  [['*/*'], true],
])(
  'A card with input modes %j reports support for data parts as %s',
  (defaultInputModes, takes) => {
    const read = readAgentCard({ supportedInterfaces: [rest], defaultInputModes }, CARD_URL)
    if (read.kind !== 'card') throw new Error('Expected a card')
    expect(takesData(read.card)).toBe(takes)
  },
)
