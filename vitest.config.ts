import { availableParallelism } from 'node:os'

import { defineConfig } from 'vitest/config'

import { LongFirst } from './tooling/tasks/long-first.ts'

/**
 * Resolves packages to their sources by the export condition that every package has. `import` and `require` are left to
 * the importer, because CommonJS must not get ESM.
 */
const conditions = ['@tutti/source', 'node']

/** Resolves packages to their published form. */
const BUILT_CONDITIONS = ['node']

/** Limits that only stop hanging tests: many times what the slowest test takes, because CI machines are slow and busy. */
const LIMITS = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
  /** The summary names each test that passed only when it was repeated, so that its cause is found and removed. */
  retry: 1,
}

/** Two workers more than cores: tests wait for timers, processes, browsers and databases. */
const WORKERS = availableParallelism() + 2

/** Tests of pure functions: their files share a process, so that they start quickly. */
const PURE = [
  'apps/dashboard/src/**/*.test.ts',
  'packages/{protocol,pipeline,core,agent-call,ensemble,client,react,agent-tool,gateway,compat-*,control-api,testing,telemetry}/src/**/*.test.ts',
]

/** Tests that open and close servers; their files share another process. */
const SHARED = [
  'packages/{gateway,compat-*,control-api,ensemble,pipeline,client,react,agent-tool}/test/**/*.test.ts',
]

/**
 * Tests that use files, the network, databases, browsers and processes; their files share a process too. `disk-faults`
 * limits the file size of its process: libraries that other files load replace the signal handling that survives this.
 */
const LIGHT = [
  'packages/{protocol,core,telemetry,net,remote-tools}/test/**/*.test.ts',
  'packages/{runs,builtin-tools,langchain,create-tutti}/{src,test}/**/!(disk-faults).test.ts',
  'packages/remote-tools/src/{http,mcp,openapi}/**/*.test.ts',
  'packages/mcp/src/**/*.test.ts',
  'packages/net/src/{http,ws}/**/*.test.ts',
  'apps/server/src/**/*.test.ts',
  'apps/dashboard/test/**/*.test.ts',
  'tooling/{bench,chaos,scale}/lib/**/*.test.ts',
  'tooling/reference/**/*.test.ts',
  'tooling/checks/{images,kubernetes,language-rules,versions,workflows}.test.ts',
]

/**
 * Tests of the built packages. Those of HTTP, WebSocket and security run on sources as well: a bundler can change what
 * the sources do. They import packages by name only.
 */
const BUILT_ONLY = ['tooling/checks/built-packages.test.ts']
const BUILT = [
  ...BUILT_ONLY,
  'packages/control-api/test/{errors,event-stream,guard,requests,security-*,sockets,tickets,tools}.test.ts',
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
        // What it extended would bring the condition of the sources.
        extends: false,
        resolve: { conditions: BUILT_CONDITIONS },
        ssr: { resolve: { conditions: BUILT_CONDITIONS, externalConditions: BUILT_CONDITIONS } },
        // Projects that run together need the same number of workers.
        test: { ...LIMITS, name: 'built', include: BUILT, isolate: false, maxWorkers: WORKERS },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['{packages,apps}/*/{src,test}/**/*.test.ts', 'tooling/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...PURE, ...SHARED, ...LIGHT, ...BUILT_ONLY, ...SHIPPED],
        },
      },
    ],
    maxWorkers: WORKERS,
    sequence: { sequencer: LongFirst },
    ...LIMITS,
    reporters: ['default', './tooling/tasks/plain-summary.ts'],
  },
})
