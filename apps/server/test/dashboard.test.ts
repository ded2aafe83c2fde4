/** Tests the dashboard of the built program, in HTTP clients and in a real browser. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { launchBrowser } from '../../../tooling/browser/launch-browser.ts'
import { ServerProcess, temporaryDirectory } from './server-process.ts'

const BUILT = fileURLToPath(new URL('../dist/dashboard/', import.meta.url))
const WITHOUT = fileURLToPath(new URL('./fixtures/no-dashboard.config.ts', import.meta.url))
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const KEY = 'a-key-of-some-length'
describe('the built server', () => {
  it('The built server serves the built page and its files to browsers', async () => {
    using data = temporaryDirectory()
    await using server = await withDashboard(data.path)
    const page = await fetch(server.url, { headers: BROWSER })
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self';")
    expect(await page.text()).toBe(readFileSync(`${BUILT}index.html`, 'utf8'))
    const names = readdirSync(`${BUILT}assets`).map((name) => `assets/${name}`)
    expect(names).toContainEqual(expect.stringMatching(/\.js$/))
    for (const name of [...names, 'THIRD_PARTY_LICENSES.txt']) {
      const file = await fetch(`${server.url}/${name}`)
      expect([name, file.status]).toEqual([name, 200])
      const bytes = Buffer.from(await file.arrayBuffer())
      expect([name, bytes.equals(readFileSync(`${BUILT}${name}`))]).toEqual([name, true])
    }
    const text = await (await fetch(server.url)).text()
    expect(text).toContain(`curl -X POST ${server.url}/api/runs`)
    expect(server.errors).toMatch(/^\{[^\n]*"message":"Old ended runs are deleted"[^\n]*\}\n$/)
  })

  it('The built server serves the page without a key, and the text only with a key, when keys are set', async () => {
    using data = temporaryDirectory()
    await using server = await withDashboard(data.path, { TUTTI_API_KEYS: KEY })
    expect((await fetch(server.url, { headers: BROWSER })).status).toBe(200)
    expect((await fetch(server.url)).status).toBe(401)
    const keyed = await fetch(server.url, { headers: { authorization: `Bearer ${KEY}` } })
    expect([keyed.status, keyed.headers.get('content-type')]).toEqual([
      200,
      'text/plain; charset=utf-8',
    ])
  })

  it('The built server shows the page in a browser without violating its content security policy', async () => {
    using data = temporaryDirectory()
    await using server = await withDashboard(data.path)
    const browser = await launchBrowser()
    try {
      const page = await browser.newPage()
      const asked: string[] = []
      const complaints: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).origin))
      page.on('pageerror', ({ message }) => complaints.push(message))
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      await page.goto(server.url)
      await page.locator('#root > *').first().waitFor()
      expect(await page.title()).toContain('Tutti')
      expect([...new Set(asked)]).toEqual([server.url])
      // The browser reports violations of the policy on the console.
      expect(complaints).toEqual([])
    } finally {
      await browser.close()
    }
  })
})

describe('a config with dashboard: false', () => {
  it('A server with `dashboard: false` serves the text to browsers, too, without a warning', async () => {
    using data = temporaryDirectory()
    await using server = await ServerProcess.start({
      TUTTI_DATA_DIR: data.path,
      TUTTI_CONFIG: WITHOUT,
    })
    const answer = await fetch(server.url, { headers: BROWSER })
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect((await fetch(`${server.url}/favicon.svg`)).status).toBe(404)
    expect(server.errors).toMatch(/^\{[^\n]*"message":"Old ended runs are deleted"[^\n]*\}\n$/)
  })
})

/** @throws {Error} when the build has no dashboard. */
function withDashboard(
  path: string,
  environment: Record<string, string> = {},
): Promise<ServerProcess> {
  if (existsSync(`${BUILT}index.html`)) {
    return ServerProcess.start({ TUTTI_DATA_DIR: path, ...environment })
  }
  throw new Error(`${BUILT} has no dashboard: run "npm run build"`)
}
