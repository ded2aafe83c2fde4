/** Reads a packed package. */
import { readFileSync } from 'node:fs'

import { createPackageFromTarballData, type Package } from '@arethetypeswrong/core'

/** Contents of `package.json` in a packed package. */
export interface PackedManifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly keywords?: readonly string[]
  readonly homepage?: string
  readonly bugs?: { readonly url?: string }
  readonly license?: string
  readonly author?: string
  readonly repository?: {
    readonly type?: string
    readonly url?: string
    readonly directory?: string
  }
  readonly type?: string
  readonly sideEffects?: boolean
  readonly engines?: { readonly node?: string }
  readonly publishConfig?: { readonly access?: string }
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | EntryPointTarget>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface EntryPointTarget {
  readonly types?: string
  readonly default?: string
}

/** A packed package. */
export interface Packed {
  readonly manifest: PackedManifest
  /** Content of the tarball. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The package in the form that "are the types wrong" expects. */
  readonly contents: Package
  /** Paths in the package, sorted. */
  readonly files: readonly string[]
  /** Returns the text of one of `files`. */
  read(path: string): string
}

/** Reads the tarball at `path`. */
export function readTarball(path: string): Packed {
  const bytes = new Uint8Array(readFileSync(path))
  const contents = createPackageFromTarballData(bytes)
  const root = `/node_modules/${contents.packageName}/`
  const read = (name: string): string => contents.readFile(root + name)
  return {
    manifest: JSON.parse(read('package.json')),
    bytes,
    contents,
    files: contents
      .listFiles()
      .map((file) => file.slice(root.length))
      .toSorted(),
    read,
  }
}

/** Returns the entry points of a package that lead to code, as import specifiers: `@tutti/runs/testing`. */
export function codeEntryPoints({
  name,
  exports = {},
}: Pick<PackedManifest, 'name' | 'exports'>): ReadonlyMap<string, EntryPointTarget> {
  return new Map(
    Object.entries(exports).flatMap(([entryPoint, to]) =>
      typeof to === 'string' ? [] : [[name + entryPoint.slice(1), to]],
    ),
  )
}
