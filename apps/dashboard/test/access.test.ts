import { apiKey } from '@tutti/control-api'
import { ensemble, task } from '@tutti/ensemble'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import {
  launchBrowser,
  openDashboard,
  visit,
  type ServedDashboard,
  type DashboardOptions,
} from './open-dashboard.ts'

import type { Browser, BrowserContext, Page } from 'playwright-core'

let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser.close()
})

const KEY = 'k-of-the-conductor'
const OTHER = 'k-of-the-deputy'
const BLIND = 'k-of-a-tool'
const READER = 'k-of-the-audience'

function serveWithKeys(options: Partial<DashboardOptions> = {}): Promise<ServedDashboard> {
  const hum = task({ name: 'hum', description: 'Hum' })
  return openDashboard({
    ensembles: [ensemble({ name: 'band', tasks: [hum], model: scriptedModel(() => 'Hm hm') })],
    key: KEY,
    apiKeys: [
      apiKey(KEY, { name: 'conductor', scopes: ['admin'] }),
      apiKey(BLIND, { name: 'tool', scopes: ['tools:invoke'] }),
      apiKey(READER, { name: 'audience', scopes: ['runs:read'] }),
    ],
    ...options,
  })
}

function screen(page: Page) {
  return {
    heading: page.getByRole('heading', { name: 'This server requires a key' }),
    field: page.getByLabel('Key'),
    button: page.getByRole('button', { name: 'Sign in' }),
    nav: page.getByRole('navigation', { name: 'Pages' }),
  }
}

async function enterKey(page: Page, key: string): Promise<void> {
  const { field, button } = screen(page)
  await field.fill(key)
  await button.click()
}

/** Drops complaints that the browser writes about failed responses and cut connections. */
function dropNetworkErrors(complaints: readonly string[]): readonly string[] {
  return complaints.filter(
    (text) => !/^Failed to load resource|^WebSocket connection to/.test(text),
  )
}

function readStorage(page: Page): Promise<unknown> {
  return page.evaluate(() => ({
    session: Object.values(sessionStorage),
    local: Object.values(localStorage),
    cookie: document.cookie,
  }))
}

/** Records every URL that the pages of a context request. */
function recordUrls(context: BrowserContext): readonly string[] {
  const addresses: string[] = []
  context.on('request', (request) => addresses.push(request.url()))
  context.on('page', (page) => {
    page.on('websocket', (socket) => addresses.push(socket.url()))
  })
  return addresses
}

