/**
 * Reads the details of errors that a LangChain model throws. Each provider's client has its own error
 * classes; they share a few fields, which are read here without knowing the classes. Pure.
 */
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { StreamError } from './wire/stream-error.ts'

/** The known details of a provider's failure. */
export interface ProviderFailure {
  /** The provider's own words, without status and LangChain's additions. */
  readonly message: string
  /** HTTP status, if there was a response. */
  readonly status?: number
  /** Provider-specific error type, such as `overloaded_error`. */
  readonly type?: string
  /** A finer code, the provider's or the system's, such as `insufficient_quota` or `ECONNRESET`. */
  readonly code?: string
  /** Whether the provider could not be reached, or the connection broke. */
  readonly connection: boolean
  /** Wait that the provider requests, in milliseconds. */
  readonly retryAfterMs?: number
  /** Whether the provider itself says that a retry may help. */
  readonly shouldRetry?: boolean
}

const CONNECTION_NAMES = /^(APIConnectionError|APIConnectionTimeoutError|TimeoutError)$/
const CONNECTION_CODES =
  /^(ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+)$/
const CONNECTION_MESSAGES = /^(terminated|fetch failed|connection error\.?|premature close)$/i

/** Maximum depth of causes that are read. */
const MAX_DEPTH = 6

/** Reads `error` and its causes. */
export function readFailure(error: unknown): ProviderFailure {
  const chain = listCauses(error)
  const first = <T>(read: (link: unknown) => T | undefined): T | undefined => {
    for (const link of chain) {
      const value = read(link)
      if (value !== undefined) return value
    }
    return undefined
  }
  const connection = chain.some(isConnectionFailure)
  const facts = {
    status: first(readStatus),
    type: first((link) => textField(readBody(link), 'type') ?? textField(link, 'type')),
    code: first((link) => textField(readBody(link), 'code') ?? textField(link, 'code')),
    retryAfterMs: first(readRetryAfter),
    shouldRetry: first(readShouldRetry),
  }
  const known = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
  return {
    message: connection ? connectionMessage(chain) : readMessage(chain),
    connection,
    ...known,
  }
}

/** Returns the TuttiError among the causes of `error`: the providers' clients wrap errors of their `fetch`. */
export function findThrown(error: unknown): TuttiError | undefined {
  return listCauses(error).find((link) => TuttiError.isInstance(link))
}

function listCauses(error: unknown): readonly unknown[] {
  const chain: unknown[] = []
  for (let link = error; link !== undefined && chain.length < MAX_DEPTH;) {
    chain.push(link)
    link = field(link, 'cause') ?? undefined
  }
  return chain
}

function isConnectionFailure(link: unknown): boolean {
  const name = link instanceof Error ? link.constructor.name : ''
  return (
    CONNECTION_NAMES.test(name) ||
    CONNECTION_NAMES.test(textField(link, 'name') ?? '') ||
    CONNECTION_CODES.test(textField(link, 'code') ?? '') ||
    CONNECTION_MESSAGES.test(textField(link, 'message') ?? '')
  )
}

function connectionMessage(chain: readonly unknown[]): string {
  const texts = chain.map((link) => textField(link, 'message') || textField(link, 'code') || '')
  const [said = '', deepest = ''] = [
    texts.find((text) => text !== ''),
    texts.findLast((text) => text !== ''),
  ]
  return said === deepest ? said : `${said.replace(/\.$/, '')} (${deepest})`
}

function readMessage(chain: readonly unknown[]): string {
  for (const link of chain) {
    const said = textField(readBody(link), 'message')
    if (said !== undefined && said !== '') return said
  }
  const [text = ''] = errorMessage(chain[0]).split('\n\nTroubleshooting URL:')
  return text.replace(/^\d{3} /, '').trim()
}

/** Returns the error object of the provider's response: OpenAI's client unwraps it, Anthropic's does not. */
function readBody(link: unknown): unknown {
  const body = field(link, 'error')
  return field(body, 'error') ?? body
}

function readStatus(link: unknown): number | undefined {
  const candidates = [
    field(link, 'status'),
    field(link, 'statusCode'),
    field(field(link, 'response'), 'status'),
    field(field(link, '$metadata'), 'httpStatusCode'),
  ]
  return candidates.find((candidate) => typeof candidate === 'number')
}

function readRetryAfter(link: unknown): number | undefined {
  const headers = readHeaders(link)
  const milliseconds = headers?.get('retry-after-ms')
  if (milliseconds !== undefined && milliseconds !== null) return positive(Number(milliseconds))
  const said = headers?.get('retry-after') ?? ''
  if (/^\s*[\d.]+\s*$/.test(said)) return positive(Number(said) * 1_000)
  // NOTE: both dates are of the provider's clock.
  const until = positive(Date.parse(said) - Date.parse(headers?.get('date') ?? ''))
  return until ?? readRetryInfo(link)
}

/**
 * Reads the wait from Google's error details: `{ "@type": "…/google.rpc.RetryInfo", "retryDelay": "34.1s" }`.
 *
 * @see https://cloud.google.com/apis/design/errors#error_details
 */
function readRetryInfo(link: unknown): number | undefined {
  const candidates = [field(link, 'errorDetails'), field(readBody(link), 'details')]
  for (const details of candidates) {
    if (!Array.isArray(details)) continue
    for (const detail of details) {
      if (!(textField(detail, '@type') ?? '').endsWith('google.rpc.RetryInfo')) continue
      const seconds = /^([\d.]+)s$/.exec(textField(detail, 'retryDelay') ?? '')?.[1]
      if (seconds !== undefined) return positive(Math.ceil(Number(seconds) * 1_000))
    }
  }
  return undefined
}

function readShouldRetry(link: unknown): boolean | undefined {
  if (link instanceof StreamError) return link.retryable
  const said = readHeaders(link)?.get('x-should-retry')
  return said === 'true' ? true : said === 'false' ? false : undefined
}

function positive(value: number): number | undefined {
  return Number.isFinite(value) && value >= 0 ? value : undefined
}

function readHeaders(link: unknown): Headers | undefined {
  const headers = field(link, 'headers')
  return headers instanceof Headers ? headers : undefined
}

function field(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !(key in value)) return undefined
  // NOTE: boundary cast: errors of other packages are read field by field, each checked by its reader.
  return (value as Readonly<Record<string, unknown>>)[key]
}

function textField(value: unknown, key: string): string | undefined {
  const text = field(value, key)
  return typeof text === 'string' ? text : undefined
}
