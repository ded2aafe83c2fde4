/** The dashboard in a browser: its policy allows what it needs, and nothing else. */
import { apiKey } from '@tutti/control-api'
import { describe, expect, it } from 'vitest'

import { launchBrowser } from '../../../tooling/browser/launch-browser.ts'
import { dashboardFolder, PAGE } from './dashboard-folder.ts'
import { openServer, type TestServer } from './open-server.ts'

import type { Page } from 'playwright-core'

const KEY = 'a-key-of-some-length'
const LIMIT_MS = 60_000

describe('the page in a browser', { timeout: LIMIT_MS }, () => {
  it('The page in a browser loads and connects to its server over HTTP and WebSocket, without a violation of its policy', async () => {
    await inBrowser(PAGE, async ({ page, api, complaints }) => {
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).pathname))
      await page.goto(`${api.url}/#${KEY}`)
      await page.getByText('violin, READY, hello').waitFor()
      const color = await page.evaluate(`getComputedStyle(document.querySelector('h1')).color`)
      expect(color).toBe('rgb(1, 2, 3)')
      expect(asked).toEqual(expect.arrayContaining(['/assets/plex-H9i0j1k2.woff2', '/api/tickets']))
      // The cached page also has its policy.
      await page.reload()
      await page.getByText('violin, READY, hello').waitFor()
      expect(await readViolations(page)).toEqual([])
      expect(complaints).toEqual([])
    })
  })

  it('The page in a browser runs no inline or foreign script, and connects to no other server', async () => {
    await using other = await openServer()
    const html = PAGE.replace('<h1>', '<script>globalThis.ran = true</script><h1>')
    await inBrowser(html, async ({ page, api }) => {
      await page.goto(`${api.url}/#${KEY}`)
      await page.getByText('violin, READY, hello').waitFor()
      await page.evaluate(attempts(other.url))
      const reached = await page.evaluate(
        `fetch('${other.url}/api/status', { mode: 'no-cors' }).then(() => 'reached', () => 'refused')`,
      )
      expect(reached).toBe('refused')
      expect(await page.evaluate('[globalThis.ran, globalThis.refused]')).toEqual([
        undefined,
        'script, HTML',
      ])
      const expected = ['script-src-elem', 'connect-src', 'img-src', 'style-src-attr']
      await expect.poll(() => readViolations(page)).toEqual(expect.arrayContaining(expected))
    })
  })
})

/** Attempts of injected content that the policy must block. */
function attempts(other: string): string {
  return `{
    const script = document.createElement('script')
    try { script.text = 'globalThis.ran = true' } catch { globalThis.refused = 'script' }
    document.head.append(script)
    try { document.body.innerHTML = '<img src=x onerror="globalThis.ran = true">' }
    catch { globalThis.refused += ', HTML' }
    const image = new Image()
    image.setAttribute('src', '${other}/favicon.svg')
    document.body.append(image)
    document.body.setAttribute('style', 'color: red')
  }`
}

interface Visit {
  readonly page: Page
  readonly api: TestServer
  /** Collects console errors and exceptions of the page. */
  readonly complaints: readonly string[]
}

async function inBrowser(html: string, visit: (visit: Visit) => Promise<void>): Promise<void> {
  using folder = dashboardFolder()
  folder.write('index.html', html)
  await using api = await openServer({
    dashboard: folder.path,
    apiKeys: [apiKey(KEY, { name: 'anna' })],
  })
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    await page.addInitScript(`globalThis.breaches = []
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        globalThis.breaches.push(effectiveDirective)
      })`)
    await visit({ page, api, complaints })
  } finally {
    await browser.close()
  }
}

/** Returns the policy directives that the page has violated since it was loaded. */
function readViolations(page: Page): Promise<unknown> {
  return page.evaluate('globalThis.breaches')
}
