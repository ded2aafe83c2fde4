/** Bundles an entry point of a package as an application that uses all of it would. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { Rolldown } from 'tsdown'

import { NEUTRAL_ENTRY_POINTS } from './neutral-entry-points.ts'

/** An entry point as part of an application. */
export interface BundledEntryPoint {
  /** Size minified and compressed. */
  readonly gzipBytes: number
  /** Imports that are not bundled. */
  readonly imports: readonly string[]
  /** Warnings of the bundler. */
  readonly warnings: readonly string[]
}

/**
 * Bundles an entry point that is installed in `folder`. A neutral entry point is bundled for browsers with all
 * its dependencies; any other one for Node, with our own code only.
 */
export async function bundleEntryPoint(
  entryPoint: string,
  folder: string,
): Promise<BundledEntryPoint> {
  const entry = join(folder, 'entry.js')
  const isNeutral = NEUTRAL_ENTRY_POINTS.has(entryPoint)
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
        load: (id) => (id === entry ? `export * from '${entryPoint}'` : null),
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
