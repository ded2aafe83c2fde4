/** Starts the page on its own address, builds it, and starts the server. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { build, defaultClientConditions } from 'vite'

import { serveFolder } from './serve-folder.ts'
import { startServer } from './start-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'tutti-example-'))
const outDir = join(folder, 'page')
const page = await serveFolder(outDir)
// Cross-origin for a browser, which resolves every name below `localhost` to this machine.
const origin = `http://app.localhost:${page.port}`
const server = await startServer(join(folder, 'runs'), origin)

await build({
  configFile: false,
  root: import.meta.dirname,
  logLevel: 'warn',
  define: { SERVER_URL: JSON.stringify(server.url) },
  build: { outDir, emptyOutDir: true, target: 'es2023' },
  // The conditions of this process: `--conditions=@tutti/source` in the repository of Tutti.
  resolve: { conditions: [...listConditions(process.execArgv), ...defaultClientConditions] },
})
console.log(`The page is on ${origin}, its server on ${server.url}`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())

async function stop(): Promise<void> {
  await server.stop()
  await page.close()
  rmSync(folder, { recursive: true })
}

function listConditions(args: readonly string[]): readonly string[] {
  return args.flatMap((arg) => /^--conditions=(.+)/.exec(arg)?.[1] ?? [])
}
