/** Pure: what the files of a built page are, by their names. */

/** What a file is sent as. */
export interface FileKind {
  readonly contentType: string
  /** True of formats that are compressed already. */
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

/** What a file is, by what follows the last dot of its name; of others only that it is bytes. */
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
