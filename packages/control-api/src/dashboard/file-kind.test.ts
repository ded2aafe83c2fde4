import { expect, it } from 'vitest'

import { fileKind } from './file-kind.ts'

it.each([
  ['assets/index-DKaX9_-q.js', 'text/javascript; charset=utf-8', false],
  ['assets/index.min.css', 'text/css; charset=utf-8', false],
  ['favicon.SVG', 'image/svg+xml', false],
  ['THIRD_PARTY_LICENSES.txt', 'text/plain; charset=utf-8', false],
  ['site.webmanifest', 'application/manifest+json', false],
  ['assets/plex-latin-400.woff2', 'font/woff2', true],
  ['icon.png', 'image/png', true],
  ['module.wasm', 'application/octet-stream', false],
  ['CNAME', 'application/octet-stream', false],
  ['a.constructor', 'application/octet-stream', false],
])('The file kind of %s is %s', (name, contentType, isCompressed) => {
  expect(fileKind(name)).toEqual({ contentType, isCompressed })
})
