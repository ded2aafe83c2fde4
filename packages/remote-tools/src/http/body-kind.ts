/**
 * Decides whether the body of a response is text. The content type decides, unless the bytes contradict it. Pure.
 *
 * REMOTE-BK1 Images, audio, video, fonts and archives are not text. SVG is.
 * REMOTE-BK2 Another body is not text if it starts like a known binary format, contains a NUL, or has many control
 *    characters. Text in UTF-16 and UTF-32, which contains NUL, is recognized by its byte order mark or its `charset`.
 */

/** Number of bytes that are inspected. */
const INSPECTED_BYTES = 1_024

/** Types that are never text. */
const BINARY_TYPE =
  /^(?:image\/(?!svg\+xml)|audio\/|video\/|font\/|model\/|application\/(?:octet-stream|pdf|zip|gzip|x-gzip|x-tar|x-bzip2?|x-xz|zstd|x-7z-compressed|vnd\.rar|x-rar-compressed|java-archive|wasm|msword|vnd\.ms-(?!.*\+(?:xml|json))|vnd\.openxmlformats|vnd\.apache\.|vnd\.sqlite3|x-sqlite3|x-protobuf|protobuf|cbor|msgpack|x-msgpack|grpc|x-executable|x-msdownload)(?![\w-]*\+(?:xml|json)))/

/** Starts of binary formats, as Latin-1, with their types. */
/* oxlint-disable no-control-regex -- signatures of files contain control characters */
const STARTS: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF....WEBP/s, 'image/webp'],
  [/^RIFF....WAVE/s, 'audio/wav'],
  [/^(?:OggS|ID3)/, 'audio/*'],
  [/^....ftyp/s, 'video/mp4'],
  [/^%PDF-/, 'application/pdf'],
  [/^PK\x03\x04/, 'application/zip'],
  [/^\x1f\x8b/, 'application/gzip'],
  [/^\x28\xb5\x2f\xfd/, 'application/zstd'],
  [/^\x7fELF/, 'application/x-executable'],
]

/** Byte order marks of UTF-16 and UTF-32. */
const MARK = /^(?:\xff\xfe|\xfe\xff|\x00\x00\xfe\xff)/

/** Share of control characters above which bytes are not text. */
const MAX_CONTROL_SHARE = 0.1

/** Returns the type of a body that is not text; undefined for text. */
export function findBinaryType(body: Uint8Array, contentType: string): string | undefined {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (body.length === 0) return undefined
  if (BINARY_TYPE.test(type)) return type
  const start = Buffer.from(body.subarray(0, INSPECTED_BYTES)).toString('latin1')
  const known = STARTS.find(([pattern]) => pattern.test(start))
  if (known !== undefined) return known[1]
  if (MARK.test(start) || /charset\s*=\s*["']?(?:utf|ucs)-?(?:16|32|2)/i.test(contentType)) {
    return undefined
  }
  const controls = start.match(/[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]/g) ?? []
  const isBinary = start.includes('\0') || controls.length > start.length * MAX_CONTROL_SHARE
  return isBinary ? 'application/octet-stream' : undefined
}

/** Describes a body that is not text, as the content of MCP results. */
export function describeBinary(type: string, bytes: number, { truncated = false } = {}): string {
  const [family = ''] = type.split('/')
  const kind = ['image', 'audio', 'video'].includes(family) ? family : 'binary'
  return `[${kind}: ${type}, ${truncated ? 'more than ' : ''}${bytes} bytes]`
}
