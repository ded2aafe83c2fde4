import { defineConfig } from 'vitest/config'

/**
 * Tests run on sources: the export condition that every package has leads there. `import` and `require` are
 * left to whoever resolves: CommonJS must not be given ESM.
 */
const conditions = ['@tutti/source', 'node']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['{packages,apps}/*/{src,test}/**/*.test.ts', 'tooling/**/*.test.ts'],
    // Limits for what hangs, and no measure of anything: machines of CI are slow and do much at a time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', './tooling/tasks/plain-summary.ts'],
  },
})
