/**
 * Measures the smoothness of the dashboard in a real browser on its built page: a run of 10 000 events, read
 * when it has ended and watched live, a list of 1 000 runs, and a run with 10 000 added tasks. The page itself counts
 * frames and commits of React; a long task blocks the page for more than 50 ms. Memory is the script heap after a garbage
 * collection.
 */
import {
  openDashboard,
  visit,
  type ServedDashboard,
} from '../../apps/dashboard/test/open-dashboard.ts'
import { launchBrowser } from '../browser/launch-browser.ts'
import {
  bigEnsembles,
  growingTeam,
  startBigRun,
  submitMany,
} from '../../apps/dashboard/test/big-runs.ts'
import { COUNT_COMMITS } from '../../apps/dashboard/test/count-commits.ts'
import { sized } from './lib/form.ts'
import { median } from './lib/measure.ts'
import { formatNumber, printClaim, printTable } from './lib/report.ts'
import { heapMiB, smoothness, type Smoothness } from './lib/dashboard-smoothness.ts'

import type { Browser, Page } from 'playwright-core'

const RUNS = sized(1_000, 20)

/** Model turns of the long run; each creates about five events. */
const TURNS = sized(2_000, 20)

/** Scroll steps over a list, in each direction. */
const WHEEL_TURNS = sized(60, 2)
const VIEWPORT = { width: 1440, height: 900 }

/** Number of times that a group is folded or opened. */
const FOLDS = sized(10, 2)

/** Number of times that the long run is opened, each in a new page. */
const OPENINGS = sized(5, 1, 3)

/** Maximum time until the ended run is displayed, in milliseconds. */
const MAX_OPEN_MS = 500

/** Tasks that the growing run has added when its page is opened. */
const ADDED = sized(10_000, 200)

/** Tasks that it adds while the page follows it. */
const ADDED_LATER = sized(200, 10)

/** Maximum time until the growing run is displayed, in milliseconds. */
const MAX_OPEN_GROWN_MS = 2_000

/** Maximum duration of a task of the page that blocks it while it follows the growing run, in milliseconds. */
const MAX_BLOCKED_MS = 100

const rows: string[][] = []

const stage = await openDashboard({ ...bigEnsembles(TURNS) })
const browser = await launchBrowser()
try {
  await watchBigRun(browser, stage)
  const runId = await startBigRun(stage.client)
  const { lastSeq } = await stage.client.runs.result(runId)
  const openMs = await readBigRun(browser, stage, runId)
  await submitMany(stage.client, RUNS)
  await scrollList(browser, stage)
  await useGrowingRun(browser)
  printTable({
    title: `The dashboard on a run of ${formatNumber(lastSeq + 1)} events, a list of ${formatNumber(RUNS)} runs, and a run with ${formatNumber(ADDED)} added tasks`,
    columns: [
      'action',
      'ms',
      'frame, ms',
      'p95',
      'longest',
      'long tasks, ms',
      'longest',
      'heap, MiB',
    ],
    rows,
  })
  printClaim({
    text: `a run of ${formatNumber(lastSeq + 1)} events opens in at most ${MAX_OPEN_MS} ms`,
    atMost: MAX_OPEN_MS,
    measured: openMs,
    unit: ' ms',
  })
} finally {
  await browser.close()
  await stage[Symbol.asyncDispose]()
}

/** Opens a run with many added tasks, scrolls and folds their group, and follows the run while it adds more. */
async function useGrowingRun(browser: Browser): Promise<void> {
  const team = growingTeam(ADDED, ADDED_LATER)
  await using stage = await openDashboard(team)
  const { runId } = await stage.client.runs.submit({ ensemble: 'growth' })
  await team.hasGrown
  await visit(browser, 'about:blank', {
    viewport: VIEWPORT,
    async use({ page }) {
      await page.addInitScript(COUNT_COMMITS)
      await page.goto(stage.url)
      await page.getByRole('heading', { name: 'Runs' }).waitFor()
      const list = page.getByRole('list', { name: 'Tasks in order' })
      const heading = (count: number) =>
        list.getByRole('button', { name: new RegExp(`^${count.toLocaleString('en-US')} tasks`) })
      const count = heading(ADDED).or(list.getByRole('button', { name: `${ADDED} tasks` }))
      const opened = await smoothness(page, async () => {
        await page.goto(`${stage.url}/#/runs/${runId}`)
        await count.first().waitFor({ timeout: 120_000 })
      })
      report('growing run opened', opened, await heapMiB(page))
      report('group opened', await smoothness(page, () => count.first().click()))
      report('group scrolled', await smoothness(page, () => wheel(page, /^Tasks in order$/)))
      const folded = await smoothness(page, async () => {
        for (let time = 0; time < FOLDS; time += 1) {
          await page.mouse.move(0, 0)
          await count.first().click()
          await page.evaluate('new Promise(requestAnimationFrame)')
        }
      })
      report(`group folded and opened, ${FOLDS} times`, folded)
      const before = await page.evaluate<number>('commits')
      const followed = await smoothness(page, async () => {
        team.grow()
        await page.getByText('Completed', { exact: true }).first().waitFor({ timeout: 120_000 })
      })
      const commits = (await page.evaluate<number>('commits')) - before
      report(`${ADDED_LATER} more tasks followed`, followed, await heapMiB(page))
      printClaim({
        text: `a run with ${formatNumber(ADDED)} added tasks opens in at most ${MAX_OPEN_GROWN_MS} ms`,
        atMost: MAX_OPEN_GROWN_MS,
        measured: opened.ms,
        unit: ' ms',
      })
      printClaim({
        text: `the page of a run with ${formatNumber(ADDED)} added tasks is never blocked for more than ${MAX_BLOCKED_MS} ms while it follows others`,
        atMost: MAX_BLOCKED_MS,
        measured: followed.longTasks.maxMs,
        unit: ' ms',
      })
      printClaim({
        text: 'the page makes at most one commit for each task that a run adds while it follows it',
        atMost: ADDED_LATER,
        measured: commits,
        unit: ' commits',
      })
    },
  })
}

