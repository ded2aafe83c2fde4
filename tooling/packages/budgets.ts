/**
 * Reads the size limits of packages from `budgets.json`. A limit is the size at the time of writing plus a
 * quarter. Raising one is a visible change.
 */
import type { PackageSizes } from './sizes.ts'

/** Limits of one package. */
export interface Budget {
  readonly packedKiB: number
  readonly otherPackages: number
  readonly installedMiB: number
  /** Size of the largest entry point, minified and compressed. */
  readonly entryPointKiB: number
}

/** Limits by package name; a package without limits is an error. */
export type Budgets = Readonly<Record<string, Budget>>

/** Returns a message for every budget that is exceeded or missing. */
export function overBudget(sizes: PackageSizes, budgets: Budgets): readonly string[] {
  return Object.entries(sizes).flatMap(([name, size]) => {
    const budget = budgets[name]
    if (budget === undefined) return [`${name} has no budget`]
    const used: Budget = {
      packedKiB: size.packedBytes / 1024,
      otherPackages: size.otherPackages,
      installedMiB: size.installedBytes / 1024 ** 2,
      entryPointKiB: Math.max(0, ...Object.values(size.entryPoints)) / 1024,
    }
    return KEYS.filter((key) => used[key] > budget[key]).map(
      (key) => `${name}: ${key} is ${used[key].toFixed(1)}, its budget ${budget[key]}`,
    )
  })
}

const KEYS = ['packedKiB', 'otherPackages', 'installedMiB', 'entryPointKiB'] as const
