/**
 * Reads the used parts of an agent's card. Pure.
 *
 * @see https://a2a-protocol.org/latest/specification/ section 4.4, and version 0.3 section 5.5
 */
import { isJsonObject } from '@tutti/protocol/internal'

type JsonObject = Readonly<Record<string, unknown>>

/** An agent according to its card. */
export interface AgentCard {
  readonly name: string
  /** Selected interface: preferably A2A 1.0, then JSON-RPC, else the first supported one. */
  readonly endpoint: AgentEndpoint
  /** Whether it supports streaming. */
  readonly streams: boolean
  /** URIs of its extensions. */
  readonly extensions: readonly string[]
  /** Media types that it accepts. */
  readonly inputModes: readonly string[]
}

/** An interface of an agent. */
export interface AgentEndpoint {
  readonly url: string
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  readonly version: '1.0' | '0.3'
  readonly tenant: string
}

/** Result of reading a card. */
export type ReadCard =
  | { readonly kind: 'card'; readonly card: AgentCard }
  /** The response is not a card. */
  | { readonly kind: 'none' }
  /** The card lists no interface over HTTP. */
  | { readonly kind: 'unusable'; readonly bindings: readonly string[] }

/** Reads a response from `cardUrl`. Addresses in the card are relative to it. */
export function readAgentCard(body: unknown, cardUrl: string): ReadCard {
  if (!isJsonObject(body)) return { kind: 'none' }
  const interfaces = modernInterfaces(body) ?? legacyInterfaces(body)
  if (interfaces === undefined) return { kind: 'none' }
  const endpoints = interfaces.flatMap((one) => readInterface(one, cardUrl))
  const endpoint =
    endpoints.find(({ version }) => version === '1.0') ??
    endpoints.find(({ binding }) => binding === 'JSONRPC') ??
    endpoints[0]
  if (endpoint === undefined) {
    return { kind: 'unusable', bindings: interfaces.map(({ binding }) => binding) }
  }
  const capabilities = isJsonObject(body['capabilities']) ? body['capabilities'] : {}
  const card: AgentCard = {
    name: text(body['name']),
    endpoint,
    streams: capabilities['streaming'] === true,
    extensions: objects(capabilities['extensions']).map(({ uri }) => text(uri)),
    inputModes: texts(body['defaultInputModes']),
  }
  return { kind: 'card', card }
}

/** Matches media types of JSON. */
const JSON_TYPES = ['application/json', 'application/*', '*/*', 'data']

/** Returns whether an agent accepts data. An agent that lists no media types accepts text. */
export function takesData({ inputModes }: AgentCard): boolean {
  return inputModes.some((mode) =>
    JSON_TYPES.includes((mode.split(';')[0] ?? '').trim().toLowerCase()),
  )
}

interface Interface {
  readonly url: string
  readonly binding: string
  readonly version: string
  readonly tenant: string
}

function modernInterfaces(body: JsonObject): readonly Interface[] | undefined {
  const interfaces = objects(body['supportedInterfaces'])
  if (interfaces.length === 0) return undefined
  return interfaces.map((one) => ({
    url: text(one['url']),
    binding: text(one['protocolBinding']),
    version: text(one['protocolVersion']) || '1.0',
    tenant: text(one['tenant']),
  }))
}

function legacyInterfaces(body: JsonObject): readonly Interface[] | undefined {
  if (typeof body['url'] !== 'string') return undefined
  const version = '0.3'
  const first = { url: body['url'], binding: text(body['preferredTransport']) || 'JSONRPC' }
  const others = objects(body['additionalInterfaces']).map((one) => ({
    url: text(one['url']),
    binding: text(one['transport']),
  }))
  return [first, ...others].map((one) => ({ ...one, version, tenant: '' }))
}

const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const

function readInterface(
  { url, binding, version, tenant }: Interface,
  base: string,
): readonly AgentEndpoint[] {
  const known = BINDINGS.find((one) => one === binding.toUpperCase())
  const resolved = url === '' ? null : URL.parse(url, base)
  if (known === undefined || resolved === null) return []
  if (!['http:', 'https:'].includes(resolved.protocol)) return []
  const isLegacy = version.trim().startsWith('0.')
  return [{ url: resolved.href, binding: known, version: isLegacy ? '0.3' : '1.0', tenant }]
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isJsonObject(one)) : []
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
