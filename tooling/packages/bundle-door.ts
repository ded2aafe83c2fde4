/** Bundles a door of a package as an application would that uses all of it. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { Rolldown } from 'tsdown'

import { NEUTRAL_DOORS } from './neutral-doors.ts'

/** A door as part of an application. */
export interface BundledDoor {
  /** Minified and compressed. */
  readonly gzipBytes: number
  /** What is not in the bundle, and is imported when it runs. */
  readonly imports: readonly string[]
  /** What the bundler had to say. */
  readonly warnings: readonly string[]
}

/**
 * Bundles `door`, installed in `folder`: a neutral one for browsers, with everything it needs; any other for Node,
 * with our own code alone, since nobody ships the rest to a browser.
 */
export async function bundleDoor(door: string, folder: string): Promise<BundledDoor> {
  const entry = join(folder, 'entry.js')
  const isNeutral = NEUTRAL_DOORS.has(door)
  const warnings: string[] = []
  const bundle = await Rolldown.rolldown({
    input: entry,
    cwd: folder,
    platform: isNeutral ? 'browser' : 'node',
    external: isNeutral ? [] : (id) => !/^(?:[./]|@tutti\/)/.test(id),
    onLog: (_level, log) => warnings.push(log.message),
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? `export * from '${door}'` : null),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  const own = new Set(chunks.map(({ fileName }) => fileName))
  return {
    gzipBytes: chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0),
    imports: [
      ...new Set(chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])),
    ].filter((name) => !own.has(name)),
    warnings,
  }
}
