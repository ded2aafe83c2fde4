/** The list of runs in a browser: filters, live rows, new runs, a thousand runs. */
import { setTimeout as sleep } from 'node:timers/promises'

import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import {
  launchBrowser,
  openDashboard,
  visit,
  type ServedDashboard,
  type Visit,
} from './open-dashboard.ts'

import type { Browser, Locator, Page } from 'playwright-core'

/** A tool whose calls wait for the test. */
function createHall() {
  const waiting: (() => void)[] = []
  const tool = defineTool({
    name: 'wait',
    description: 'Waits for the test',
    input: Type.Object({}),
    timeoutMs: 60_000,
    execute: (_, { signal }) =>
      new Promise<string>((resolve) => {
        waiting.push(() => resolve('waited'))
        signal.addEventListener('abort', () => resolve('stopped'))
      }),
  })
  return {
    tool,
    waiting,
    /** Releases the call that has waited longest. */
    async next(): Promise<void> {
      await expect.poll(() => waiting.length).toBeGreaterThan(0)
      waiting.shift()?.()
    },
  }
}

let browser: Browser
/** The hall of the current test. */
let stage: ServedDashboard
let hall: ReturnType<typeof createHall>

beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser?.close())

const submit = async (name: string, more: object = {}): Promise<string> => {
  const inputs = name === 'band' ? { inputs: { piece: 'Fugue' } } : {}
  return (await stage.client.runs.submit({ ensemble: name, ...inputs, ...more })).runId
}

const finish = async (name: string, more: object = {}): Promise<string> => {
  const runId = await submit(name, more)
  await stage.client.runs.result(runId)
  return runId
}

const look = (
  use: (visit: Visit) => Promise<void>,
  {
    hash = '#/runs',
    ...context
  }: {
    readonly hash?: string
    readonly hasTouch?: boolean
    readonly viewport?: { width: number; height: number }
  } = {},
): Promise<void> =>
  visit(browser, `${stage.url}/${hash}`, {
    viewport: { width: 1280, height: 800 },
    ...context,
    use: async (opened) => {
      await use(opened)
      expect(opened.complaints).toEqual([])
    },
  })

const rows = (page: Page): Locator => page.getByRole('row').filter({ has: page.getByRole('link') })
const rowOf = (page: Page, ensembleName: string): Locator =>
  rows(page).filter({ has: page.getByRole('link', { name: new RegExp(`^${ensembleName} `) }) })
const count = (requests: readonly string[], request: string): number =>
  requests.filter((one) => one === request).length
const shows = async (line: Locator, ...texts: readonly string[]): Promise<void> => {
  for (const text of texts) await line.getByText(text, { exact: true }).waitFor()
}

