/** Measures the size of each public package for its users. */
import { statSync } from 'node:fs'

import { bundleEntryPoint } from './bundle-entry-point.ts'
import type { FreshFolders } from './fresh-folders.ts'
import { installedWith } from './installed.ts'
import { codeEntryPoints } from './tarball.ts'

export interface PackageSize {
  /** Download size of the package itself. */
  readonly packedBytes: number
  /** Number of third-party packages that an install adds. */
  readonly otherPackages: number
  /** Size of all files of an install, ours and third-party. */
  readonly installedBytes: number
  /** Size of each entry point as part of an application, minified and compressed. */
  readonly entryPoints: Readonly<Record<string, number>>
}

/** Sizes of all public packages by name. */
export type PackageSizes = Readonly<Record<string, PackageSize>>

/** Tolerated difference: builds on other machines are not identical to the byte. */
const TOLERANCE = { part: 0.05, bytes: 512, packages: 1 } as const

/** Measures the packages that are installed in `fresh`. */
export async function measureSizes(fresh: FreshFolders): Promise<PackageSizes> {
  const sizes: [string, PackageSize][] = []
  for (const [name, { path, tarball, manifest }] of fresh.folders) {
    const entryPoints: [string, number][] = []
    for (const entryPoint of codeEntryPoints(manifest).keys()) {
      entryPoints.push([entryPoint, (await bundleEntryPoint(entryPoint, path)).gzipBytes])
    }
    const { others, bytes } = installedWith(name, path)
    sizes.push([
      name,
      {
        packedBytes: statSync(tarball).size,
        otherPackages: others.length,
        installedBytes: bytes,
        entryPoints: Object.fromEntries(entryPoints),
      },
    ])
  }
  return Object.fromEntries(sizes.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Returns a message for each size that differs from the recorded one. */
export function sizeChanges(noted: PackageSizes, now: PackageSizes): readonly string[] {
  const names = [...new Set([...Object.keys(noted), ...Object.keys(now)])].toSorted()
  return names.flatMap((name) => {
    const [before, after] = [noted[name], now[name]]
    if (before === undefined) return [`${name} has no recorded size`]
    if (after === undefined) return [`${name} has a recorded size, but does not exist`]
    return changesOf(name, before, after)
  })
}

function changesOf(name: string, before: PackageSize, after: PackageSize): readonly string[] {
  const entryPoints = new Set([
    ...Object.keys(before.entryPoints),
    ...Object.keys(after.entryPoints),
  ])
  const { bytes, packages } = TOLERANCE
  return [
    [`${name}: packed bytes`, before.packedBytes, after.packedBytes, bytes] as const,
    [`${name}: packages`, before.otherPackages, after.otherPackages, packages] as const,
    [`${name}: installed bytes`, before.installedBytes, after.installedBytes, bytes] as const,
    ...[...entryPoints].map(
      (entryPoint) =>
        [
          `${entryPoint}: bytes`,
          before.entryPoints[entryPoint] ?? 0,
          after.entryPoints[entryPoint] ?? 0,
          bytes,
        ] as const,
    ),
  ].flatMap(([what, was, is, floor]) =>
    Math.abs(is - was) <= Math.max(was * TOLERANCE.part, floor)
      ? []
      : [`${what} were ${was}, are ${is}`],
  )
}
