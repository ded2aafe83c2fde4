import { defineConfig } from 'vitest/config'

/** Tests run on sources: the export condition that every package has leads there. */
const conditions = ['@tutti/source', 'node', 'import', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['{packages,apps}/*/{src,test}/**/*.test.ts', 'tooling/**/*.test.ts'],
    testTimeout: 20_000,
    reporters: ['default', './tooling/tasks/plain-summary.ts'],
  },
})
