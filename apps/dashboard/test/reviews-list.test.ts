/** The list of all reviews: its contents, its filter, and decisions made in it. */
import { apiKey } from '@tutti/control-api'
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Page } from 'playwright-core'

const LIMIT_MS = 60_000

const KEY = 'the-key-of-the-reader'

const LEAD_KEY = 'the-key-of-the-lead-reviewer'

/** One task whose output is reviewed. */
function letters(review = {}) {
  const draft = task({
    name: 'draft',
    description: 'Write to {name}',
    review: { prompt: 'Is it polite?', timeoutMs: 3_600_000, ...review },
  })
  const model = scriptedModel(() => 'Dear customer,\nyour parcel is on its way.')
  return ensemble({ name: 'letters', tasks: [draft], model })
}

/** A tool that requires approval before it pays. */
function payments() {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays',
    input: Type.Object({ amount: Type.Number() }),
    requireApproval: { describe: ({ amount }) => `Pay ${amount} euros?` },
    execute: ({ amount }) => `paid ${amount}`,
  })
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? 'Done'
      : { toolCalls: [{ name: 'pay', arguments: { amount: 100 } }] },
  )
  const settle = task({ name: 'settle', description: 'Settle bill {bill}', tools: [pay] })
  return ensemble({ name: 'payments', tasks: [settle], model })
}

let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser.close()
})

/** Submits three letters and a payment, and waits for their reviews. */
async function fill({ client }: ServedDashboard): Promise<readonly string[]> {
  const names = ['Ada', 'Bo', 'Cleo']
  const letterRuns = await Promise.all(
    names.map((name) =>
      client.runs.submit({
        ensemble: 'letters',
        inputs: { name },
        tags: { team: name === 'Cleo' ? 'sales' : 'support' },
      }),
    ),
  )
  const payment = await client.runs.submit({ ensemble: 'payments', inputs: { bill: '7-A' } })
  await expect
    .poll(async () => (await client.reviews.list()).total, { timeout: 20_000 })
    .toBe(names.length + 1)
  return [...letterRuns, payment].map(({ runId }) => runId)
}

function rows(page: Page) {
  return page.getByRole('list', { name: 'Reviews' }).getByRole('listitem')
}

