/** Starts the server, builds the page, and serves it with the API of the server at the same address. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { build, defaultClientConditions, preview } from 'vite'

import { startServer } from './start-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'tutti-example-'))
const outDir = join(folder, 'page')
const server = await startServer(join(folder, 'runs'))
const settings = { configFile: false, root: import.meta.dirname, logLevel: 'warn' } as const

await build({
  ...settings,
  build: { outDir, emptyOutDir: true, target: 'es2023', chunkSizeWarningLimit: 1_000 },
  // The conditions of this process: `--conditions=@tutti/source` in the repository of Tutti.
  resolve: { conditions: [...listConditions(process.execArgv), ...defaultClientConditions] },
})
const proxy = { target: server.url, ws: true }
const page = await preview({
  ...settings,
  build: { outDir },
  preview: { port: 0, host: '127.0.0.1', proxy: { '/api': proxy, '/ws': proxy } },
})
const [url] = page.resolvedUrls?.local ?? []
console.log(`The page is on ${url}`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())

async function stop(): Promise<void> {
  await server.stop()
  await page.close()
  rmSync(folder, { recursive: true })
}

function listConditions(args: readonly string[]): readonly string[] {
  return args.flatMap((arg) => /^--conditions=(.+)/.exec(arg)?.[1] ?? [])
}
