/** Opening a long run reads its events in one response and renders the page a few times, however many events it has. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { bigEnsembles, startBigRun } from './big-runs.ts'
import { COUNT_COMMITS } from './count-commits.ts'
import { launchBrowser, openDashboard, visit } from './open-dashboard.ts'

import type { Browser, Page } from 'playwright-core'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser.close()
})

/** Model turns; each has five events. */
const TURNS = 2_000

/** Maximum number of commits, one for 100 events. A quiet machine makes 21; a busy one divides them into up to 50. */
const MAX_COMMITS = TURNS / 20

/** Waits until the page shows the last event, the last turn and the timeline of a completed run. */
async function complete(page: Page, events: number): Promise<void> {
  await page.getByRole('status').getByText('Completed').waitFor()
  await page
    .getByRole('slider')
    .and(page.locator(`[max="${events}"]`))
    .waitFor()
  await page.getByRole('article', { name: `Model call ${TURNS + 1}`, exact: true }).waitFor()
  await page.getByRole('img', { name: `${TURNS + 1} model calls, ${TURNS} tool calls` }).waitFor()
}

describe('a run of ten thousand events that is over', () => {
  it('A run of ten thousand events that is over is read in one response without a socket, and rendered a few times', async () => {
    await using stage = await openDashboard({ ...bigEnsembles(TURNS) })
    const runId = await startBigRun(stage.client)
    const { lastSeq } = await stage.client.runs.result(runId)
    const events = lastSeq + 1
    expect(events).toBeGreaterThan(10_000)
    await visit(browser, 'about:blank', {
      viewport: { width: 1440, height: 900 },
      async use({ page, requests, complaints }) {
        const sockets: string[] = []
        page.on('websocket', (socket) => sockets.push(socket.url()))
        await page.addInitScript(COUNT_COMMITS)
        await page.goto(`${stage.url}/#/runs/${runId}`)
        await complete(page, events)
        await page.waitForLoadState('networkidle')

        // The stored events, and the newest one, where they end.
        const path = `GET /api/runs/${runId}/events`
        expect(requests.filter((one) => one.includes(runId))).toEqual([path, path])
        // The feed of all runs.
        expect(sockets).toHaveLength(1)
        expect(await page.evaluate<number>('commits')).toBeLessThanOrEqual(MAX_COMMITS)
        await page.getByRole('tab', { name: 'Events' }).click()
        await page.getByText(new RegExp(`^${events} events, `)).waitFor()
        expect(complaints).toEqual([])
      },
    })
  })
})

describe('the page of a run', () => {
  it('The page of a run requests the events before its scripts have loaded, and uses that response', async () => {
    await using stage = await openDashboard({ ...bigEnsembles(1) })
    const runId = await startBigRun(stage.client)
    await stage.client.runs.result(runId)
    await visit(browser, 'about:blank', {
      async use({ page, requests }) {
        const path = `GET /api/runs/${runId}/events`
        const isAsked = (): boolean => requests.includes(path)
        await page.route('**/assets/start-*.js', async (route) => {
          await expect.poll(isAsked).toBe(true)
          await route.continue()
        })
        await page.goto(`${stage.url}/#/runs/${runId}`)
        await page.getByRole('status').getByText('Completed').waitFor()
        await page.waitForLoadState('networkidle')
        expect(requests.filter((one) => one === path)).toHaveLength(2)
      },
    })
  })

  it('The page of a run leaves a run whose scripts have not loaded, and opens another', async () => {
    await using stage = await openDashboard({ ...bigEnsembles(1) })
    const [first, second] = await Promise.all([1, 2].map(() => startBigRun(stage.client)))
    await visit(browser, 'about:blank', {
      async use({ page }) {
        const held = Promise.withResolvers<void>()
        await page.route('**/assets/start-*.js', async (route) => {
          await held.promise
          await route.continue()
        })
        const asked = page.waitForRequest((request) => request.url().includes(`${first}/events`))
        await page.goto(`${stage.url}/#/runs/${first}`, { waitUntil: 'commit' })
        await asked
        await page.evaluate((id) => {
          location.hash = `#/runs/${id}`
        }, second)
        held.resolve()
        await page.getByRole('status').getByText('Completed').waitFor()
        await page
          .getByText(second ?? '')
          .first()
          .waitFor()
      },
    })
  })
})
