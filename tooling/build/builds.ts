/**
 * The builds of all packages. A library is ESM, one file per door, types beside it, its dependencies
 * left as imports. A program is one file that holds everything but what it loads late.
 */
import { defineConfig, type UserConfig } from 'tsdown'

import { thirdPartyLicenses } from './third-party-licenses.ts'

const SHARED = {
  format: 'esm',
  target: 'es2023',
  sourcemap: false,
  fixedExtension: false,
  logLevel: 'warn',
  plugins: [thirdPartyLicenses()],
} as const satisfies UserConfig

/**
 * The build of a package that others import; `entry` names its doors. What `inline` matches is taken
 * into the file: a dependency of hundreds of files imports many times faster as part of one.
 */
export function libraryBuild(entry: Record<string, string>, inline: RegExp[] = []): UserConfig {
  // What a package uses of Node stays an import; which packages may, is a rule of their layers.
  const deps = { alwaysBundle: inline, neverBundle: [/^node:/] }
  return defineConfig({ ...SHARED, entry, deps, platform: 'neutral', dts: true, clean: true })
}

/**
 * The build of a program, from the sources of the packages it is made of. One file imports many times
 * faster than the hundreds it comes from.
 */
export function programBuild(entry: Record<string, string>, late: RegExp[]): UserConfig {
  return defineConfig({
    ...SHARED,
    entry,
    platform: 'node',
    dts: false,
    clean: false,
    // The parts that are loaded late take the place of those of the build before.
    hash: false,
    deps: { alwaysBundle: [/.*/], neverBundle: late },
    inputOptions: { resolve: { conditionNames: ['@tutti/source', 'node', 'import', 'default'] } },
  })
}
