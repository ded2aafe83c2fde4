/** Tests one process on the embedded store. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { recordSteps, readEvents, numbers, submit, untilReviewed } from './recorded-steps.ts'

describe('one process on the embedded store', () => {
  it('One process on the embedded store retains an open review and its time limit over kill -9, and accepts a decision afterwards', async () => {
    using files = recordSteps()
    const first = await files.start({})
    const runIds = [await submit(first, 'panel'), await submit(first, 'hasty-panel')]
    const [lasting, hasty] = await Promise.all(runIds.map((runId) => untilReviewed(first, runId)))
    await first.end('SIGKILL')
    await using second = await files.start({})
    const { reviews } = second.client()
    expect((await reviews.list({ runId: lasting?.runId ?? '' })).reviews).toEqual([lasting])
    const timedOut = await readEvents(second, hasty?.runId ?? '')
    expect(timedOut.filter(({ type }) => type === 'review_requested')).toHaveLength(1)
    expect(timedOut.at(-1)).toMatchObject({ status: 'COMPLETED' })
    await reviews.decide(lasting?.reviewId ?? '', { decision: 'EXIT_EARLY' })
    const events = await readEvents(second, lasting?.runId ?? '')
    expect(events.find(({ type }) => type === 'review_decided')).toMatchObject({
      decision: 'EXIT_EARLY',
    })
  })

  it('One process on the embedded store executes a repeated submission with the same key once, also after a restart', async () => {
    using files = recordSteps()
    const send = async (server: Awaited<ReturnType<typeof files.start>>, topic: string) => {
      const { runs } = server.client()
      return (await runs.submit({ inputs: { topic } }, { idempotencyKey: 'order-7' })).runId
    }
    files.hold(1)
    const first = await files.start({})
    const runId = await send(first, 'tea')
    expect(await send(first, 'tea')).toBe(runId)
    await files.untilBegun(runId, 1)
    await first.end('SIGKILL')
    files.release(1)
    await using second = await files.start({})
    expect(await send(second, 'tea')).toBe(runId)
    await expect(send(second, 'coffee')).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
    expect((await readEvents(second, runId)).at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(numbers(files.steps(runId), 'end')).toEqual([1, 2, 3, 4])
    expect((await second.client().runs.list()).total).toBe(1)
  })

  it('One process on the embedded store is backed up while it runs as docs/production.md describes, and a copy continues from there', async () => {
    using files = recordSteps()
    files.hold(2)
    await using first = await files.start({})
    const runId = await submit(first)
    await files.untilBegun(runId, 2)
    const data = join(files.directory, 'data')
    execFileSync(process.execPath, ['-e', backupCode().replaceAll('/data/', `${data}/`)])
    await first.end('SIGKILL')
    const copy = join(files.directory, 'copy')
    mkdirSync(copy)
    renameSync(join(data, 'backup.sqlite'), join(copy, 'runs.sqlite'))
    files.release(2)
    await using second = await files.start({ TUTTI_DATA_DIR: copy })
    expect((await readEvents(second, runId)).at(-1)).toMatchObject({ status: 'COMPLETED' })
    // The interrupted call is repeated; completed calls are not.
    expect(numbers(files.steps(runId), 'begin')).toEqual([1, 2, 2, 3, 4])
  })

  it('One process on the embedded store steers a running run', async () => {
    using files = recordSteps()
    await using server = await files.start({})
    const { runs } = server.client()
    files.hold(2)
    const runId = await submit(server)
    await files.untilBegun(runId, 2)
    await runs.switchModel(runId, 'second', { taskName: 'work' })
    await runs.inject(runId, 'Hurry')
    files.release(2)
    const events = await readEvents(server, runId)
    const types = events.map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['model_switched', 'directive_delivered']))
    expect(events.findLast((event) => event.type === 'llm_iteration_started')).toMatchObject({
      model: 'second',
    })
  })

  it('One process on the embedded store does not load the Postgres driver', async () => {
    using files = recordSteps()
    const hook = `import { registerHooks } from 'node:module'
      registerHooks({ load(url, context, next) {
        if (/postgres|[/]pg[/]/.test(url)) throw new Error('Loaded ' + url)
        return next(url, context)
      } })`
    await using server = await files.start({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
    })
    expect((await readEvents(server, await submit(server))).at(-1)).toMatchObject({
      status: 'COMPLETED',
    })
    const { code, errors } = await files.refused({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
      DATABASE_URL: 'postgres://tutti@127.0.0.1:1/tutti',
      TUTTI_DATA_DIR: 'other',
    })
    expect([code, errors]).toEqual([1, expect.stringMatching(/Loaded .*postgres/)])
  })
})

/** Returns the program of the documented backup, which has the paths of the container. */
function backupCode(): string {
  const page = fileURLToPath(new URL('../../../docs/production.md', import.meta.url))
  const [, code = ''] = /docker exec tutti node -e "([^"]+)"/.exec(readFileSync(page, 'utf8')) ?? []
  expect(code).toContain("'/data/runs.sqlite'")
  return code
}
