import { afterAll, beforeAll, it } from 'vitest'
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { concert } from './d-concert.ts'
import { launchBrowser, openStage, visit, type Stage } from './stage.ts'
import { submitMany, bigEnsembles } from './big-runs.ts'
import type { Browser } from 'playwright-core'
let browser: Browser, stage: Stage
beforeAll(async () => {
  const { options, begin } = concert()
  const many = Array.from({ length: 12 }, (_, i) => task({ name: `step ${i}`, description: `Step ${i}`, handler: () => 'x' }))
  stage = await openStage({ ...options, ensembles: [...options.ensembles, ...bigEnsembles().ensembles, ensemble({ name: 'a-very-long-name-of-an-ensemble-that-somebody-chose', tasks: many, model: scriptedModel(() => 'x') })] })
  await submitMany(stage.client, 130)
  await stage.client.runs.submit({ ensemble: 'a-very-long-name-of-an-ensemble-that-somebody-chose', tags: { customer: 'A rather long name of a customer GmbH & Co. KG', team: 'strings', env: 'prod', more: 'x' } }, { wait: 30 })
  await begin(stage.client)
  browser = await launchBrowser()
}, 60_000)
afterAll(async () => { await browser?.close(); await stage?.[Symbol.asyncDispose]() })
it('looks', async () => {
  for (const [name, colorScheme, width, height, hash] of [
    ['light', 'light', 1440, 900, '#/runs'], ['dark', 'dark', 1440, 900, '#/runs?status=active'],
    ['phone', 'light', 390, 844, '#/runs'], ['mid', 'light', 900, 700, '#/runs?tag=team:strings&q=mus'], ['empty', 'light', 1440, 900, '#/runs?q=zzz'],
  ] as const) {
    await visit(browser, `${stage.url}/${hash}`, { colorScheme, viewport: { width, height }, use: async ({ page, complaints, requests }) => {
      await page.getByRole('heading', { name: 'Runs' }).waitFor()
      await page.getByRole('status').getByText(/run/).first().waitFor()
      await page.waitForTimeout(600)
      await page.screenshot({ path: `/tmp/D/shots/${name}.png` })
      console.log(name, complaints, requests.filter((r) => r.includes('api')))
    } })
  }
}, 60_000)
