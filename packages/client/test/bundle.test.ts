/** What a page has to load. */
import { gzipSync } from 'node:zlib'

import { expect, it } from 'vitest'

import { bundleClient } from './browser/bundle-story.ts'

/** Bytes that the whole client may take, minified and packed, schemas and their checks among them. */
const MAX_PACKED_BYTES = 80_000

it('the bundle for pages has no module of Node, and is small', { timeout: 60_000 }, async () => {
  const script = await bundleClient()
  expect(script).not.toMatch(/(?:from|import)\s*\(?["'](?:node:|\w)/)
  expect(script).not.toMatch(/\brequire\(["']/)
  const packed = gzipSync(script).byteLength
  expect(packed).toBeGreaterThan(1_000)
  expect(packed).toBeLessThan(MAX_PACKED_BYTES)
})
