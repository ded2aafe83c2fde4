import react from '@vitejs/plugin-react'
import { createLogger, defineConfig, type Logger, type Plugin } from 'vite'

import { thirdPartyLicenses } from '../../tooling/build/third-party-licenses.ts'

/** Chunk that the first script imports. */
const APP = 'start'

/** Matches the modules of the first script, which must not wait for the others. */
const FIRST = /early-request|stored-key|preload-helper/

/** Matches the modules of forms, which only pages and dialogs with forms need. */
const FORMS = /\/src\/(?:ui\/schema-form|api\/request-dialog|ui\/layout\/form-dialog)/

/**
 * Links the files of the chunk that the first script imports, so that they load together with it. Vite links only those
 * that are imported statically.
 */
function linkApp(): Plugin {
  return {
    name: 'link-app',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) => {
        const chunks = Object.values(bundle).filter((output) => output.type === 'chunk')
        const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
        const found = new Set(chunks.filter(({ name }) => name === APP))
        for (const { imports } of found) {
          for (const file of imports) {
            const chunk = byFile.get(file)
            if (chunk !== undefined && !chunk.isEntry) found.add(chunk)
          }
        }
        return [...found].map(({ fileName }) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${fileName}` },
          injectTo: 'head',
        }))
      },
    },
  }
}

/**
 * Returns a logger without the warning that a PostCSS plugin does not pass `from`: the only plugin is Vite's own for CSS
 * modules.
 */
function createQuietLogger(): Logger {
  const logger = createLogger('warn')
  const { warnOnce } = logger
  logger.warnOnce = (message, options) => {
    if (!message.includes('did not pass the `from` option')) warnOnce(message, options)
  }
  return logger
}

/** Address of the server during development. */
const SERVER = 'http://127.0.0.1:7329'

export default defineConfig({
  // Relative URLs, because the page may be served below any path.
  base: './',
  customLogger: createQuietLogger(),
  plugins: [react(), linkApp(), thirdPartyLicenses()],
  resolve: { conditions: ['@tutti/source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'es2023',
    // The polyfill is an inline script, which the content policy forbids.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // Few files: each costs a request, and a browser sends six at a time.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', test: FIRST, priority: 2 },
            {
              name: 'common',
              test: (id: string) => !FORMS.test(id),
              minShareCount: 2,
              priority: 1,
            },
            { name: 'forms', test: FORMS, includeDependenciesRecursively: false },
          ],
        },
      },
    },
    reportCompressedSize: false,
  },
  server: {
    proxy: {
      '/api': SERVER,
      '/ws': { target: SERVER, ws: true },
      '/openapi.json': SERVER,
      '/docs': SERVER,
    },
  },
})
