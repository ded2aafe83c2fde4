/** The text of what a web server answered, by its kind. */
import { decodeBody, type GuardedResponse } from '@tutti/net'

import { ReadingThreads } from './reading-threads.ts'

import type { HtmlPage, ReadHtmlOptions } from './read-html.ts'

/** Time to read a page, in milliseconds: several times what the longest page needs. */
export const READING_MS = 5_000

/** All pages of the process are read here. */
const THREADS = new ReadingThreads({
  // One core stays for the rest on the smallest server that has two.
  maxThreads: 2,
  timeoutMs: READING_MS,
  // Twice what the longest page needs.
  maxHeapMiB: 512,
  idleMs: 30_000,
})

/** The text of a page, or the name of a kind of content that is no text. */
export type PageText = HtmlPage | { readonly unreadable: string }

/** Kinds of content that are text, besides all `text/…`, `…+json` and `…+xml`. */
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

/** Reads HTML as a page and other text as it is. */
export async function pageText(
  response: GuardedResponse,
  { signal, ...options }: ReadHtmlOptions & { readonly signal: AbortSignal },
): Promise<PageText> {
  const type = contentType(response)
  if (type === 'text/html' || type === 'application/xhtml+xml') {
    return THREADS.read(decodeBody(response), options, signal)
  }
  const isText = type.startsWith('text/') || /\+(?:json|xml)$/.test(type) || TEXTS.has(type)
  return isText ? { text: decodeBody(response).trim() } : { unreadable: type }
}

/** The kind of content in lower case, without parameters; looked for in the bytes when it is not said. */
function contentType({ headers, body }: GuardedResponse): string {
  const said = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return said === '' ? sniff(body) : said
}

/** Bytes in which the kind of content is looked for. */
const SNIFFED_BYTES = 1024

function sniff(body: Uint8Array): string {
  const start = new TextDecoder('latin1').decode(body.subarray(0, SNIFFED_BYTES))
  if (/^[\s\u{EF}\u{BB}\u{BF}]*<(?:!doctype\s+html|html|head|body)[\s>]/iu.test(start))
    return 'text/html'
  return start.includes('\0') ? 'application/octet-stream' : 'text/plain'
}
