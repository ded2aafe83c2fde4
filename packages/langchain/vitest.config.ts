import { defineConfig } from 'vitest/config'

const conditions = ['@tutti/source', 'module', 'node', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: ['src/**/*.test.ts', 'test/**/*.test.ts'] },
})
