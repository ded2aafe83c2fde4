/** Starts the longest test files first, so that no worker is left alone with one at the end. */
import { relative } from 'node:path'

import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { readDurations, type TestDurations } from './test-durations.ts'

/** A file of a project. */
interface OrderedFile {
  readonly moduleId: string
  readonly project: { readonly name: string }
}

/** Orders the projects by their longest file, and the files of each project by their duration. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ordered = await super.sort(files) // oxlint-disable-line unicorn/no-array-sort -- the sorting of vitest, which returns a new list
    return orderByDuration(ordered, { durations: readDurations(), root: this.ctx.config.root })
  }
}

/**
 * Returns the files of each project with the longest first, the project with the longest file first; files without a
 * duration follow in their order. The files of a project stay together, because a worker that starts a file of another
 * project loads all modules again.
 */
export function orderByDuration<File extends OrderedFile>(
  files: readonly File[],
  { durations, root }: { readonly durations: TestDurations; readonly root: string },
): File[] {
  const secondsOf = ({ moduleId, project }: File): number =>
    durations[project.name]?.[relative(root, moduleId)] ?? 0
  const longestOf = (group: readonly File[]): number => Math.max(...group.map(secondsOf))
  return [...Map.groupBy(files, ({ project }) => project.name).values()]
    .map((group) => group.toSorted((a, b) => secondsOf(b) - secondsOf(a)))
    .toSorted((a, b) => longestOf(b) - longestOf(a))
    .flat()
}
