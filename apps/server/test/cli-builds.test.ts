/** Runs `tutti replay` and `tutti migrate` against a server before and after a deploy. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { tutti as run } from './cli-process.ts'
import { POLLING, recordSteps, submit, type StepRecorder } from './recorded-steps.ts'
import { temporaryDirectory, type ServerProcess } from './server-process.ts'

const home = temporaryDirectory()
let files: StepRecorder
let server: ServerProcess
/** A run that completed before the deploy. */
let completedRun: string
/** A run that the deploy interrupted in its second task. */
let interruptedRun: string

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
  files.hold(2)
  interruptedRun = await submit(server)
  await files.untilBegun(interruptedRun, 2)
  await server.end('SIGKILL')
  files.release(2)
  server = await files.start({ TUTTI_BUILD_ID: 'v2', CREW_PLAN: 'Sketch {topic}' })
}

describe('tutti replay and tutti migrate', () => {
  it('replays a run, and shows the difference after a deploy with exit code 1', async () => {
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

  it('moves a run that waits for its build, after it has shown the differences', async () => {
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
    const moved = await tutti('migrate', interruptedRun, '--to', 'v2', '--json')
    expect(JSON.parse(moved.stdout)).toMatchObject({ runId: interruptedRun, moved: true })
    await expect.poll(status, POLLING).toBe('COMPLETED')
  })
})
