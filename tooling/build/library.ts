/**
 * The one build of every published package: ESM, one file per door, types beside it.
 * Dependencies stay imports; a program that wants a bundle makes its own.
 */
import { defineConfig, type UserConfig } from 'tsdown'

export function libraryBuild(entry: Record<string, string>): UserConfig {
  return defineConfig({
    entry,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    dts: true,
    sourcemap: false,
    clean: true,
    fixedExtension: false,
  })
}