describe('the list of reviews', { timeout: LIMIT_MS }, () => {
  it('The list of reviews shows the ensemble, inputs, tags and a preview, and filters by each', async () => {
    await using stage = await openDashboard({ ensembles: [letters(), payments()] })
    await fill(stage)
    await visit(browser, `${stage.url}/#/reviews`, {
      viewport: { width: 1440, height: 900 },
      use: async ({ page, complaints }) => {
        const ada = rows(page).filter({ hasText: 'name: Ada' })
        await ada.getByText('letters · draft · after the task ends').waitFor()
        await ada.getByText('team: support').waitFor()
        await ada.getByText('Dear customer, your parcel is on its way.').waitFor()
        await rows(page).filter({ hasText: 'Pay 100 euros?' }).getByText('{"amount":100}').waitFor()
        expect(await rows(page).count()).toBe(4)
        await page.getByLabel('Filter by ensemble').selectOption('payments')
        await expect.poll(() => rows(page).count()).toBe(1)
        await page.getByLabel('Filter by ensemble').selectOption('')
        await page.getByLabel('Filter by kind').selectOption('Task output')
        await expect.poll(() => rows(page).count()).toBe(3)
        await page.getByLabel('Filter by tag').selectOption('team: sales')
        await expect.poll(() => rows(page).count()).toBe(1)
        await rows(page).filter({ hasText: 'name: Cleo' }).waitFor()
        expect(complaints).toEqual([])
      },
    })
  })

  it('The list of reviews approves a single review in place, and several together', async () => {
    await using stage = await openDashboard({ ensembles: [letters(), payments()] })
    const [ada = '', bo = '', cleo = '', payment = ''] = await fill(stage)
    const statusOf = async (runId: string) => (await stage.client.runs.get(runId)).status
    await visit(browser, `${stage.url}/#/reviews`, {
      viewport: { width: 1440, height: 900 },
      use: async ({ page }) => {
        await rows(page)
          .filter({ hasText: 'name: Ada' })
          .getByRole('button', { name: 'Approve' })
          .click()
        await expect.poll(() => statusOf(ada), { timeout: 10_000 }).toBe('COMPLETED')
        await page.getByLabel('Filter by kind').selectOption('Task output')
        await page.getByLabel('Select all').check()
        await page.getByText('2 reviews selected').waitFor()
        await page.getByRole('button', { name: 'Approve 2' }).click()
        await expect.poll(() => statusOf(bo), { timeout: 10_000 }).toBe('COMPLETED')
        await expect.poll(() => statusOf(cleo), { timeout: 10_000 }).toBe('COMPLETED')
        expect(await statusOf(payment)).toBe('WAITING_REVIEW')
      },
    })
  })

  it('The list of reviews rejects several reviews with the same feedback, but not without feedback', async () => {
    await using stage = await openDashboard({ ensembles: [letters(), payments()] })
    const [ada = ''] = await fill(stage)
    await visit(browser, `${stage.url}/#/reviews`, {
      viewport: { width: 1440, height: 900 },
      use: async ({ page }) => {
        await page.getByLabel('Filter by tag').selectOption('team: support')
        await page.getByLabel('Select all').check()
        await page.getByRole('button', { name: 'Reject 2…' }).click()
        const send = page.getByRole('button', { name: 'Reject 2', exact: true })
        expect(await send.isDisabled()).toBe(true)
        await page.getByLabel('Feedback').fill('Say when it arrives')
        await send.click()
        for await (const event of stage.client.runs.events(ada, { events: ['review_decided'] })) {
          expect(event).toMatchObject({ decision: 'REJECT', feedback: 'Say when it arrives' })
          break
        }
      },
    })
  })

  it('The list of reviews explains why a review cannot be decided without its role', async () => {
    const apiKeys = [
      apiKey(KEY, { name: 'reader', roles: ['support'] }),
      apiKey(LEAD_KEY, { name: 'lead', roles: ['legal'] }),
    ]
    await using stage = await openDashboard({
      ensembles: [letters({ requiredRole: 'legal' })],
      apiKeys,
      key: LEAD_KEY,
    })
    const { runId } = await stage.client.runs.submit({ inputs: { name: 'Ada' } })
    await expect.poll(async () => (await stage.client.reviews.list()).total).toBe(1)
    await visit(browser, `${stage.url}/#/reviews`, {
      viewport: { width: 1440, height: 900 },
      use: async ({ page }) => {
        await page.getByLabel('Key').fill(KEY)
        await page.getByRole('button', { name: 'Sign in' }).click()
        const row = rows(page).filter({ hasText: 'name: Ada' })
        await row.getByText('Only a key with the role “legal” can decide this.').waitFor()
        expect(await row.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
        await page.goto(`${stage.url}/#/runs/${runId}`)
        const panel = page.getByRole('region', { name: /^Review of / })
        await panel.getByText(/Only a key with the role “legal” can decide this/).waitFor()
        expect(await panel.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
      },
    })
  })

  it('The list of reviews explains in a sentence why an edit was rejected, and keeps the submit button in view', async () => {
    await using stage = await openDashboard({ ensembles: [payments()] })
    const { runId } = await stage.client.runs.submit({ inputs: { bill: '7-A' } })
    await visit(browser, `${stage.url}/#/runs/${runId}`, {
      viewport: { width: 1440, height: 900 },
      use: async ({ page }) => {
        const panel = page.getByRole('region', { name: /^Review of / })
        await panel.getByRole('button', { name: 'Edit…' }).click()
        await panel.getByRole('textbox').fill('{"amount":"much"}')
        const send = panel.getByRole('button', { name: 'Approve with changes' })
        await send.click()
        const alert = panel.getByRole('alert')
        await alert.getByText('Your change is invalid').waitFor()
        await alert.getByText('“amount” must be a number, got "much"', { exact: true }).waitFor()
        expect(await panel.getByRole('textbox').inputValue()).toBe('{"amount":"much"}')
        const isInSight = await send.evaluate((button) => {
          const { left, bottom, width } = button.getBoundingClientRect()
          return document.elementFromPoint(left + width / 2, bottom - 2) === button
        })
        expect(isInSight).toBe(true)
      },
    })
  })
})