describe('a server with keys', () => {
  it('A server with keys asks for a key, explains why others are rejected, and accepts the right one', async () => {
    await using stage = await serveWithKeys()
    await visit(browser, `${stage.url}#/tools`, {
      async use({ page, complaints, requests }) {
        const { heading, field, nav } = screen(page)
        await heading.waitFor()
        await expect.poll(() => field.evaluate((it) => it === document.activeElement)).toBe(true)
        expect(await field.getAttribute('type')).toBe('password')
        await page.getByText('TUTTI_API_KEYS').waitFor()

        for (const [key, words] of [
          ['', 'Enter a key'],
          ['wrong', 'The server rejected this key'],
          ['ключ', 'without spaces'],
          [BLIND, 'does not have the scope runs:read'],
        ] as const) {
          await enterKey(page, key)
          await page.getByText(words).waitFor()
          await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
          await expect.poll(() => field.evaluate((it) => it === document.activeElement)).toBe(true)
        }
        expect(await readStorage(page)).toEqual({ session: [], local: [], cookie: '' })

        await enterKey(page, `  ${KEY} `)
        await nav.waitFor()
        expect(new URL(page.url()).hash).toBe('#/tools')
        expect(await readStorage(page)).toEqual({ session: [KEY], local: [], cookie: '' })
        expect(requests.length).toBeGreaterThan(0)
        expect(dropNetworkErrors(complaints)).toEqual([])
      },
    })
  })

  it('A server with keys keeps the key for the tab, after a reload but not in a new tab', async () => {
    await using stage = await serveWithKeys()
    const context = await browser.newContext()
    const addresses = recordUrls(context)
    try {
      const page = await context.newPage()
      await page.goto(stage.url)
      await enterKey(page, KEY)
      await screen(page).nav.waitFor()
      await page.reload()
      await screen(page).nav.waitFor()
      expect(await screen(page).field.count()).toBe(0)

      const other = await context.newPage()
      await other.goto(stage.url)
      await screen(other).heading.waitFor()

      await page.getByRole('button', { name: 'Preferences' }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await screen(page).heading.waitFor()
      expect(await readStorage(page)).toEqual({ session: [], local: [], cookie: '' })
      await page.reload()
      await screen(page).heading.waitFor()

      expect(addresses.some((address) => address.startsWith('ws'))).toBe(true)
      expect(addresses.filter((address) => address.includes(KEY))).toEqual([])
    } finally {
      await context.close()
    }
  })

  it('A server with keys shows the signed-in key, and offers a read-only key no other actions', async () => {
    await using stage = await serveWithKeys()
    const { runId } = await stage.client.runs.run({})
    await visit(browser, stage.url, {
      async use({ page, complaints }) {
        await enterKey(page, READER)
        const { nav } = screen(page)
        await nav.getByRole('link', { name: 'Runs' }).waitFor()
        await expect.poll(() => page.getByRole('link', { name: 'New run' }).count()).toBe(0)
        await page.getByRole('button', { name: 'Preferences' }).click()
        await page.getByText('Signed in as audience').waitFor()
        await page.keyboard.press('Escape')
        await page.goto(`${stage.url}#/runs/${runId}?tab=details`)
        const remove = page.getByRole('button', { name: 'Delete run…' })
        await remove.waitFor()
        expect(await remove.isDisabled()).toBe(true)
        expect(await remove.getAttribute('title')).toBe(
          'Key "audience" does not have the scope runs:control',
        )
        expect(await page.getByRole('link', { name: 'Run again' }).count()).toBe(0)
        expect(dropNetworkErrors(complaints)).toEqual([])
      },
    })
  })

  it('A server with keys explains that a key has expired', async () => {
    const clock = fakeClock()
    await using stage = await serveWithKeys({
      clock,
      apiKeys: [
        apiKey(KEY, { name: 'conductor', scopes: ['admin'] }),
        apiKey(OTHER, { name: 'guest', scopes: ['admin'], expiresAt: clock.now() - 1 }),
      ],
    })
    await visit(browser, stage.url, {
      async use({ page }) {
        await enterKey(page, OTHER)
        await page.getByText('Key "guest" has expired').waitFor()
      },
    })
  })

  it('A server with keys sends no requests after a rejection', async () => {
    await using stage = await serveWithKeys()
    await visit(browser, stage.url, {
      async use({ page, requests }) {
        await screen(page).heading.waitFor()
        await page.waitForLoadState('networkidle')
        const before = requests.length
        await enterKey(page, 'wrong')
        await page.getByText('The server rejected this key').waitFor()
        await page.waitForLoadState('networkidle')
        expect(requests.slice(before)).toEqual(['GET /api/status'])
      },
    })
  })

  it('A server with keys asks again when the key has expired, and then returns to the same page', async () => {
    const clock = fakeClock()
    await using stage = await serveWithKeys({
      clock,
      key: OTHER,
      apiKeys: [
        apiKey(KEY, { name: 'guest', scopes: ['admin'], expiresAt: clock.now() + 60_000 }),
        apiKey(OTHER, { name: 'deputy', scopes: ['admin'] }),
      ],
    })
    const { runId } = await stage.client.runs.run({})
    await visit(browser, `${stage.url}#/runs/${runId}?tab=details`, {
      async use({ page, complaints }) {
        await enterKey(page, KEY)
        const tab = page.getByRole('tab', { name: 'Details', selected: true })
        await tab.waitFor()
        await clock.advance(60_001)
        await page.getByRole('heading', { name: 'Your key is no longer accepted' }).waitFor()
        expect(await readStorage(page)).toEqual({ session: [], local: [], cookie: '' })
        await enterKey(page, OTHER)
        await tab.waitFor()
        expect(new URL(page.url()).hash).toBe(`#/runs/${runId}?tab=details`)
        expect(dropNetworkErrors(complaints)).toEqual([])
      },
    })
  })

  it('A server with keys distinguishes a server that is unreachable from one that rejects the key', async () => {
    await using stage = await serveWithKeys()
    await visit(browser, stage.url, {
      async use({ page, complaints }) {
        await screen(page).heading.waitFor()
        stage.cut({ stay: true })
        await enterKey(page, KEY)
        await page.getByRole('alert').getByText('The server did not respond').waitFor()
        expect(await screen(page).field.getAttribute('aria-invalid')).toBeNull()
        stage.restore()
        await screen(page).button.click()
        await screen(page).nav.waitFor()
        expect(dropNetworkErrors(complaints)).toEqual([])
      },
    })
  })
})

describe('the connection', () => {
  it('The page does not mention an open connection, but its loss and return', async () => {
    await using stage = await serveWithKeys({ apiKeys: [] })
    await visit(browser, stage.url, {
      async use({ page, complaints }) {
        const bar = page.getByRole('banner')
        const note = bar.getByRole('status')
        await screen(page).nav.waitFor()
        await expect.poll(() => note.textContent()).toBe('')
        stage.cut({ stay: true })
        await expect.poll(() => note.textContent()).toBe('Connection lost')
        await bar.getByText(/^Reconnecting( in \d+ s|…)$/).waitFor()
        stage.restore()
        await expect.poll(() => note.textContent(), { timeout: 15_000 }).toBe('Reconnected')
        expect(dropNetworkErrors(complaints)).toEqual([])
      },
    })
  })
})
