/** Checks every page and state with axe (WCAG 2.2 A, AA, best practices) in each theme and on a phone. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { sampleRuns } from './sample-runs.ts'
import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const RUN_AXE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ target, html }) => target.join(' ') + ' ' + html.slice(0, 200)).join(' | ')))`

const WIDE = { width: 1440, height: 900 }

const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: WIDE },
  { name: 'dark', colorScheme: 'dark', viewport: WIDE },
  { name: 'phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const

let browser: Browser
let stage: ServedDashboard
let runs: Readonly<Record<'ended' | 'failed' | 'held' | 'live' | 'asleep', string>>

beforeAll(async () => {
  const { options, begin } = sampleRuns()
  stage = await openDashboard(options)
  runs = await begin(stage.client)
  await stage.client.schedules.create({
    name: 'nightly',
    cron: '0 3 * * *',
    timeZone: 'Europe/Berlin',
    run: { ensemble: 'summary', inputs: { topic: 'music' } },
  })
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await stage?.[Symbol.asyncDispose]()
})

describe('accessibility of a page', () => {
  it.each([
    ['the list of runs', () => '#/runs', /reviewed/],
    ['an empty list', () => '#/runs?q=nothing-like-it', /no matching runs/i],
    ['a run that has ended', () => `#/runs/${runs.ended}`, 'Completed'],
    ['its events', () => `#/runs/${runs.ended}?tab=events`, 'Completed'],
    ['its costs', () => `#/runs/${runs.ended}?tab=costs`, 'Completed'],
    ['its steering', () => `#/runs/${runs.ended}?tab=steering`, 'Completed'],
    ['its details', () => `#/runs/${runs.ended}?tab=details`, 'Completed'],
    ['a run that failed', () => `#/runs/${runs.failed}`, 'Failed'],
    ['a run that waits for a person', () => `#/runs/${runs.held}`, 'Needs review'],
    ['a run that sleeps', () => `#/runs/${runs.asleep}`, 'Sleeping'],
    ['a run at work', () => `#/runs/${runs.live}`, 'Running'],
    ['an unknown run', () => '#/runs/nobody', /not found/i],
    ['the threads', () => '#/threads', /no threads yet/i],
    ['an unknown thread', () => '#/threads/none', /not found/i],
    ['the reviews', () => '#/reviews', /publish/i],
    ['the schedules', () => '#/schedules', 'nightly'],
    ['the form of a run', () => '#/new', /ensemble/i],
    ['the tools', () => '#/tools', /measure/],
    ['a tool', () => '#/tools/measure', /call|try|run the tool/i],
    ['trace files', () => '#/traces', /file/i],
    ['an unknown page', () => '#/nowhere', /page not found/i],
  ])('A page has no serious findings: %s', async (_, place, sign) => {
    await visit(browser, `${stage.url}/${place()}`, {
      viewport: WIDE,
      reducedMotion: 'reduce',
      // The content policy forbids axe to other callers, so inject it into the page.
      bypassCSP: true,
      async use({ page }) {
        await page.evaluate(AXE)
        for (const { name, colorScheme, viewport } of LOOKS) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize(viewport)
          await page.getByText(sign).filter({ visible: true }).first().waitFor()
          await frames(page)
          await expect.poll(() => findings(page), { message: name }).toEqual([])
        }
      },
    })
  })
})

/** Waits two frames, after which the page follows its new size. */
async function frames(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  )
}

function findings(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(RUN_AXE)
}
