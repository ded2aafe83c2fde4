/** Groups of tasks that a task has added, in a real browser. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import { ensemble, task } from '@tutti/ensemble'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const RUN_AXE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`

/** Number of added tasks; the pure tests have ten thousand. */
const TASKS = 400

/** Maximum number of rows of the list in the page. */
const MAX_ROWS = 120

/** Maximum number of rows of the timeline in the page. */
const MAX_TIMELINE_ROWS = 60

let browser: Browser
let stage: ServedDashboard
let url: string

beforeAll(async () => {
  const items = Array.from({ length: TASKS }, (_, at) => at)
  const child = task({
    name: 'child',
    description: 'Work on {item}',
    handler: ({ inputs }) => {
      if (inputs['item'] === '7') throw new Error('Seven is not possible')
      return `Done with ${inputs['item']}`
    },
  })
  const grow = task({
    name: 'grow',
    description: 'Grow',
    handler: async ({ map }) => {
      const options = { key: (item: number) => `item-${item}`, maxItems: TASKS }
      const done = await map(items, child, { ...options, onError: 'continue' })
      return `${done.length} done`
    },
  })
  const sum = task({ name: 'sum', description: 'Sum up', context: [grow], handler: () => 'Summed' })
  stage = await openDashboard({ ensembles: [ensemble({ name: 'growth', tasks: [grow, sum] })] })
  const { runId } = await stage.client.runs.submit({ ensemble: 'growth' })
  await stage.client.runs.result(runId)
  url = `${stage.url}/#/runs/${runId}`
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await stage?.[Symbol.asyncDispose]()
})

const listOf = (page: Page) => page.getByRole('list', { name: 'Tasks in order' })
const heading = (page: Page) => listOf(page).getByRole('button', { name: /^400 tasks/ })

describe('a group of hundreds of tasks', () => {
  it('A group of hundreds of tasks is folded with its counts, opens with few rows in the page, and is searched by key', async () => {
    await visit(browser, url, {
      viewport: { width: 1440, height: 900 },
      async use({ page, complaints }) {
        await heading(page).waitFor()
        expect(await heading(page).getAttribute('aria-expanded')).toBe('false')
        expect(await heading(page).getAttribute('title')).toBe('1 failed, 399 completed')
        expect(await listOf(page).getByRole('listitem').count()).toBe(3)
        const row = page.getByRole('img', {
          name: '400 tasks added by grow, folded: 1 failed, 399 completed',
        })
        await row.waitFor()

        await heading(page).click()
        const items = listOf(page).getByRole('listitem')
        await expect.poll(() => items.count()).toBeGreaterThan(20)
        expect(await items.count()).toBeLessThanOrEqual(MAX_ROWS)
        expect(await items.first().getAttribute('aria-setsize')).toBe(String(TASKS + 4))
        expect(await page.locator('[data-row]').count()).toBeLessThanOrEqual(MAX_TIMELINE_ROWS)

        const search = page.getByRole('searchbox', { name: 'Search the tasks of grow by key' })
        await search.fill('ITEM-399')
        await page.getByText('1 found').waitFor()
        await listOf(page)
          .getByRole('button', { name: /^item-399/ })
          .click()
        await page.getByText('Done with 399').first().waitFor()
        expect(new URL(page.url()).hash).toContain('task=grow%2Fitem-399')
        expect(complaints).toEqual([])
      },
    })
  })

  it('A link to a task of a group opens the group at the task, and its page', async () => {
    await visit(browser, `${url}?task=grow%2Fitem-300`, {
      viewport: { width: 1440, height: 900 },
      async use({ page, complaints }) {
        await page.getByText('Done with 300').first().waitFor()
        const linked = listOf(page).getByRole('button', { name: /^item-300/ })
        await linked.waitFor()
        expect(await linked.getAttribute('aria-pressed')).toBe('true')
        await expect.poll(() => linked.evaluate(isInView)).toBe(true)
        expect(await listOf(page).getByRole('listitem').count()).toBeLessThanOrEqual(MAX_ROWS)
        await heading(page).waitFor({ state: 'detached' })
        expect(complaints).toEqual([])
      },
    })
  })

  it('A group opens and is left with the keyboard', async () => {
    await visit(browser, url, {
      viewport: { width: 1440, height: 900 },
      async use({ page }) {
        await heading(page).focus()
        await page.keyboard.press('Enter')
        const focused = page.locator(':focus')
        const press = async (key: string, name: RegExp): Promise<void> => {
          await page.keyboard.press(key)
          await expect.poll(() => focused.textContent()).toMatch(name)
        }
        await page.getByRole('searchbox').waitFor()
        await press('ArrowDown', /^item-0/)
        await press('ArrowDown', /^item-1/)
        await press('End', /^sum/)
        await press('ArrowLeft', /^item-399/)
        await press('Home', /^grow/)
        await press('ArrowDown', /^400 tasks/)
        await page.keyboard.press('Space')
        await expect.poll(() => heading(page).getAttribute('aria-expanded')).toBe('false')
      },
    })
  })

  it('An open group has no serious findings and fits at three widths', async () => {
    await visit(browser, url, {
      viewport: { width: 1440, height: 844 },
      reducedMotion: 'reduce',
      // The content policy forbids axe to other callers, so inject it into the page.
      bypassCSP: true,
      async use({ page }) {
        await heading(page).click()
        await page.getByRole('searchbox').waitFor()
        await page.evaluate(AXE)
        for (const width of [1440, 800, 390]) {
          await page.setViewportSize({ width, height: 844 })
          await expect
            .poll(() => page.evaluate<readonly string[]>(RUN_AXE), { message: String(width) })
            .toEqual([])
          const overflow = 'document.documentElement.scrollWidth - innerWidth'
          expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0)
        }
      },
    })
  })
})

function isInView(element: SVGElement | HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  const scroller = element.closest('ol')?.parentElement?.parentElement?.getBoundingClientRect()
  return scroller !== undefined && top >= scroller.top && bottom <= scroller.bottom
}
