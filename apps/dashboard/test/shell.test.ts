import { apiKey } from '@tutti/control-api'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Page } from 'playwright-core'

let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser.close()
})

const KEY = 'k-of-the-conductor'

function band(options: object = {}): Promise<ServedDashboard> {
  const hum = task({ name: 'hum', description: 'Hum' })
  const model = scriptedModel(() => 'Hm hm')
  return openDashboard({ ensembles: [ensemble({ name: 'band', tasks: [hum], model })], ...options })
}

const PAGES = ['Runs', 'Threads', 'Reviews', 'Schedules', 'New run', 'Tools', 'Traces'] as const

function link(page: Page, name: string) {
  const nav = page.getByRole('navigation', { name: 'Pages' })
  return nav.getByRole('link', { name: new RegExp(`^${name}`) })
}

/** Returns the page that the navigation marks as current. */
function here(page: Page): Promise<string | null> {
  return page.locator('nav a[aria-current=page]').textContent()
}

function isFocused(page: Page, selector: string): Promise<boolean> {
  return page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)
}

describe('the frame', () => {
  it('The frame of the dashboard is navigated with the keyboard only, page by page', async () => {
    await using stage = await band()
    await visit(browser, stage.url, {
      async use({ page, complaints }) {
        await link(page, 'Runs').waitFor()
        await page.keyboard.press('Tab')
        await expect.poll(() => isFocused(page, 'a[href="#main"]')).toBe(true)
        await page.keyboard.press('Tab')
        for (const name of PAGES) {
          await page.keyboard.press('Tab')
          await expect
            .poll(() => link(page, name).evaluate((it) => it === document.activeElement))
            .toBe(true)
          await page.keyboard.press('Enter')
          await expect.poll(() => here(page)).toContain(name)
          await expect.poll(() => page.title()).toBe(`${name} — Tutti`)
          await expect.poll(() => page.locator('main').innerText()).not.toBe('')
        }
        expect(complaints).toEqual([])
      },
    })
  })

  it('The frame of the dashboard has a link that skips it', async () => {
    await using stage = await band()
    await visit(browser, `${stage.url}#/traces`, {
      async use({ page, complaints }) {
        await page.getByRole('button', { name: 'Choose file' }).waitFor()
        await page.keyboard.press('Tab')
        await page.keyboard.press('Enter')
        await expect.poll(() => isFocused(page, 'main')).toBe(true)
        expect(new URL(page.url()).hash).toBe('#/traces')
        await page.keyboard.press('Tab')
        await expect
          .poll(() => page.evaluate(() => document.activeElement?.textContent))
          .toBe('Choose file')
        expect(complaints).toEqual([])
      },
    })
  })

  it('The frame of the dashboard follows the history of the browser', async () => {
    await using stage = await band()
    await visit(browser, `${stage.url}#/runs`, {
      async use({ page, complaints }) {
        await link(page, 'Tools').click()
        await link(page, 'Traces').click()
        await expect.poll(() => here(page)).toBe('Traces')
        await page.goBack()
        await expect.poll(() => here(page)).toBe('Tools')
        await page.goBack()
        await expect.poll(() => here(page)).toBe('Runs')
        await page.goForward()
        await expect.poll(() => here(page)).toBe('Tools')
        expect(complaints).toEqual([])
      },
    })
  })

  it('The frame of the dashboard remembers the chosen theme', async () => {
    await using stage = await band()
    await visit(browser, stage.url, {
      colorScheme: 'light',
      async use({ page, complaints }) {
        const ground = (): Promise<string> =>
          page.evaluate(() => getComputedStyle(document.body).backgroundColor)
        await link(page, 'Runs').waitFor()
        const light = await ground()
        await page.getByRole('button', { name: 'Preferences' }).click()
        await page.getByRole('menuitem', { name: 'Dark' }).click()
        await expect.poll(ground).not.toBe(light)
        const dark = await ground()
        await page.reload()
        await link(page, 'Runs').waitFor()
        await expect.poll(ground).toBe(dark)
        await page.getByRole('button', { name: 'Preferences' }).click()
        await page.getByRole('menuitem', { name: 'System' }).click()
        await expect.poll(ground).toBe(light)
        expect(complaints).toEqual([])
      },
    })
  })

  it('The frame of the dashboard shows the keyboard shortcuts on "?", but not while typing', async () => {
    await using stage = await band()
    await visit(browser, stage.url, {
      async use({ page, complaints }) {
        const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
        await page.getByRole('searchbox', { name: 'Search runs' }).fill('?')
        expect(await dialog.count()).toBe(0)
        await page.getByRole('heading', { name: 'Runs' }).click()
        await page.keyboard.press('?')
        await dialog.waitFor()
        await dialog.getByText('Go to the first run').waitFor()
        await page.keyboard.press('Escape')
        await expect.poll(() => dialog.count()).toBe(0)
        expect(complaints).toEqual([])
      },
    })
  })

  it('The frame of the dashboard reports unknown pages and unknown runs', async () => {
    await using stage = await band()
    await visit(browser, `${stage.url}#/nowhere`, {
      async use({ page, complaints }) {
        await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
        await page.getByRole('link', { name: 'Go to runs', exact: true }).click()
        await expect.poll(() => here(page)).toBe('Runs')
        expect(complaints).toEqual([])
        await page.goto(`${stage.url}#/runs/run-nobody`)
        await page.getByRole('heading', { level: 1, name: 'Run "run-nobody" not found' }).waitFor()
        await page.getByRole('link', { name: 'Go to runs', exact: true }).waitFor()
      },
    })
  })
})

describe('a visit of all pages', () => {
  it('A visit of all pages requests only its own server, nothing twice, and no URL contains the key', async () => {
    await using stage = await band({
      key: KEY,
      apiKeys: [apiKey(KEY, { name: 'conductor', scopes: ['admin'] })],
    })
    const { runId } = await stage.client.runs.run({})
    await visit(browser, `${stage.url}#/traces`, {
      async use({ page, complaints }) {
        await page.getByLabel('Key').fill(KEY)
        await page.getByRole('button', { name: 'Sign in' }).click()
        await link(page, 'Runs').waitFor()
        complaintsSoFar(complaints)
        const first = complaints.length
        const asked: URL[] = []
        page.on('request', (request) => asked.push(new URL(request.url())))
        page.on('websocket', (socket) => asked.push(new URL(socket.url())))
        for (const name of [...PAGES, ...PAGES]) {
          await link(page, name).click()
          await expect.poll(() => here(page)).toContain(name)
          await page.waitForLoadState('networkidle')
        }
        await page.goto(`${stage.url}#/runs/${runId}`)
        await page.getByText('Hm hm').first().waitFor()
        await page.waitForLoadState('networkidle')

        const { host } = new URL(stage.url)
        expect(asked.filter((url) => url.host !== host).map(String)).toEqual([])
        expect(asked.filter((url) => url.href.includes(KEY)).map(String)).toEqual([])
        // Each socket needs a separate ticket.
        const gets = asked
          .filter(({ pathname }) => pathname.startsWith('/api/') && pathname !== '/api/tickets')
          .map(({ pathname, search }) => pathname + search)
        expect(gets.toSorted()).toEqual([...new Set(gets)].toSorted())
        expect(complaints.slice(first)).toEqual([])
      },
    })
  })
})

/** The browser logs the rejection of a page without a key. */
function complaintsSoFar(complaints: readonly string[]): void {
  for (const complaint of complaints) expect(complaint).toMatch(/401|WebSocket connection/)
}
