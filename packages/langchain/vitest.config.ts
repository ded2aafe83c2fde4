import { defineConfig } from 'vitest/config'

const conditions = ['@tutti/source', 'module', 'node', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Some tests start a Node of their own, which takes seconds on a machine under load.
    testTimeout: 30_000,
  },
})
