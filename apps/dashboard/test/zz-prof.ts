import { writeFileSync } from 'node:fs'
import { launchBrowser, openStage, visit } from './stage.ts'
import { bigEnsembles, startBigRun } from './big-runs.ts'
const stage = await openStage({ ...bigEnsembles() })
const browser = await launchBrowser()
const runId = await startBigRun(stage.client)
await stage.client.runs.result(runId)
await visit(browser, stage.url, { viewport: { width: 1440, height: 900 }, async use({ page }) {
  await page.getByRole('heading', { name: 'Runs' }).waitFor()
  const s = await page.context().newCDPSession(page)
  await s.send('Profiler.enable'); await s.send('Profiler.setSamplingInterval', { interval: 500 }); await s.send('Profiler.start')
  const t = performance.now()
  await page.goto(`${stage.url}/#/runs/${runId}`)
  await page.getByText('Completed', { exact: true }).first().waitFor({ timeout: 120_000 })
  console.log('ms', performance.now() - t)
  const { profile } = await s.send('Profiler.stop')
  const self = new Map<string, number>(); const byId = new Map(profile.nodes.map((n) => [n.id, n]))
  const dt = profile.timeDeltas ?? []
  profile.samples?.forEach((id, i) => { const n = byId.get(id)!; const k = `${n.callFrame.functionName || '(anon)'} ${n.callFrame.url.split('/').pop()}:${n.callFrame.lineNumber}:${n.callFrame.columnNumber}`; self.set(k, (self.get(k) ?? 0) + (dt[i] ?? 0) / 1000) })
  for (const [k, v] of [...self].sort((a, b) => b[1] - a[1]).slice(0, 45)) console.log(v.toFixed(0).padStart(6), k)
  writeFileSync('/tmp/L/prof.json', JSON.stringify(profile))
} })
await browser.close(); await stage[Symbol.asyncDispose]()
