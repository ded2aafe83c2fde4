import { expect, it } from 'vitest'

import { launchBrowser } from '../../../tooling/browser/launch-browser.ts'
import { openServer } from './open-server.ts'

it('The page at /docs shows every route in a browser, and requests only its own server', async () => {
  await using api = await openServer()
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    const asked: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    await page.goto(`${api.url}/docs`, { waitUntil: 'networkidle' })
    await page.getByText('Submit a run of an ensemble').first().waitFor()
    await page.getByText('Steering').first().waitFor()
    const others = asked.filter((url) => !url.startsWith(`${api.url}/`) && !url.startsWith('data:'))
    expect(others).toEqual([])
    expect(asked).toContain(`${api.url}/openapi.json`)
    // The browser reports violations of the policy on the console.
    expect(complaints).toEqual([])
  } finally {
    await browser.close()
  }
}, 60_000)
