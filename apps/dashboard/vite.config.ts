import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

import { thirdPartyLicenses } from '../../tooling/build/third-party-licenses.ts'

/** Address of the server during development. */
const SERVER = 'http://127.0.0.1:7329'

export default defineConfig({
  // Relative URLs, because the page may be served below any path.
  base: './',
  plugins: [react(), thirdPartyLicenses()],
  resolve: { conditions: ['@tutti/source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'es2023',
    // The polyfill is an inline script, which the content policy forbids.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: true,
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
