/**
 * What a package may cost, by `budgets.json`. A figure there is what it was when it was written, and a quarter more;
 * who needs more raises it, where a reader of the change sees it.
 */
import type { PackageSizes } from './sizes.ts'

/** The limits of one package. */
export interface Budget {
  readonly packedKiB: number
  readonly otherPackages: number
  readonly installedMiB: number
  /** Of its largest door, minified and compressed. */
  readonly doorKiB: number
}

/** By name; a package without a budget is a fault. */
export type Budgets = Readonly<Record<string, Budget>>

/** Every budget that is exceeded or missing, in words. */
export function overBudget(sizes: PackageSizes, budgets: Budgets): readonly string[] {
  return Object.entries(sizes).flatMap(([name, size]) => {
    const budget = budgets[name]
    if (budget === undefined) return [`${name} has no budget`]
    const used: Budget = {
      packedKiB: size.packedBytes / 1024,
      otherPackages: size.otherPackages,
      installedMiB: size.installedBytes / 1024 ** 2,
      doorKiB: Math.max(0, ...Object.values(size.doors)) / 1024,
    }
    return KEYS.filter((key) => used[key] > budget[key]).map(
      (key) => `${name}: ${key} is ${used[key].toFixed(1)}, its budget ${budget[key]}`,
    )
  })
}

const KEYS = ['packedKiB', 'otherPackages', 'installedMiB', 'doorKiB'] as const
