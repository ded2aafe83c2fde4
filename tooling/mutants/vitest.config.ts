/** Configures the tests that decide about mutants. They are not repeated, and the first failure ends a run. */
import { defineConfig } from 'vitest/config'

import shared from '../../vitest.config.ts'

const { projects: _, sequence: _order, reporters: _reporters, ...test } = shared.test ?? {}

/** Folders of packages whose tests decide, separated by commas. @default all packages */
const FOLDERS = process.env['TUTTI_MUTANTS_TESTS'] ?? 'packages/*'

export default defineConfig({
  ...shared,
  test: {
    ...test,
    include: FOLDERS.split(',').map((folder) => `${folder}/{src,test}/**/*.test.ts`),
    retry: 0,
    reporters: [],
  },
})
