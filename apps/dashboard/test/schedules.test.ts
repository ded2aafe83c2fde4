/** The page of schedules: their times, rules and last runs, and the actions on them. */
import { ensemble, task } from '@tutti/ensemble'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser } from 'playwright-core'

let browser: Browser
let stage: ServedDashboard

beforeAll(async () => {
  const count = task({ name: 'count', description: 'Count', handler: () => '1' })
  stage = await openDashboard({ ensembles: [ensemble({ name: 'report', tasks: [count] })] })
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await stage?.[Symbol.asyncDispose]()
})

it('The page of schedules explains how to add one, and runs, pauses and resumes one by keyboard', async () => {
  await visit(browser, `${stage.url}/#/schedules`, {
    timezoneId: 'UTC',
    locale: 'en-US',
    async use({ page, complaints }) {
      await page.getByText('No schedules yet').waitFor()
      await stage.client.schedules.create({
        name: 'winter',
        cron: '0 3 1 1 *',
        timeZone: 'Asia/Tokyo',
        overlap: 'skip',
        run: { ensemble: 'report' },
      })
      const item = page.getByRole('listitem').filter({ hasText: 'winter' })
      await item
        .getByText(/^Dec 31, .* 6:00:00 PM \(Jan 1, .* 3:00:00 AM in Asia\/Tokyo\)$/)
        .waitFor()
      await item.getByText(/^no tick while the last run has not ended/).waitFor()
      await item.getByRole('button', { name: 'Run now: winter' }).press('Enter')
      await page.getByText(/^Submitted run run-/).waitFor()
      expect((await stage.client.runs.list({ ensemble: 'report' })).total).toBe(1)
      await item.getByRole('button', { name: 'Pause: winter' }).press('Enter')
      await item.getByText('Paused', { exact: true }).waitFor()
      await item.getByRole('button', { name: 'Resume: winter' }).press('Enter')
      await item.getByText(/in Asia\/Tokyo/).waitFor()
      expect(complaints).toEqual([])
    },
  })
})
