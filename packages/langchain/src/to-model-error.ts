/** Converts a failed call to one error with the provider's message, and whether a retry may help. */
import { TuttiError } from '@tutti/core'

import { providerFacts } from './providers.ts'
import { findThrown, readFailure, type ProviderFailure } from './read-failure.ts'

import type { ModelIdentity } from './providers.ts'

/** Transient statuses below 500: request timeout, conflict, too many requests. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 409, 429])

/**
 * Names of transient failures in the middle of a stream: as the type or, in OpenAI's Responses API, as the
 * code.
 */
const PASSING_TYPES: ReadonlySet<string> = new Set([
  'api_error',
  'overloaded_error',
  'rate_limit_error',
  'rate_limit_exceeded',
  'server_error',
  'timeout_error',
])

/** Patterns of keys that a provider may repeat in its message, masked or not. */
const KEY_SHAPES = /\b(?:sk|xai|gsk|pplx|AIza)[-_][\w*.-]{6,}|\bBearer [\w*.-]{6,}/g

const REDACTED = '[redacted]'

/** Minimum length of a secret; shorter texts occur by chance. */
const MIN_SECRET_LENGTH = 8

/** Maximum length of a provider's text in a message: some proxies send whole pages. */
const MAX_MESSAGE_LENGTH = 1_000

/**
 * Converts `error` to MODEL_FAILED, or CONTENT_FILTERED when a filter blocked the prompt. Its message has the
 * model and the provider's message, its details the status and codes. `secrets` and texts that look like keys
 * are removed from both and from the cause.
 */
export function toModelError(
  error: unknown,
  identity: ModelIdentity,
  secrets: readonly string[],
): TuttiError {
  const thrown = findThrown(error)
  if (thrown !== undefined) return thrown
  const failure = readFailure(error)
  const { status, type, code, retryAfterMs } = failure
  const message = redact(describe(failure, identity), secrets)
  const facts = {
    provider: identity.provider,
    model: identity.name,
    status,
    type,
    code,
    retryAfterMs,
    finishReason: isFiltered(failure) ? 'content_filter' : undefined,
  }
  return new TuttiError(isFiltered(failure) ? 'CONTENT_FILTERED' : 'MODEL_FAILED', message, {
    retryable: isTransient(failure),
    details: Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)),
    cause: safeCause(error, secrets),
  })
}

/** Azure responds to a prompt that its filter blocks with an error, as a status or inside the stream. */
function isFiltered({ status, code }: ProviderFailure): boolean {
  return (
    (status === undefined || status === 400) &&
    (code === 'content_filter' || code === 'content_policy_violation')
  )
}

function isTransient({ status, type, code, connection, shouldRetry }: ProviderFailure): boolean {
  if (type === 'insufficient_quota' || code === 'insufficient_quota') return false
  if (shouldRetry !== undefined) return shouldRetry
  if (status !== undefined) return status >= 500 || PASSING_STATUSES.has(status)
  return connection || PASSING_TYPES.has(type ?? '') || PASSING_TYPES.has(code ?? '')
}

function describe(failure: ProviderFailure, { provider, name }: ModelIdentity): string {
  const start = `Cannot call ${provider}:${name}:`
  const uninstalled = missingPackage(failure.message)
  if (uninstalled !== undefined) {
    return `${start} the package ${uninstalled} is not installed; run "npm install ${uninstalled}"`
  }
  const variable = providerFacts(provider)?.keyVariable
  const sources = `${variable === undefined ? 'the key variable of the provider' : variable} or the option apiKey`
  if (failure.status === undefined && !failure.connection && isAboutKey(failure.message)) {
    return `${start} there is no API key; set ${sources}`
  }
  const status = failure.status === undefined ? '' : `${failure.status} `
  const hint = failure.status === 401 ? ` (check ${sources})` : ''
  return `${start} ${status}${shorten(failure.message)}${hint}`
}

function shorten(text: string): string {
  return text.length <= MAX_MESSAGE_LENGTH ? text : `${text.slice(0, MAX_MESSAGE_LENGTH)}…`
}

/** Node and LangChain's `initChatModel` use different messages. */
function missingPackage(message: string): string | undefined {
  return (
    /^Cannot find package '([^']+)'/.exec(message)?.[1] ??
    /^Unable to import (\S+)\. Please install/.exec(message)?.[1]
  )
}

function isAboutKey(message: string): boolean {
  return /api[ _-]?key not found|missing credentials|no api key|api[ _-]?key.*(missing|required|set)/i.test(
    message,
  )
}

function redact(text: string, secrets: readonly string[]): string {
  const withoutSecrets = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
  return withoutSecrets.replaceAll(KEY_SHAPES, REDACTED)
}

/** Returns the error itself, or a copy without keys if its text contains one. */
function safeCause(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Error)) return error
  const words = readMessageText(error)
  if (words !== undefined && redact(words, secrets) === words) return error
  const copy = new Error(redact(error.message, secrets))
  copy.name = error.name
  copy.stack = redact(error.stack ?? '', secrets)
  return copy
}

/** Returns all text of `error` that a logger could print; undefined when that is unknown. */
function readMessageText(error: Error): string | undefined {
  try {
    const { message, stack, cause } = error
    const behind = cause instanceof Error ? readMessageText(cause) : JSON.stringify(cause)
    return [
      message,
      stack,
      JSON.stringify(Object.entries(error).filter(([key]) => key !== 'cause')),
      behind,
    ].join('\n')
  } catch {
    return undefined
  }
}
