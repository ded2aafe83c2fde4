/** How big each public package is, as its users meet it. */
import { statSync } from 'node:fs'

import { bundleDoor } from './bundle-door.ts'
import type { FreshFolders } from './fresh-folders.ts'
import { installedWith } from './installed.ts'
import { doorsOf } from './tarball.ts'

/** The size of one package. */
export interface PackageSize {
  /** What is downloaded of the package itself. */
  readonly packedBytes: number
  /** Packages of others that an install brings. */
  readonly otherPackages: number
  /** Of all files of an install, ours and those of others. */
  readonly installedBytes: number
  /** Each door as part of an application: minified and compressed. */
  readonly doors: Readonly<Record<string, number>>
}

/** The sizes of all public packages, by name. */
export type PackageSizes = Readonly<Record<string, PackageSize>>

/** What may differ before it is worth a change: builds for other machines are not the same to the byte. */
const TOLERANCE = { part: 0.05, bytes: 512, packages: 1 } as const

/** Measures the packages that are installed in `fresh`. */
export async function measureSizes(fresh: FreshFolders): Promise<PackageSizes> {
  const sizes: [string, PackageSize][] = []
  for (const [name, { path, tarball, manifest }] of fresh.folders) {
    const doors: [string, number][] = []
    for (const door of doorsOf(manifest).keys()) {
      doors.push([door, (await bundleDoor(door, path)).gzipBytes])
    }
    const { others, bytes } = installedWith(name, path)
    sizes.push([
      name,
      {
        packedBytes: statSync(tarball).size,
        otherPackages: others.length,
        installedBytes: bytes,
        doors: Object.fromEntries(doors),
      },
    ])
  }
  return Object.fromEntries(sizes.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** What is no longer as it was noted, in words. */
export function sizeChanges(noted: PackageSizes, now: PackageSizes): readonly string[] {
  const names = [...new Set([...Object.keys(noted), ...Object.keys(now)])].toSorted()
  return names.flatMap((name) => {
    const [before, after] = [noted[name], now[name]]
    if (before === undefined) return [`${name} is not noted`]
    if (after === undefined) return [`${name} is noted, and there is no such package`]
    return changesOf(name, before, after)
  })
}

function changesOf(name: string, before: PackageSize, after: PackageSize): readonly string[] {
  const doors = new Set([...Object.keys(before.doors), ...Object.keys(after.doors)])
  const { bytes, packages } = TOLERANCE
  return [
    [`${name}: packed bytes`, before.packedBytes, after.packedBytes, bytes] as const,
    [`${name}: packages`, before.otherPackages, after.otherPackages, packages] as const,
    [`${name}: installed bytes`, before.installedBytes, after.installedBytes, bytes] as const,
    ...[...doors].map(
      (door) => [`${door}: bytes`, before.doors[door] ?? 0, after.doors[door] ?? 0, bytes] as const,
    ),
  ].flatMap(([what, was, is, floor]) =>
    Math.abs(is - was) <= Math.max(was * TOLERANCE.part, floor)
      ? []
      : [`${what} were ${was}, are ${is}`],
  )
}
