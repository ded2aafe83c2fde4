/** From an answer to the result of a call. */
import { ToolResult } from '@tutti/core'
import { decodeBody, type GuardedResponse } from '@tutti/net'

/** What is known of an answer besides its text; `structured` of the results of an HTTP tool. */
export interface HttpResponseFacts {
  readonly status: number
  /** By name in lower case, without cookies. */
  readonly headers: Readonly<Record<string, string>>
  /** The value of the body, when it is JSON and whole. */
  readonly body?: unknown
}

/** What the tool says of its answers. */
export interface AnswerRules {
  readonly maxResponseBytes: number
  /** How JSON is checked, when the tool declares the schema of its answer. */
  readonly outputCheck?: 'warn' | 'strict' | undefined
}

/** Characters of the body of a failure that are quoted, as in AgentEnsemble. */
const EXCERPT_LENGTH = 200

/** The first status that is a failure. */
const FIRST_FAILURE = 400

/** The result that an answer stands for; text alone leaves it to the tool's schema what it means. */
export function toHttpResult(answer: GuardedResponse, rules: AnswerRules): ToolResult | string {
  const text = textOf(answer)
  const value = answer.truncated ? undefined : jsonOf(answer, text)
  const facts = factsOf(answer, value)
  if (answer.status >= FIRST_FAILURE) {
    return Object.assign(ToolResult.failure(statusFailure(answer.status, text)), {
      structured: facts,
    })
  }
  const shown = shownText(answer, { text, maxResponseBytes: rules.maxResponseBytes })
  if (rules.outputCheck === undefined) return ToolResult.success(shown, facts)
  if (value !== undefined) return ToolResult.success(shown, value)
  if (rules.outputCheck === 'warn') return shown
  const got = answer.truncated
    ? `over ${rules.maxResponseBytes} bytes`
    : (answer.headers.get('content-type') ?? 'no content type')
  return ToolResult.failure(`HTTP ${answer.status}: expected an answer of JSON, got ${got}`)
}

function statusFailure(status: number, text: string): string {
  const excerpt = text
    .trim()
    .slice(0, EXCERPT_LENGTH)
    .replace(/[\uD800-\uDBFF]$/, '')
  return excerpt === '' ? `HTTP ${status}` : `HTTP ${status}: ${excerpt}`
}

function shownText(
  answer: GuardedResponse,
  { text, maxResponseBytes }: { readonly text: string; readonly maxResponseBytes: number },
): string {
  if (answer.truncated) return `${text}\n[response truncated at ${maxResponseBytes} bytes]`
  if (text !== '' || answer.status < 300) return text
  const location = answer.headers.get('location')
  return location === null ? text : `HTTP ${answer.status}: redirects to ${location}`
}

/** Types whose text is UTF-8 unless it begins with a byte order mark, which is the common case. */
const UTF8_TYPE =
  /^(application\/json|text\/plain; charset=utf-8|application\/json; charset=utf-8)$/i

/** First bytes of the byte order marks. */
const MARKS: ReadonlySet<number | undefined> = new Set([0xef, 0xfe, 0xff])

function textOf(answer: GuardedResponse): string {
  const { body, truncated } = answer
  if (body.byteLength === 0) return ''
  const contentType = answer.headers.get('content-type') ?? ''
  if (!truncated && UTF8_TYPE.test(contentType) && !MARKS.has(body[0])) return body.toString()
  return decodeBody({ body, headers: new Headers({ 'content-type': contentType }), truncated })
}

const JSON_TYPE = /^[^;]*\b(application|text)\/([\w.+-]+\+)?json\b/i

function jsonOf(answer: GuardedResponse, text: string): unknown {
  if (!JSON_TYPE.test(answer.headers.get('content-type') ?? '')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Headers that are secrets of the connection between the tool and its server. */
const WITHHELD: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2', 'authentication-info'])

function factsOf(answer: GuardedResponse, body: unknown): HttpResponseFacts {
  const { status } = answer
  const headers: Record<string, string> = {}
  for (const [name, value] of answer.headers) {
    if (!WITHHELD.has(name)) headers[name] = value
  }
  return body === undefined ? { status, headers } : { status, headers, body }
}
