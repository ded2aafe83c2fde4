/**
 * Runs the components of the pages in a browser: ```tsx run=page is a module with one exported component. After
 * a click on its button, its paragraphs must be the lines of the following ```text, and the answer.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build, preview } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser } from '../browser/launch-browser.ts'
import { readPages, type Page } from './pages.ts'
import { SHOWN, startSampleServer, type SampleServer } from './sample-server.ts'

import type { Browser } from 'playwright-core'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const components = findComponents(readPages(ROOT))

// The folder is next to docs/package.json, whose dependencies the code imports.
const folder = mkdtempSync(join(ROOT, 'docs', '.snippets-'))

let server: SampleServer
let browser: Browser

beforeAll(async () => {
  server = await startSampleServer(folder)
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  rmSync(folder, { recursive: true })
})

it('The page components are on the pages', () => {
  expect(components.map(({ name }) => name)).toEqual(['Chat', 'Ask', 'Briefing'])
})

describe.each(components)('$page', ({ name, code, printed }) => {
  it(`The page shows ${name} in a browser`, async () => {
    const root = join(folder, name)
    const settings = { configFile: false, root, logLevel: 'error' } as const
    const outDir = join(root, 'page')
    mkdirSync(outDir, { recursive: true })
    writeFileSync(join(root, 'component.tsx'), code.replaceAll(SHOWN, server.url))
    writeFileSync(join(root, 'main.tsx'), toMain(name))
    writeFileSync(join(root, 'index.html'), HTML)
    // The directives of modules for servers have no effect here.
    const rolldownOptions = { onwarn: () => undefined }
    await build({ ...settings, build: { outDir, target: 'es2023', rolldownOptions } })
    const host = '127.0.0.1'
    const served = await preview({ ...settings, build: { outDir }, preview: { port: 0, host } })
    const page = await browser.newPage()
    try {
      const complaints: string[] = []
      page.on('pageerror', ({ message }) => complaints.push(message))
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      await page.goto(served.resolvedUrls?.local[0] ?? '')
      await page.getByRole('button').click()
      const shown = () => page.locator('main p').allInnerTexts()
      await expect.poll(shown).toEqual(expect.arrayContaining(printed))
      expect((await shown()).length).toBeGreaterThan(printed.length)
      expect(complaints).toEqual([])
    } finally {
      await page.close()
      await served.close()
    }
  })
})

const HTML = '<!doctype html><main></main><script type="module" src="./main.tsx"></script>'

function toMain(name: string): string {
  return [
    `import { createRoot } from 'react-dom/client'`,
    `import { ${name} } from './component.tsx'`,
    `createRoot(document.querySelector('main')!).render(<${name} />)`,
  ].join('\n')
}

/** Returns the components of the pages, with what they must show. */
function findComponents(pages: readonly Page[]) {
  return pages.flatMap(({ path: page, blocks }) =>
    blocks.flatMap(({ language, meta, code }, at) => {
      if (language !== 'tsx' || meta !== 'run=page') return []
      const [, name = ''] = /^export function (\w+)/m.exec(code) ?? []
      return [{ page, name, code, printed: (blocks[at + 1]?.code ?? '').trim().split('\n') }]
    }),
  )
}