describe('the list of runs', () => {
  beforeEach(async () => {
    stage = await openHall()
  })
  afterEach(() => stage[Symbol.asyncDispose]())

  it('The list of runs is filtered by status, ensemble, text and tag, all in the URL', async () => {
    await finish('note', { tags: { team: 'strings' } })
    await finish('tear', { tags: { team: 'brass' } })
    await submit('band', { inputs: { piece: 'Toccata' } })
    await hall.next()
    await look(async ({ page }) => {
      await page.getByText('3 runs', { exact: true }).waitFor()
      const choose = (name: string) => page.getByRole('radio', { name, exact: true }).check()
      const only = async (name: string, address: string): Promise<void> => {
        await page.getByText('1 matching run').waitFor()
        await rowOf(page, name).waitFor()
        await expect.poll(() => rows(page).count()).toBe(1)
        await expect.poll(() => new URL(page.url()).hash).toBe(address)
      }
      await choose('Active')
      await only('band', '#/runs?status=active')
      await choose('Failed')
      await only('tear', '#/runs?status=failed')
      await shows(rowOf(page, 'tear'), 'Failed', 'The string broke')
      await choose('Completed')
      await only('note', '#/runs?status=completed')
      await page.goBack()
      await only('tear', '#/runs?status=failed')
      await choose('All')
      await page.getByRole('searchbox', { name: 'Search runs' }).fill('TOCC')
      await only('band', '#/runs?q=TOCC')
      await page.getByRole('searchbox', { name: 'Search runs' }).fill('')
      await page.getByRole('combobox', { name: 'Ensemble' }).selectOption('note')
      await only('note', '#/runs?ensemble=note')
      await page.getByRole('combobox', { name: 'Ensemble' }).selectOption('All ensembles')
      await page.getByRole('button', { name: 'Filter by tag team: brass' }).click()
      await only('tear', '#/runs?tag=team%3Abrass')
      await page.reload()
      await only('tear', '#/runs?tag=team%3Abrass')
      await choose('Cancelled')
      await page.getByText('No matching runs').waitFor()
      await page.getByRole('link', { name: 'Show all runs' }).click()
      await page.getByText('3 runs', { exact: true }).waitFor()
    })
  })

  it('The list of runs follows its runs, and is loaded again only when one of them has changed', async () => {
    const early = await submit('band')
    await expect.poll(() => hall.waiting.length).toBe(1)
    await look(async ({ page, requests }) => {
      const line = rows(page).filter({ has: page.locator(`a[href="#/runs/${early}"]`) })
      await shows(line, 'Running', '0 of 2', 'tune')
      await hall.next()
      await shows(line, '1 of 2', 'play')
      await hall.next()
      await shows(line, 'Completed', '2 of 2')
      const late = await submit('band')
      const fresh = rows(page).filter({ has: page.locator(`a[href="#/runs/${late}"]`) })
      await shows(fresh, 'Running', '0 of 2', 'tune')
      await hall.next()
      await shows(fresh, '1 of 2', 'play')
      await hall.next()
      await shows(fresh, 'Completed', '2 of 2')
      await page.getByText('2 runs', { exact: true }).waitFor()
      const { runs } = await stage.client.runs.list()
      expect(runs).toHaveLength(2)
      for (const { runId, totalTokens, costUsd = NaN } of runs) {
        const own = rows(page).filter({ has: page.locator(`a[href="#/runs/${runId}"]`) })
        await shows(own, String(totalTokens), `$${costUsd.toFixed(2)}`)
      }
      expect(count(requests, 'GET /api/capabilities')).toBe(1)
      expect(count(requests, `GET /api/runs/${late}`)).toBe(0)
      const reads = count(requests, 'GET /api/runs')
      await sleep(1_000)
      expect(count(requests, 'GET /api/runs')).toBe(reads)
    })
  })

  it('The list of runs shows that a run has an open review, and that it no longer has one', async () => {
    await submit('jury')
    await look(async ({ page }) => {
      await shows(rowOf(page, 'jury'), 'Needs review')
      await page.getByRole('radio', { name: 'Waiting' }).check()
      await submit('jury')
      await page.getByText('2 matching runs').waitFor()
      for (const { reviewId } of (await stage.client.reviews.list()).reviews) {
        await stage.client.reviews.decide(reviewId, { decision: 'CONTINUE' })
      }
      await page.getByText('0 matching runs').waitFor()
      // They stay in place until the filter changes.
      await expect.poll(() => rows(page).getByText('Completed').count()).toBe(2)
      await page.getByRole('radio', { name: 'Active' }).check()
      await page.getByText('No matching runs').waitFor()
      await page.getByRole('radio', { name: 'Waiting' }).check()
      await page.getByText('No matching runs').waitFor()
    })
  })

  it('The list of runs explains how to submit the first run, and shows it when it appears', async () => {
    await look(async ({ page }) => {
      await page.getByText('No runs yet').waitFor()
      await page.getByText(/curl -X POST/).waitFor()
      await finish('note')
      await shows(rowOf(page, 'note'), 'Completed', '1 of 1')
    })
  })

  it('The list of runs shows tags and the whole filter on a phone', async () => {
    await finish('note', { tags: { team: 'strings' } })
    await finish('note')
    await look(
      async ({ page }) => {
        await page.getByRole('button', { name: 'Filter by tag team: strings' }).waitFor()
        const ensembles = page.getByRole('combobox', { name: 'Ensemble' })
        expect((await ensembles.boundingBox())?.width).toBeGreaterThanOrEqual(150)
        await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390)
      },
      { viewport: { width: 390, height: 844 }, hasTouch: true },
    )
  })

  it('The list of runs is loaded again after the connection was lost', async () => {
    await finish('note')
    await visit(browser, stage.url, {
      use: async ({ page }) => {
        await rowOf(page, 'note').waitFor()
        stage.cut({ stay: true })
        await finish('tear')
        stage.restore()
        await rowOf(page, 'tear').waitFor()
        await page.getByText('2 runs', { exact: true }).waitFor()
      },
    })
  })
})

