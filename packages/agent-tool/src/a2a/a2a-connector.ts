/**
 * The way to an agent over A2A 1.0 or 0.3, or over the seed's tasks wire, as its card says.
 *
 *   card? ─1.0, 0.3─▶ A2A · ─none─▶ tasks (`auto`), failure (`a2a`)
 *
 * W1 The card is fetched before the first call, and kept as its server says. Whoever names a card says that there
 *    is one: without it nothing else is tried.
 * W2 Headers go to the origin of `url` alone, with the card as with everything else; the card may lead elsewhere.
 * W3 The SDK is loaded when an agent turns out to speak A2A.
 */
import { USAGE_EXTENSION } from '@tutti/protocol'
import { systemClock, type Clock } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'

import { agentFetch, type AgentHttpOptions } from '../http/agent-fetch.ts'
import { readAgentUrl, shownUrl, urlBelow } from '../http/agent-url.ts'
import { connectPeer } from './a2a-peer.ts'
import { A2aSession } from './a2a-session.ts'
import { callFetch } from './call-fetch.ts'
import { CardCache, type FoundCard } from './card-cache.ts'

import type { AgentCall, AgentConnector } from '@tutti/agent-call'
import type { AgentCard } from './agent-card.ts'

const WIRES = ['auto', 'a2a', 'tasks'] as const

/** What an agent is spoken to in: as its card says, or one of them in any case. */
export type AgentWire = (typeof WIRES)[number]

/** How an agent is asked over A2A. */
export interface A2aConnectorOptions extends AgentHttpOptions {
  /** Where the agent is; its card is below it. An address that ends in `.json` is that of the card. */
  readonly url: string | URL
  /** @default auto */
  readonly wire?: AgentWire
  /** Where the card is, relative to `url`. @default `/.well-known/agent-card.json` below `url` */
  readonly cardUrl?: string | URL
  /** The way to the same agent over the tasks wire. */
  readonly tasks: AgentConnector
  /** Bytes of an answer that is no stream, at most. @default 16 MiB */
  readonly maxBodyBytes?: number
  /** Says how old a card is, for all calls. @default the clock of the system */
  readonly clock?: Clock
}

/** Path of the card of an agent. @see https://a2a-protocol.org/latest/specification/ section 8.2 */
const CARD_PATH = '/.well-known/agent-card.json'

const DEFAULT_MAX_BODY_BYTES = 16 * 1_048_576

/**
 * Makes the way to one agent; nothing is sent before the first call.
 *
 * @throws {TypeError} for an address, headers or other options that cannot be used.
 */
export function a2aConnector(options: A2aConnectorOptions): AgentConnector {
  const { wire = 'auto', tasks, clock = systemClock } = options
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options
  const url = readAgentUrl(options.url, options)
  assertFits({ wire, maxBodyBytes }, url)
  if (wire === 'tasks') return tasks
  const namesCard = options.cardUrl !== undefined || url.pathname.endsWith('.json')
  const cardUrl = readAgentUrl(cardUrlOf(url, options.cardUrl), options)
  const fetch = agentFetch(url, options)
  const cards = new CardCache({ url: cardUrl, fetch, clock })
  return {
    uri: shownUrl(url),
    protocol: 'a2a',
    async connect(call) {
      const found = await cards.get(call.signal)
      call.onBytes()
      if (found.kind === 'none' && wire === 'auto' && !namesCard) return tasks.connect(call)
      const card = usableCard(found, cardUrl)
      const peer = await connectPeer(card, {
        fetch: callFetch(fetch, { onBytes: call.onBytes, maxBodyBytes }),
        headers: headersFor(card, call),
        signal: call.signal,
      })
      return new A2aSession({ peer, card, call })
    },
    async close() {
      await Promise.all([fetch.close(), tasks.close?.()])
    },
  }
}

/** @throws {TypeError} naming everything that does not fit. */
function assertFits(
  { wire, maxBodyBytes }: { readonly wire: AgentWire; readonly maxBodyBytes: number },
  url: URL,
): void {
  const problems = [
    ...(WIRES.includes(wire) ? [] : [`wire must be one of ${WIRES.join(', ')}, got "${wire}"`]),
    ...(maxBodyBytes > 0 ? [] : [`maxBodyBytes must be > 0, got ${maxBodyBytes}`]),
  ]
  if (problems.length === 0) return
  throw new TypeError(`Cannot ask the agent at "${shownUrl(url)}": ${problems.join('; ')}`)
}

function cardUrlOf(url: URL, cardUrl: string | URL | undefined): string | URL {
  if (cardUrl !== undefined) return URL.parse(cardUrl, url) ?? String(cardUrl)
  return url.pathname.endsWith('.json') ? url : urlBelow(url, CARD_PATH)
}

/** @throws {AgentError} when there is no card, or none that says how to ask the agent over HTTP. */
function usableCard(found: FoundCard, cardUrl: URL): AgentCard {
  if (found.kind === 'card') return found.card
  const problem =
    found.kind === 'none'
      ? `the agent has no card at ${shownUrl(cardUrl)}: got ${found.found}`
      : `its card at ${shownUrl(cardUrl)} lists no address over JSONRPC or HTTP+JSON, got ${listOf(found.bindings)}`
  throw new AgentError(`Cannot ask the agent over A2A: ${problem}`, {
    failureType: 'invalid_response',
    retryable: false,
  })
}

function listOf(bindings: readonly string[]): string {
  return bindings.length === 0 ? 'none' : bindings.map((one) => JSON.stringify(one)).join(', ')
}

function headersFor(card: AgentCard, call: AgentCall): Readonly<Record<string, string>> {
  const { traceparent } = call
  return {
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(card.extensions.includes(USAGE_EXTENSION) ? { 'A2A-Extensions': USAGE_EXTENSION } : {}),
  }
}
