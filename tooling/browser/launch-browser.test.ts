import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, describe, expect, it, vi } from 'vitest'

import { launchBrowser } from './launch-browser.ts'
import { unpackChromium } from './unpack-chromium.ts'

import type { AddressInfo } from 'node:net'

const PAGE = `<!doctype html><title>Stage</title><p></p>
<script type="module">
  const answer = await (await fetch('/data')).json()
  document.querySelector('p').textContent = answer.instruments.join(', ')
</script>`

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('a browser', { timeout: 60_000 }, () => {
  it('[BROWSER-B2] A browser opens a page of a loopback server, which runs script and fetches', async () => {
    const server = await stage()
    const browser = await launchBrowser()
    try {
      const page = await browser.newPage()
      await page.goto(urlOf(server))
      await page.getByText('violin, tuba').waitFor()
      expect(await page.title()).toBe('Stage')
      expect(await page.evaluate(() => 6 * 7)).toBe(42)
      expect((await page.screenshot()).subarray(1, 4).toString()).toBe('PNG')
    } finally {
      await browser.close()
      server.close()
    }
  })

  it('[BROWSER-B1][BROWSER-B3] A browser that TUTTI_TEST_BROWSER names is the only one tried, and the error names it', async () => {
    vi.stubEnv('TUTTI_TEST_BROWSER', '/no/such/browser')
    const failed = launchBrowser()
    await expect(failed).rejects.toThrow(/No browser starts.*TUTTI_TEST_BROWSER.*\n.*\/no\/such/s)
    await expect(failed).rejects.not.toThrow('@sparticuz/chromium')
  })

  it.runIf(process.platform === 'linux' && process.arch === 'x64')(
    '[BROWSER-B4] A browser is unpacked once for all that ask at the same time, and starts from there',
    async () => {
      const parent = mkdtempSync(join(tmpdir(), 'tutti-browser-test-'))
      try {
        const programs = await Promise.all([unpackChromium(parent), unpackChromium(parent)])
        expect(programs[0]).toEqual(programs[1])
        expect(readdirSync(parent)).toHaveLength(1)
        const { executablePath, env } = programs[0]
        expect(executablePath.startsWith(parent)).toBe(true)
        expect(env['LD_LIBRARY_PATH']).toContain(parent)
        vi.stubEnv('TUTTI_TEST_BROWSER', executablePath)
        for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
        const browser = await launchBrowser()
        expect(browser.version()).toMatch(/^\d+\./)
        await browser.close()
      } finally {
        rmSync(parent, { recursive: true })
      }
    },
  )
})

async function stage(): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/data') {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ instruments: ['violin', 'tuba'] }))
    } else {
      response.setHeader('content-type', 'text/html')
      response.end(PAGE)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

function urlOf(server: Server): string {
  // NOTE: a listening server has an address of this shape.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
