/**
 * Throws an error for a response with status 200 that is not a stream: some servers and proxies report an
 * error as JSON or as a page. The providers' clients read that as a stream without events, like one that was
 * cut off.
 */
import { isJsonObject, TuttiError } from '@tutti/core'

/** A function like `fetch`. */
export type ProviderFetch = typeof globalThis.fetch

/** Maximum length of response text in a message. */
const MAX_TEXT_LENGTH = 500

/**
 * Returns a `fetch` that throws a TuttiError for such a response; `label` is the model, such as
 * `openai:gpt-5`.
 */
export function createExplainingFetch(
  label: string,
  inner: ProviderFetch = globalThis.fetch,
): ProviderFetch {
  return async (input, init) => {
    const response = await inner(input, init)
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || !asksForStream(init?.body) || /event-stream|octet-stream/.test(type)) {
      return response
    }
    if (!/json|html|text\/plain/.test(type)) return response
    throw createNotStreamError(label, await response.text(), response.status)
  }
}

function asksForStream(body: unknown): boolean {
  return typeof body === 'string' && /"stream"\s*:\s*true/.test(body)
}

function createNotStreamError(label: string, text: string, status: number): TuttiError {
  const { message, code, type } = toError(text)
  const words = message ?? plain(text)
  const shown = words.length <= MAX_TEXT_LENGTH ? words : `${words.slice(0, MAX_TEXT_LENGTH)}…`
  return new TuttiError(
    'MODEL_FAILED',
    `Cannot call ${label}: the answer with status ${status} is not a stream of events: ${shown}`,
    {
      retryable: isTransientCode(code, type),
      details: { status, ...(type === undefined ? {} : { type }) },
    },
  )
}

interface ErrorFacts {
  readonly message?: string
  readonly code?: unknown
  readonly type?: string
}

/** Returns the error in a JSON response, in the common forms `{error: {message}}`, `{error}` and `{message}`. */
function toError(text: string): ErrorFacts {
  const value = parse(text)
  if (!isJsonObject(value)) return {}
  const { error = value } = value
  if (typeof error === 'string') return { message: error }
  if (!isJsonObject(error)) return {}
  const { message, code, type } = error
  return {
    ...(typeof message === 'string' ? { message } : {}),
    ...(code === undefined ? {} : { code }),
    ...(typeof type === 'string' ? { type } : {}),
  }
}

/** `to-model-error.ts` lists the transient statuses below 500. */
function isTransientCode(code: unknown, type: string | undefined): boolean {
  if (/invalid|authentication|permission|not_found|quota/.test(type ?? '')) return false
  return typeof code !== 'number' || code >= 500 || code === 408 || code === 409 || code === 429
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Removes the tags of a page. */
function plain(text: string): string {
  const words = text
    .replaceAll(/<(script|style)[^>]*>[^<]*<\/\1>/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return words === '' ? 'it is empty' : words
}
