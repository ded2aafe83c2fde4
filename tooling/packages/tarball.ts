/** Reads a packed package. */
import { readFileSync } from 'node:fs'

import { createPackageFromTarballData, type Package } from '@arethetypeswrong/core'

/** What `package.json` of a packed package says. */
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
  readonly exports?: Readonly<Record<string, string | Door>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Where a door of a package leads. */
export interface Door {
  readonly types?: string
  readonly default?: string
}

/** A packed package, read. */
export interface Packed {
  readonly manifest: PackedManifest
  /** The bytes of the tarball. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** As "are the types wrong" wants it. */
  readonly contents: Package
  /** Paths in the package, sorted. */
  readonly files: readonly string[]
  /** The text of one of `files`. */
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

/** The doors of a package that lead to code, by what importers write: `@tutti/runs/testing`. */
export function doorsOf({
  name,
  exports = {},
}: Pick<PackedManifest, 'name' | 'exports'>): ReadonlyMap<string, Door> {
  return new Map(
    Object.entries(exports).flatMap(([door, to]) =>
      typeof to === 'string' ? [] : [[name + door.slice(1), to]],
    ),
  )
}
