import { defineConfig } from 'vitest/config'

import { LongFirst } from './tooling/tasks/long-first.ts'

/**
 * Tests run on sources: the export condition that every package has leads there. `import` and `require` are
 * left to whoever resolves: CommonJS must not be given ESM.
 */
const conditions = ['@tutti/source', 'node']

/** Tests of functions that touch nothing outside: their files share a process, which starts them at once. */
const PURE = [
  'apps/dashboard/src/**/*.test.ts',
  'packages/{protocol,pipeline,core,ensemble,client,agent-tool,control-api,testing,telemetry}/src/**/*.test.ts',
]

/** Tests that open servers of their own and close them again: as above, apart from those that touch nothing. */
const SHARED = ['packages/{control-api,ensemble,pipeline,client,agent-tool}/test/**/*.test.ts']

/** Tests of packages that use files, the network, databases, browsers and processes, likewise. */
const LIGHT = [
  'packages/{protocol,core}/test/**/*.test.ts',
  'packages/runs/{src,test}/**/*.test.ts',
  'packages/remote-tools/src/{http,mcp,openapi}/**/*.test.ts',
  'packages/{builtin-tools,langchain}/{src,test}/**/*.test.ts',
  'apps/server/src/**/*.test.ts',
  'apps/dashboard/test/**/*.test.ts',
]

/** Tests that install and build for minutes; `npm run check -- ship` runs them. */
export const SHIPPED = ['tooling/checks/container.test.ts', 'tooling/checks/fresh-install.test.ts']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    projects: [
      { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
      { extends: true, test: { name: 'shared', include: SHARED, isolate: false } },
      { extends: true, test: { name: 'light', include: LIGHT, isolate: false } },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['{packages,apps}/*/{src,test}/**/*.test.ts', 'tooling/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...PURE, ...SHARED, ...LIGHT, ...SHIPPED],
        },
      },
    ],
    // By itself it leaves one core idle, which is half of a small machine.
    maxWorkers: '100%',
    sequence: { sequencer: LongFirst },
    // Limits for what hangs, and no measure of anything: machines of CI are slow and do much at a time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', './tooling/tasks/plain-summary.ts'],
  },
})
