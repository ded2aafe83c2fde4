/**
 * Connects to an agent over A2A 1.0 or 0.3, according to its card.
 *
 * AGENT-W1 The card is fetched before the first call, and cached for as long as its server allows.
 * AGENT-W2 Headers are sent only to the origin of `url`, also with the card; the card may name other origins.
 * AGENT-W3 The SDK is loaded when an agent is known to use A2A.
 */
import { USAGE_EXTENSION } from '@tutti/protocol/internal'
import { systemClock, type Clock } from '@tutti/core'
import { findExcessProblems } from '@tutti/core/internal'
import { AgentError } from '@tutti/agent-call/internal'

import { createAgentFetch, type AgentHttpOptions } from '../http/agent-fetch.ts'
import { readAgentUrl, formatShownUrl, appendPath } from '../http/agent-url.ts'
import { connectPeer } from './a2a-peer.ts'
import { A2aSession } from './a2a-session.ts'
import { createCallFetch } from './call-fetch.ts'
import { CardCache, type FoundCard } from './card-cache.ts'

import type { AgentCall, AgentConnector } from '@tutti/agent-call/internal'
import type { AgentCard } from './agent-card.ts'

/** Options of a connection to an agent over A2A. */
export interface A2aConnectorOptions extends AgentHttpOptions {
  /** Base address of the agent, or the address of its card if it ends in `.json`. */
  readonly url: string | URL
  /** Address of the card, relative to `url`. @default `/.well-known/agent-card.json` below `url` */
  readonly cardUrl?: string | URL
  /** Maximum bytes of an answer that is not a stream. @default 16 MiB */
  readonly maxBodyBytes?: number
  /** Measures the age of the card. @default the system's clock */
  readonly clock?: Clock
}

/** Path of an agent's card. @see https://a2a-protocol.org/latest/specification/ section 8.2 */
const CARD_PATH = '/.well-known/agent-card.json'

const DEFAULT_MAX_BODY_BYTES = 16 * 1_048_576

/** Thrown when an agent has no card. It may use another protocol. */
export class MissingCardError extends AgentError {
  /** Whether the configuration names the card, so that the agent should have one. */
  readonly isNamed: boolean

  constructor(message: string, isNamed: boolean) {
    super(message, { failureType: 'invalid_response', retryable: false })
    this.isNamed = isNamed
  }
}

/**
 * Creates a connector to one agent; it connects at the first call. A call to an agent without a card fails with
 * {@link MissingCardError}.
 *
 * @throws {TypeError} for an invalid address, header or other option.
 */
export function a2aConnector(options: A2aConnectorOptions): AgentConnector {
  const { clock = systemClock, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options
  const url = readAgentUrl(options.url, options)
  const tooSmall = maxBodyBytes > 0 ? [] : [`maxBodyBytes must be > 0, got ${maxBodyBytes}`]
  const [problem] = [...tooSmall, ...findExcessProblems({ maxBodyBytes })]
  if (problem !== undefined) {
    throw new TypeError(`Cannot ask the agent at "${formatShownUrl(url)}": ${problem}`)
  }
  const isNamed = options.cardUrl !== undefined || url.pathname.endsWith('.json')
  const cardUrl = readAgentUrl(resolveCardUrl(url, options.cardUrl), options)
  const fetch = createAgentFetch(url, options)
  const cards = new CardCache({ url: cardUrl, fetch, clock })
  return {
    uri: formatShownUrl(url),
    protocol: 'a2a',
    async connect(call) {
      const found = await cards.get(call.signal)
      call.onBytes()
      const card = requireCard(found, { cardUrl, isNamed })
      const peer = await connectPeer(card, {
        fetch: createCallFetch(fetch, { onBytes: call.onBytes, maxBodyBytes }),
        headers: headersFor(card, call),
        signal: call.signal,
      })
      return new A2aSession({ peer, card, call })
    },
    close: () => fetch.close(),
  }
}

function resolveCardUrl(url: URL, cardUrl: string | URL | undefined): string | URL {
  if (cardUrl !== undefined) return URL.parse(cardUrl, url) ?? String(cardUrl)
  return url.pathname.endsWith('.json') ? url : appendPath(url, CARD_PATH)
}

/** @throws {AgentError} when there is no card, or the card has no address over HTTP. */
function requireCard(
  found: FoundCard,
  { cardUrl, isNamed }: { readonly cardUrl: URL; readonly isNamed: boolean },
): AgentCard {
  if (found.kind === 'card') return found.card
  const where = formatShownUrl(cardUrl)
  if (found.kind === 'none') {
    const problem = `the agent has no card at ${where}: got ${found.found}`
    throw new MissingCardError(`Cannot ask the agent over A2A: ${problem}`, isNamed)
  }
  const problem = `its card at ${where} lists no address over JSONRPC or HTTP+JSON, got ${formatBindings(found.bindings)}`
  throw new AgentError(`Cannot ask the agent over A2A: ${problem}`, {
    failureType: 'invalid_response',
    retryable: false,
  })
}

function formatBindings(bindings: readonly string[]): string {
  return bindings.length === 0 ? 'none' : bindings.map((one) => JSON.stringify(one)).join(', ')
}

function headersFor(card: AgentCard, call: AgentCall): Readonly<Record<string, string>> {
  const { traceparent } = call
  return {
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(card.extensions.includes(USAGE_EXTENSION) ? { 'A2A-Extensions': USAGE_EXTENSION } : {}),
  }
}
