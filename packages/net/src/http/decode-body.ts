/**
 * The text of an answer. Which bytes mean which characters is said by, first come first: a byte order
 * mark, the Content-Type header, and the first bytes of HTML and XML; UTF-8 otherwise. A name that is
 * no encoding counts as UTF-8, and what cannot be read becomes U+FFFD.
 *
 * @see https://encoding.spec.whatwg.org/#decode
 * @see https://html.spec.whatwg.org/#prescan-a-byte-stream-to-determine-its-encoding
 */
/** Bytes in which HTML has to say its encoding. */
const PRESCAN_BYTES = 1024

/** A body whose encoding is not known yet. */
export interface EncodedBody {
  readonly body: Uint8Array
  readonly headers: Headers
  /** Whether the body is cut. */
  readonly truncated: boolean
}

/** The text of a body; of one that is cut, without the half of a character at its end. */
export function decodeBody({ body, headers, truncated }: EncodedBody): string {
  const contentType = headers.get('content-type') ?? ''
  const label = byteOrderMark(body) ?? charsetOf(contentType) ?? declaredIn(body, contentType)
  return decoderOf(label ?? 'utf-8').decode(body, { stream: truncated })
}

function byteOrderMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined
}

function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType)?.[1]
}

function declaredIn(body: Uint8Array, contentType: string): string | undefined {
  if (contentType !== '' && !/html|xml/i.test(contentType)) return undefined
  const start = new TextDecoder('latin1').decode(body.subarray(0, PRESCAN_BYTES))
  const declared =
    /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(start)?.[1] ??
    /^<\?xml\s[^>]*?encoding\s*=\s*["']([^\s"']+)/i.exec(start)?.[1]
  // What could be read as single bytes is not written in pairs of them.
  return declared !== undefined && /^utf-?16/i.test(declared) ? 'utf-8' : declared
}

function decoderOf(label: string): TextDecoder {
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder()
  }
}