/** Opens the page at the first event of a run that runs at full speed. */
async function watchBigRun(browser: Browser, stage: ServedDashboard): Promise<void> {
  await visit(browser, stage.url, {
    viewport: VIEWPORT,
    async use({ page }) {
      await page.getByRole('heading', { name: 'Runs' }).waitFor()
      const runId = await startBigRun(stage.client)
      const measured = await smoothness(page, async () => {
        await page.goto(`${stage.url}/#/runs/${runId}`)
        await page.getByText('Completed', { exact: true }).first().waitFor({ timeout: 120_000 })
      })
      report('run watched from its first event to its last', measured, await heapMiB(page))
    },
  })
}

/** Returns the time until the run is displayed, in milliseconds. */
async function readBigRun(
  browser: Browser,
  stage: ServedDashboard,
  runId: string,
): Promise<number> {
  const times: number[] = []
  for (let opening = 1; opening <= OPENINGS; opening += 1) {
    await visit(browser, stage.url, {
      viewport: VIEWPORT,
      async use({ page }) {
        await page.getByRole('heading', { name: 'Runs' }).waitFor()
        const opened = await smoothness(page, async () => {
          await page.goto(`${stage.url}/#/runs/${runId}`)
          await page.getByText('Completed', { exact: true }).first().waitFor({ timeout: 120_000 })
        })
        times.push(opened.ms)
        if (opening < OPENINGS) return
        report('run opened after its end', opened, await heapMiB(page))
        await useBigRun(page)
      },
    })
  }
  return median(times)
}

async function useBigRun(page: Page): Promise<void> {
  report('work scrolled', await smoothness(page, () => wheel(page, /work|transcript/i)))
  await page.getByRole('tab', { name: 'Events' }).click()
  report('events scrolled', await smoothness(page, () => wheel(page, /events/i)))
  const slider = page.getByRole('slider')
  await slider.focus()
  const scrubbed = await smoothness(page, async () => {
    for (let step = 0; step < 40; step++) await page.keyboard.press('PageDown')
  })
  report('replayed with the slider', scrubbed, await heapMiB(page))
}

async function scrollList(browser: Browser, stage: ServedDashboard): Promise<void> {
  await visit(browser, stage.url, {
    viewport: VIEWPORT,
    async use({ page }) {
      await page.getByRole('heading', { name: 'Runs' }).waitFor()
      report('list scrolled to its end', await smoothness(page, () => wheel(page, /runs/i)))
      const live = smoothness(page, async () => {
        await submitMany(stage.client, RUNS / 10)
        await wheel(page, /runs/i)
      })
      report('list scrolled while runs come and go', await live, await heapMiB(page))
    },
  })
}

/** Scrolls a list down and up again. */
async function wheel(page: Page, name: RegExp): Promise<void> {
  const box = await page.getByLabel(name).last().boundingBox()
  if (box === null) throw new Error(`There is no list named ${name}`)
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  for (const direction of [1, -1]) {
    for (let turn = 0; turn < WHEEL_TURNS; turn++) {
      await page.mouse.wheel(0, direction * 600)
      await page.evaluate('new Promise(requestAnimationFrame)')
    }
  }
}

function report(action: string, { ms, frames, longTasks }: Smoothness, heap?: number): void {
  const numbers = [frames.median, frames.p95, frames.max, longTasks.totalMs, longTasks.maxMs]
  rows.push([
    action,
    formatNumber(Math.round(ms)),
    ...numbers.map(formatNumber),
    heap === undefined ? '–' : formatNumber(heap),
  ])
}
