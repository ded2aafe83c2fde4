/** Maps file names of the built dashboard to media types. Pure. */

/** Media type of a file. */
export interface FileKind {
  readonly contentType: string
  /** Whether the format is already compressed. */
  readonly isCompressed: boolean
}

const TEXT: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  map: 'application/json',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json',
}

const COMPRESSED: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  woff: 'font/woff',
  woff2: 'font/woff2',
}

/** Returns the kind of a file by its extension; unknown extensions are `application/octet-stream`. */
export function fileKind(name: string): FileKind {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const compressed = own(COMPRESSED, extension)
  return {
    contentType: compressed ?? own(TEXT, extension) ?? 'application/octet-stream',
    isCompressed: compressed !== undefined,
  }
}

function own(table: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}
