import type { RunPriority } from '@tutti/protocol/internal'

/** Limits for the number, the cost and the priority of one actor's runs. */
export interface Quota {
  readonly actor: string
  /** Maximum number of unended runs, including this one. Runs that wait for a person are counted. */
  readonly maxUnfinishedRuns?: number
  /** Highest priority of its runs. @default 'high' */
  readonly maxPriority?: RunPriority
  /** Maximum cost of the runs submitted since an instant, in US dollars. An unknown cost counts as 0. */
  readonly spend?: { readonly maxCostUsd: number; readonly since: number }
}
