/** Watching a run: from the list to its tokens, joining late, losing the connection, and back to the list. */
import { ensemble, priceList, task } from '@tutti/ensemble'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { conductedModel } from './paced-model.ts'
import { launchBrowser, openDashboard, visit } from './open-dashboard.ts'

import type { Browser, Locator, Page } from 'playwright-core'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser?.close())

async function openHall() {
  const model = conductedModel()
  const sketch = task({ name: 'sketch', description: 'Sketch {piece}' })
  const write = task({ name: 'write', description: 'Write {piece}' })
  const stage = await openDashboard({
    ensembles: [ensemble({ name: 'composer', tasks: [sketch, write], model })],
    prices: priceList({ 'test:conducted': { inputPerMillion: 1_000, outputPerMillion: 10_000 } }),
  })
  const { runId } = await stage.client.runs.submit({
    ensemble: 'composer',
    inputs: { piece: 'a canon' },
  })
  return { stage, model, runId, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

const lineOf = (page: Page, runId: string): Locator =>
  page.getByRole('row').filter({ has: page.locator(`a[href="#/runs/${runId}"]`) })
const work = (page: Page, name: string): Locator =>
  page.getByRole('list', { name: `Work of ${name}` })
const times = (text: string, part: string): number => text.split(part).length - 1

it('A reader opens a run from the list, sees its tokens stream, and returns to an updated list', async () => {
  await using hall = await openHall()
  const { stage, model, runId } = hall
  await visit(browser, stage.url, {
    viewport: { width: 1440, height: 900 },
    use: async ({ page, complaints }) => {
      const line = lineOf(page, runId)
      await line.getByText('Running').waitFor()
      await line.getByText('sketch', { exact: true }).waitFor()
      await line.getByRole('link').click()
      await page.getByRole('heading', { name: 'composer', level: 1 }).waitFor()
      model.say('First the theme')
      await work(page, 'sketch').getByText('First the theme').waitFor()
      model.say(', then the answer')
      await work(page, 'sketch').getByText('First the theme, then the answer').waitFor()
      model.answer()
      model.say('Bar one')
      await work(page, 'write').getByText('Bar one').waitFor()
      await page.goBack()
      await line.getByText('1 of 2').waitFor()
      await line.getByText('110', { exact: true }).waitFor()
      await line.getByText('$0.20', { exact: true }).waitFor()
      model.answer()
      await line.getByText('Completed').waitFor()
      await line.getByText('220', { exact: true }).waitFor()
      expect(complaints).toEqual([])
    },
  })
})

it('The page shows the reasoning of a call while it is written, folded, and all of it after its end', async () => {
  await using hall = await openHall()
  const { stage, model, runId } = hall
  await visit(browser, stage.url, {
    viewport: { width: 1440, height: 2_000 },
    use: async ({ page, complaints }) => {
      await page.goto(`${stage.url}/#/runs/${runId}?task=sketch`)
      model.think('A canon has one theme.\nThe second voice')
      const call = work(page, 'sketch').getByRole('article', { name: 'Model call 1' })
      const fold = call.getByRole('button', { name: 'Reasoning' })
      await call.getByText('The second voice', { exact: true }).waitFor()
      expect(await fold.getAttribute('aria-expanded')).toBe('false')
      expect(await call.getByText('A canon has one theme.').count()).toBe(0)
      model.think(' comes later.')
      await call.getByText('The second voice comes later.', { exact: true }).waitFor()
      await fold.click()
      await call.getByText('A canon has one theme.').waitFor()
      model.say('Bar one')
      model.answer({ usage: { inputTokens: 100, outputTokens: 10, reasoningTokens: 8 } })
      await call.getByText('8 tokens', { exact: true }).waitFor()
      await call.getByTitle('Input and output tokens (8 for reasoning)').waitFor()
      await call.getByText('Bar one', { exact: true }).waitFor()
      await call.getByText('A canon has one theme.').waitFor()
      expect(complaints).toEqual([])
    },
  })
})

it('A reader who joins late and loses the connection finally sees the same as the server, nothing twice', async () => {
  await using hall = await openHall()
  const { stage, model, runId } = hall
  model.say('Before anybody came. ')
  model.answer()
  model.say('Half of it is there. ')
  await expect.poll(async () => (await stage.client.runs.get(runId)).lastSeq).toBeGreaterThan(9)
  await visit(browser, stage.url, {
    viewport: { width: 1440, height: 2_000 },
    use: async ({ page }) => {
      await lineOf(page, runId).getByRole('link').click()
      await work(page, 'write').getByText('Half of it is there.').waitFor()
      stage.cut({ stay: true })
      await page.getByText('Reconnecting…').first().waitFor()
      model.say('This was said to nobody. ')
      stage.restore()
      await work(page, 'write').getByText('This was said to nobody.').waitFor()
      stage.cut()
      model.say('And this is the end.')
      model.answer()
      await page.getByText('Completed').first().waitFor()
      const said = new Map<string, string>()
      let events = 0
      for await (const event of stage.client.runs.events(runId)) {
        events += 1
        if (event.type === 'token') {
          said.set(event.taskName, (said.get(event.taskName) ?? '') + event.token)
        }
      }
      expect([...said.keys()]).toEqual(['sketch', 'write'])
      for (const [name, words] of said) {
        await page.goto(`${stage.url}/#/runs/${runId}?task=${name}`)
        const call = work(page, name).getByRole('article', { name: 'Model call 1' })
        await call.getByText(words.trim(), { exact: true }).waitFor()
        const text = await call.innerText()
        for (const sentence of words.trim().split(/(?<=\.) /)) expect(times(text, sentence)).toBe(1)
      }
      await page.getByRole('tab', { name: 'Events' }).click()
      await page.getByText(new RegExp(`^${events} events, `)).waitFor()
    },
  })
})
