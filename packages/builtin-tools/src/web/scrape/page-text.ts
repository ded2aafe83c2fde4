/** Reads the text of responses by their content type. */
import { decodeBody, type GuardedResponse } from '@tutti/net/internal'

import { ReadingThreads } from './reading-threads.ts'

import type { HtmlPage, ReadHtmlOptions } from './read-html.ts'

/** Time limit for reading a page, in milliseconds; several times as much as the longest page needs. */
export const READING_MS = 5_000

/** The threads that read all pages of this process. */
const THREADS = new ReadingThreads({
  // Even hostile pages occupy at most two cores.
  maxThreads: 2,
  timeoutMs: READING_MS,
  // Twice as much as the longest page needs.
  maxHeapMiB: 512,
  idleMs: 30_000,
})

/** The text of a page, or the content type of a response that is not text. */
export type PageText = HtmlPage | { readonly unreadable: string }

/** Content types of text, in addition to `text/…`, `…+json` and `…+xml`. */
const TEXTS: ReadonlySet<string> = new Set([
  'application/ecmascript',
  'application/javascript',
  'application/json',
  'application/ld+json',
  'application/toml',
  'application/x-ndjson',
  'application/x-yaml',
  'application/xml',
  'application/yaml',
])

/** Reads HTML as a page, and other text unchanged. */
export async function readPageText(
  response: GuardedResponse,
  { signal, ...options }: ReadHtmlOptions & { readonly signal: AbortSignal },
): Promise<PageText> {
  const type = readContentType(response)
  if (type === 'text/html' || type === 'application/xhtml+xml') {
    return THREADS.read(decodeBody(response), options, signal)
  }
  const isText = type.startsWith('text/') || /\+(?:json|xml)$/.test(type) || TEXTS.has(type)
  return isText ? { text: decodeBody(response).trim() } : { unreadable: type }
}

/** Returns the content type in lower case without parameters; detects it from the bytes if the header is missing. */
function readContentType({ headers, body }: GuardedResponse): string {
  const declared = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return declared === '' ? sniffType(body) : declared
}

/** Number of bytes that content type detection examines. */
const SNIFFED_BYTES = 1024

function sniffType(body: Uint8Array): string {
  const start = new TextDecoder('latin1').decode(body.subarray(0, SNIFFED_BYTES))
  if (/^[\s\u{EF}\u{BB}\u{BF}]*<(?:!doctype\s+html|html|head|body)[\s>]/iu.test(start))
    return 'text/html'
  return start.includes('\0') ? 'application/octet-stream' : 'text/plain'
}
