import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

import { thirdPartyLicenses } from '../../tooling/build/third-party-licenses.ts'

/** Where a server runs while the page is worked on. */
const SERVER = 'http://127.0.0.1:7329'

export default defineConfig({
  // The page may be served below any path.
  base: './',
  plugins: [react(), thirdPartyLicenses()],
  resolve: { conditions: ['@tutti/source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'es2023',
    // A script that is put into the page would need a policy that allows it.
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
