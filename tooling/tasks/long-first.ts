/** Starts the longest test files first, so that no worker is left alone with one at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that start many processes or wait for leases to expire; vitest orders files by size. */
const LONG = [
  'tooling/chaos/chaos.test.ts',
  'tooling/checks/readme.test.ts',
  'tooling/checks/examples.test.ts',
  'tooling/checks/create-tutti.test.ts',
  'tooling/docs/tutorial.test.ts',
  'apps/server/test/client-readme.test.ts',
]

/** Orders the other files as vitest does. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.some((path) => moduleId.endsWith(path))
    const [long, others] = [files.filter(isLong), files.filter((file) => !isLong(file))]
    return [...long, ...(await super.sort(others))] // oxlint-disable-line unicorn/no-array-sort -- the sorting of vitest, which returns a new list
  }
}
