/** The size and the contents of the bundle that a page loads. */
import { gzipSync } from 'node:zlib'

import { expect, it } from 'vitest'

import { bundleClient } from './browser/bundle-story.ts'

/** Maximum bytes of the whole client, minified and compressed, including the schemas and their checks. */
const MAX_PACKED_BYTES = 80_000

it('The bundle for pages contains no Node module, and is small', { timeout: 60_000 }, async () => {
  const script = await bundleClient()
  expect(script).not.toMatch(/(?:from|import)\s*\(?["'](?:node:|\w)/)
  expect(script).not.toMatch(/\brequire\(["']/)
  const packed = gzipSync(script).byteLength
  expect(packed).toBeGreaterThan(1_000)
  expect(packed).toBeLessThan(MAX_PACKED_BYTES)
})
