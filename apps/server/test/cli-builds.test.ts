/** Runs `tutti replay`, `tutti migrate` and `tutti builds` against a server before and after a deploy. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { tutti as run } from './cli-process.ts'
import { POLLING, recordSteps, submit, untilReviewed, type StepRecorder } from './recorded-steps.ts'
import { temporaryDirectory, type ServerProcess } from './server-process.ts'

const home = temporaryDirectory()
let files: StepRecorder
let server: ServerProcess
/** A run that completed before the deploy. */
let completedRun: string
/** A run that the deploy interrupted in its second task. */
let interruptedRun: string
/** A run that waited for a review before the deploy. */
let reviewedRun: string

function tutti(...args: readonly string[]) {
  return run(args, { cwd: home.path, env: { TUTTI_URL: server.url } })
}

beforeAll(async () => {
  files = recordSteps()
  server = await files.start({ TUTTI_BUILD_ID: 'v1' })
  const { runs } = server.client()
  completedRun = (await runs.run({ ensemble: 'crew', inputs: { topic: 'tea' } })).runId
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  files[Symbol.dispose]()
  home[Symbol.dispose]()
})

/** Replaces the server by one whose first task has another description. */
async function deploy(): Promise<void> {
  reviewedRun = await submit(server, 'panel')
  await untilReviewed(server, reviewedRun)
  files.hold(2)
  interruptedRun = await submit(server)
  await files.untilBegun(interruptedRun, 2)
  await server.end('SIGKILL')
  files.release(2)
  server = await files.start({
    TUTTI_BUILD_ID: 'v2',
    CREW_PLAN: 'Sketch {topic}',
    CREW_PANEL: 'Judge {topic}',
  })
}

describe('tutti builds', () => {
  it('`tutti builds` lists the builds, sets a share, and submits a run to a build that has a process', async () => {
    const set = await tutti('builds', 'share', 'v1', '25')
    expect(set).toMatchObject({ code: 0, stdout: 'v1  25 % of new runs\n' })
    const [list, json, wrong, unknown, submitted, refused] = await Promise.all([
      tutti('builds'),
      tutti('builds', '--json'),
      tutti('builds', 'share', 'v1', '101'),
      tutti('builds', 'share', 'v9', '5'),
      tutti('run', 'crew', 'topic=tea', '--build', 'v1', '--detach', '--json'),
      tutti('run', 'crew', 'topic=tea', '--build', 'v9', '--detach'),
    ])
    expect(list).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^BUILD +ENSEMBLE +CODE +FIRST STARTED +PROCESSES +SHARE +RUNS\nv1 +[\w-]+ +[0-9a-f]{16} +\S+ +1 +25 % +/,
      ),
    })
    expect(JSON.parse(json.stdout)).toMatchObject({
      current: 'v1',
      builds: expect.arrayContaining([
        expect.objectContaining({ build: 'v1', ensemble: 'crew', processes: 1, share: 25 }),
      ]),
    })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('got "101"') })
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('v9') })
    expect(submitted.code).toBe(0)
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Living builds: [v1]'),
    })
  })
})

describe('tutti replay and tutti migrate', () => {
  it('`tutti replay` replays a run, and shows the difference after a deploy with exit code 1', async () => {
    const [same, live, unknown, noMode] = await Promise.all([
      tutti('replay', completedRun),
      tutti('replay', completedRun, '--mode', 'models', '--json'),
      tutti('replay', 'run-none'),
      tutti('replay', completedRun, '--mode', 'live'),
    ])
    expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+  COMPLETED\n$/) })
    expect(JSON.parse(live.stdout)).toMatchObject({
      status: 'COMPLETED',
      parent: { runId: completedRun, replay: 'models' },
    })
    expect(files.steps(JSON.parse(live.stdout).runId)).toEqual([])
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('run-none') })
    expect(noMode).toMatchObject({ code: 2, stderr: expect.stringContaining('"live"') })
    await deploy()
    const changed = await tutti('replay', completedRun)
    expect(changed).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^\S+  FAILED\n$/),
      stderr: expect.stringContaining('model_turn 0 of task "plan"'),
    })
  })

  it('`tutti migrate` moves a run that waits for its build, after it has shown the differences', async () => {
    const status = async () => (await server.client().runs.get(interruptedRun)).status
    await expect.poll(status, POLLING).toBe('WAITING_FOR_BUILD')
    const [preview, nowhere, unknown] = await Promise.all([
      tutti('migrate', interruptedRun, '--to', 'v2', '--preview'),
      tutti('migrate', interruptedRun),
      tutti('migrate', interruptedRun, '--to', 'v3'),
    ])
    expect(preview).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^\S+  v1 -> v2\n  plan\.description\n    - Plan \{topic\}\n    \+ Sketch \{topic\}\n\S+  not moved\n$/,
      ),
    })
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('--to BUILD') })
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('"v3"') })
    expect(await status()).toBe('WAITING_FOR_BUILD')
    const shown = await tutti('runs', interruptedRun)
    expect(shown.stdout).toMatch(/^ {2}build +v1\n {2}needs +v1$/m)
    const moved = await tutti('migrate', interruptedRun, '--to', 'v2', '--json')
    expect(JSON.parse(moved.stdout)).toMatchObject({ runId: interruptedRun, moved: true })
    await expect.poll(status, POLLING).toBe('COMPLETED')
  })

  it('`tutti migrate` says that a decided run waits for its build; moved, it asks again about its new text', async () => {
    const decided = await tutti('review', reviewedRun, '--approve')
    expect(decided).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\S+ CONTINUE\n$/),
      stderr: `The decision is stored. Run ${reviewedRun} continues when a process of build v1 starts; or move it to another build: tutti migrate ${reviewedRun} --to BUILD\n`,
    })
    const { runs } = server.client()
    expect((await runs.get(reviewedRun)).status).toBe('WAITING_FOR_BUILD')
    expect((await tutti('migrate', reviewedRun, '--to', 'v2')).code).toBe(0)
    await untilReviewed(server, reviewedRun)
  })
})
