/**
 * Decodes response bodies. The encoding is that of, in this order, the byte order mark, the `Content-Type` header, or
 * the declaration at the start of HTML and XML; otherwise UTF-8. An unknown encoding counts as UTF-8, and invalid bytes
 * become U+FFFD.
 *
 * @see https://encoding.spec.whatwg.org/#decode
 * @see https://html.spec.whatwg.org/#prescan-a-byte-stream-to-determine-its-encoding
 */
/** Number of bytes within which HTML must declare its encoding. */
const PRESCAN_BYTES = 1024

/** A body with unknown encoding. */
export interface EncodedBody {
  readonly body: Uint8Array
  readonly headers: Headers
  /** Whether the body is cut off. */
  readonly truncated: boolean
}

/** Returns the text of a body. A truncated body loses an incomplete character at its end. */
export function decodeBody({ body, headers, truncated }: EncodedBody): string {
  const contentType = headers.get('content-type') ?? ''
  const label =
    readByteOrderMark(body) ?? readCharset(contentType) ?? findDeclaredCharset(body, contentType)
  return createDecoder(label ?? 'utf-8').decode(body, { stream: truncated })
}

function readByteOrderMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined
}

function readCharset(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType)?.[1]
}

function findDeclaredCharset(body: Uint8Array, contentType: string): string | undefined {
  if (contentType !== '' && !/html|xml/i.test(contentType)) return undefined
  const start = new TextDecoder('latin1').decode(body.subarray(0, PRESCAN_BYTES))
  const declared =
    /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(start)?.[1] ??
    /^<\?xml\s[^>]*?encoding\s*=\s*["']([^\s"']+)/i.exec(start)?.[1]
  // The declaration was readable as single bytes, so the text is not UTF-16.
  return declared !== undefined && /^utf-?16/i.test(declared) ? 'utf-8' : declared
}

function createDecoder(label: string): TextDecoder {
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder()
  }
}
