/** Starts the longest test files first, so that no worker is left alone with one at the end. */
import { relative } from 'node:path'

import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { readDurations, type TestDurations } from './test-durations.ts'

/** A file of a project. */
interface OrderedFile {
  readonly moduleId: string
  readonly project: { readonly name: string }
}

/** Orders the files of each project by their duration, and keeps the order of the projects. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ordered = await super.sort(files) // oxlint-disable-line unicorn/no-array-sort -- the sorting of vitest, which returns a new list
    return orderByDuration(ordered, { durations: readDurations(), root: this.ctx.config.root })
  }
}

/**
 * Returns the files of each project with the longest first; files without a duration follow in their order. The files of
 * a project stay together, because a worker that starts a file of another project loads all modules again.
 */
export function orderByDuration<File extends OrderedFile>(
  files: readonly File[],
  { durations, root }: { readonly durations: TestDurations; readonly root: string },
): File[] {
  const names = [...new Set(files.map(({ project }) => project.name))]
  const secondsOf = ({ moduleId, project }: File): number =>
    durations[project.name]?.[relative(root, moduleId)] ?? 0
  return names.flatMap((name) =>
    files
      .filter(({ project }) => project.name === name)
      .toSorted((a, b) => secondsOf(b) - secondsOf(a)),
  )
}
