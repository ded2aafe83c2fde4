/**
 * Caches the card of one agent.
 *
 * AGENT-K1 A card is fresh for as long as its server says, else for `DEFAULT_FRESH_MS`; then it is revalidated if it
 *    has an ETag.
 * AGENT-K2 A missing card is cached too. A failure is not: the next call tries again.
 * AGENT-K3 Concurrent calls that need the card share one request.
 */
import { AgentError } from '@tutti/agent-call/internal'
import { readLimitedBody, type GuardedFetch } from '@tutti/net/internal'

import { formatShownUrl } from '../http/agent-url.ts'
import { toStatusFailure } from '../http/http-error.ts'
import { readAgentCard, type ReadCard } from './agent-card.ts'
import { SharedFlight } from './shared-flight.ts'

import type { Clock } from '@tutti/core'

/** Time for which a card is fresh by default, in milliseconds. */
export const DEFAULT_FRESH_MS = 300_000

/** Maximum time for which a card is fresh, in milliseconds. */
const MAX_FRESH_MS = 86_400_000

/** Maximum bytes of a card. */
const MAX_CARD_BYTES = 1_048_576

/** Client errors that do not mean that there is no card. */
const NO_ANSWER: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 421, 425, 429])

/** A card, or the reason why there is none. */
export type FoundCard =
  | Exclude<ReadCard, { kind: 'none' }>
  /** Description of the response, such as `404 Not Found`. */
  | { readonly kind: 'none'; readonly found: string }

/** Parts of a {@link CardCache}. */
export interface CardCacheOptions {
  readonly url: URL
  readonly fetch: GuardedFetch
  readonly clock: Clock
}

interface CachedCard {
  readonly found: FoundCard
  readonly etag: string | null
  /** Time by `Clock.elapsed`. */
  readonly freshUntil: number
}

/** The card of one agent. */
export class CardCache {
  readonly #options: CardCacheOptions
  readonly #flight = new SharedFlight<CachedCard>()
  #cached: CachedCard | undefined

  constructor(options: CardCacheOptions) {
    this.#options = options
  }

  /**
   * Returns the card, and fetches it if necessary.
   *
   * @throws {AgentError} when it cannot be fetched.
   * @throws the reason of `signal` when it aborts.
   */
  async get(signal: AbortSignal): Promise<FoundCard> {
    const cached = this.#cached
    if (cached !== undefined && this.#options.clock.elapsed() < cached.freshUntil) {
      return cached.found
    }
    const { found } = await this.#flight.join((stop) => this.#fetch(stop), signal)
    return found
  }

  async #fetch(signal: AbortSignal): Promise<CachedCard> {
    const { url, fetch, clock } = this.#options
    const etag = this.#cached?.etag ?? null
    const answer = await fetch(url, {
      headers: {
        accept: 'application/json',
        'A2A-Version': '1.0',
        ...(etag === null ? {} : { 'if-none-match': etag }),
      },
      signal,
    })
    const freshUntil = clock.elapsed() + readFreshMs(answer.headers)
    if (answer.status === 304 && this.#cached !== undefined) {
      this.#cached = { ...this.#cached, freshUntil }
      return this.#cached
    }
    const found = await readCard(answer, url)
    this.#cached = { found, etag: answer.headers.get('etag'), freshUntil }
    return this.#cached
  }
}

/** @throws {AgentError} http_error for a response that does not show whether a card exists. */
async function readCard(answer: Response, url: URL): Promise<FoundCard> {
  const { status, statusText } = answer
  if (!answer.ok) {
    if (status >= 500 || status < 400 || NO_ANSWER.has(status)) throw await cardError(answer, url)
    await answer.body?.cancel()
    return { kind: 'none', found: `${status} ${statusText}`.trim() }
  }
  const { bytes, truncated } = await readLimitedBody(answer.body, MAX_CARD_BYTES)
  if (truncated) {
    throw new AgentError(
      `The card at ${formatShownUrl(url)} is larger than ${MAX_CARD_BYTES} bytes`,
      {
        failureType: 'invalid_response',
        retryable: false,
      },
    )
  }
  const read = readAgentCard(parseCardJson(bytes), answer.url === '' ? url.href : answer.url)
  return read.kind === 'none' ? { kind: 'none', found: 'a response that is not a card' } : read
}

/** Returns the failure of a card that may exist but cannot be read. */
async function cardError(answer: Response, url: URL): Promise<AgentError> {
  const error = await toStatusFailure(answer)
  const { failureType, retryable, retryAfterMs } = error
  return new AgentError(
    `Cannot read the agent card at ${formatShownUrl(url)}: ${error.message}. An agent without a card needs wire: "tasks"`,
    {
      failureType,
      retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      cause: error,
    },
  )
}

function parseCardJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/** @see https://www.rfc-editor.org/rfc/rfc9111#section-5.2.2 */
function readFreshMs(headers: Headers): number {
  const rules = (headers.get('cache-control') ?? '').toLowerCase().split(',')
  const directives = new Map(
    rules.map((rule) => {
      const [name = '', value = ''] = rule.split('=')
      return [name.trim(), value.trim().replaceAll('"', '')]
    }),
  )
  if (directives.has('no-store') || directives.has('no-cache')) return 0
  const maxAge = directives.get('max-age')
  if (maxAge === undefined || !/^\d+$/.test(maxAge)) return DEFAULT_FRESH_MS
  const age = Number(headers.get('age') ?? 0)
  const leftMs = (Number(maxAge) - (Number.isFinite(age) ? age : 0)) * 1_000
  return Math.min(MAX_FRESH_MS, Math.max(0, leftMs))
}