describe('a thousand runs', () => {
  beforeAll(async () => {
    stage = await openHall()
    await submitMany(1_000)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  it('A thousand runs are navigated with the keyboard, and keep the position on return', async () => {
    const { runs } = await stage.client.runs.list({ limit: 150 })
    await look(async ({ page, requests }) => {
      await rows(page).first().waitFor()
      await page.keyboard.press('j')
      const focused = (): Promise<string | null> =>
        page.evaluate('document.activeElement.getAttribute("href")')
      await expect.poll(focused).toBe(`#/runs/${runs[0]?.runId}`)
      for (let step = 1; step <= 40; step += 1) await page.keyboard.press('ArrowDown')
      await expect.poll(focused).toBe(`#/runs/${runs[40]?.runId}`)
      await page.keyboard.press('k')
      await expect.poll(focused).toBe(`#/runs/${runs[39]?.runId}`)
      await page.keyboard.press('/')
      await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('search')
      await page.keyboard.press('Shift+Tab')
      await expect.poll(() => inSight(page)).toContain(`#/runs/${runs[39]?.runId}`)
      const before = await inSight(page)
      await page.locator(`a[href="#/runs/${runs[39]?.runId}"]`).press('Enter')
      await expect.poll(() => new URL(page.url()).hash).toBe(`#/runs/${runs[39]?.runId}`)
      await page.goBack()
      // Compare only the visible rows: the number of rows rendered beyond them may differ.
      await expect.poll(() => inSight(page)).toEqual(before)
      expect(count(requests, 'GET /api/runs')).toBe(1)
    })
  })

  it('A thousand runs fit on a phone', async () => {
    await look(
      async ({ page }) => {
        await rows(page).first().waitFor()
        await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390)
        const box = await rows(page).first().boundingBox()
        expect(box?.height).toBeLessThan(80)
        await rows(page).nth(2).getByRole('link').tap()
        await page.getByRole('heading', { name: 'note', level: 1 }).waitFor()
      },
      { viewport: { width: 390, height: 844 }, hasTouch: true },
    )
  })

  it('A thousand runs are scrolled to the end page by page without gaps; new ones wait for the reader', async () => {
    const { runs } = await stage.client.runs.list({ limit: 1_000 })
    await look(async ({ page }) => {
      const cursors: string[] = []
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url())
        if (pathname === '/api/runs') cursors.push(searchParams.get('cursor') ?? 'none')
      })
      await page.getByText('1000 runs', { exact: true }).waitFor()
      const table = page.getByRole('table', { name: 'Runs' })
      expect(await table.getAttribute('aria-rowcount')).toBe('1001')
      const seen = await scrollThrough(page, 1_000)
      expect(seen).toEqual(runs.map(({ runId }) => `#/runs/${runId}`))
      // No page is loaded twice; each continues at the cursor of the previous one.
      expect(cursors).toHaveLength(10)
      expect(new Set(cursors).size).toBe(10)
      expect(await rows(page).count()).toBeLessThan(60)

      await expect.poll(() => inSight(page)).not.toEqual([])
      const before = await inSight(page)
      await finish('tear')
      await finish('tear')
      const news = page.getByRole('button', { name: '2 new runs' })
      await news.waitFor()
      expect(await inSight(page)).toEqual(before)
      await news.click()
      await expect.poll(() => rowOf(page, 'tear').count()).toBe(2)
      expect(await rows(page).first().getByRole('link').textContent()).toMatch(/^tear/)
    })
  })
})

async function openHall(): Promise<ServedDashboard> {
  hall = createHall()
  const model = scriptedModel(({ messages, tools }) =>
    tools.length === 0 || messages.at(-1)?.role === 'tool'
      ? 'Done'
      : { text: 'One moment', toolCalls: [{ name: 'wait', arguments: {} }] },
  )
  const tune = task({ name: 'tune', description: 'Tune {piece}', tools: [hall.tool] })
  const play = task({ name: 'play', description: 'Play {piece}', tools: [hall.tool] })
  const judge = task({ name: 'judge', description: 'Judge', review: { timeoutMs: 600_000 } })
  const note = task({ name: 'note', description: 'Note', handler: () => 'Noted' })
  const handler = (): string => {
    throw new Error('The string broke')
  }
  const tear = task({ name: 'tear', description: 'Tear', handler })
  return openDashboard({
    ensembles: [
      ensemble({ name: 'band', tasks: [tune, play], model }),
      ensemble({ name: 'jury', tasks: [judge], model }),
      ensemble({ name: 'note', tasks: [note] }),
      ensemble({ name: 'tear', tasks: [tear] }),
    ],
    prices: () => ({ inputPerMillion: 1_000, outputPerMillion: 1_000 }),
  })
}

/** Returns the links of the visible rows, from the top; none while a part of the table is empty. */
const inSight = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const { top, bottom } = document.querySelector('[role=rowgroup][tabindex]').getBoundingClientRect()
    const rows = Array.from(document.querySelectorAll('[data-row]'), (link) => {
      const row = link.closest('[role=row]').getBoundingClientRect()
      return { href: link.getAttribute('href'), top: row.top, bottom: row.bottom }
    })
    const seen = rows
      .filter((row) => row.bottom > top + 1 && row.top < bottom - 1)
      .toSorted((one, other) => one.top - other.top)
    const isWhole = seen.length > 0 && seen[0].top <= top + 1 && seen.at(-1).bottom >= bottom - 1
    return isWhole ? seen.map(({ href }) => href) : []
  })()`)

/** Scrolls by one screen per frame until `many` runs were visible; returns their links in order. */
const scrollThrough = (page: Page, many: number): Promise<string[]> =>
  page.evaluate(`(async () => {
    const scroller = document.querySelector('[role=rowgroup][tabindex]')
    const seen = new Set()
    while (seen.size < ${many}) {
      for (const link of document.querySelectorAll('[data-row]')) seen.add(link.getAttribute('href'))
      scroller.scrollBy(0, 600)
      await new Promise(requestAnimationFrame)
      await new Promise(requestAnimationFrame)
    }
    return [...seen]
  })()`)

/** Maximum number of runs that wait and execute at the same time. */
async function submitMany(many: number): Promise<void> {
  const lanes = 32
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let at = lane; at < many; at += lanes) {
        await stage.client.runs.submit({ ensemble: 'note' }, { wait: 30 })
      }
    }),
  )
}
