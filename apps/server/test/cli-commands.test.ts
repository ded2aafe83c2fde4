/** Runs the commands that query and steer a server, as processes against a running server. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { freePort } from '../../../tooling/postgres/free-port.ts'
import { PROGRAM, tutti as run, type CommandOptions } from './cli-process.ts'
import {
  recordSteps,
  readEvents,
  submit,
  untilReviewed,
  type StepRecorder,
} from './recorded-steps.ts'
import { temporaryDirectory, type ServerProcess } from './server-process.ts'
import { KEYS, openTerminal } from './terminal.ts'

const home = temporaryDirectory()
let files: StepRecorder
let server: ServerProcess

/** Runs a command against the server. */
function tutti(args: readonly string[], { env, ...others }: CommandOptions = {}) {
  return run(args, { cwd: home.path, ...others, env: { TUTTI_URL: server.url, ...env } })
}

beforeAll(async () => {
  files = recordSteps()
  server = await files.start({})
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  files[Symbol.dispose]()
  home[Symbol.dispose]()
})

/** Starts a run of the crew that is held in call 2 of its tool. */
async function startHeldRun(): Promise<string> {
  files.hold(2)
  const runId = await submit(server)
  await files.untilBegun(runId, 2)
  return runId
}

describe('tutti runs', () => {
  it('`tutti runs` lists runs, with filters, as a table and as the JSON of the API', async () => {
    expect(await tutti(['runs'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No runs yet. Start one: tutti run\n',
    })
    const { runs } = server.client()
    const done = await runs.run({ inputs: { topic: 'tea' }, tags: { team: 'a' } })
    const runId = await startHeldRun()
    const [all, json, tagged, none, limited] = await Promise.all([
      tutti(['runs']),
      tutti(['runs', '--json', '--all']),
      tutti([
        'runs',
        '--tag',
        'team:a',
        '-s',
        'completed,failed',
        '--ensemble',
        'crew',
        '-q',
        'TEA',
      ]),
      tutti(['runs', '--status', 'FAILED']),
      tutti(['runs', '-n', '1']),
    ])
    const lines = all.stdout.split('\n')
    expect(lines[0]).toMatch(/^RUN +STATUS +ENSEMBLE +AGE +TIME +TOKENS +COST +DONE +AT$/)
    expect(lines[1]).toMatch(
      new RegExp(`^${runId} +RUNNING +crew +\\d+ s +[\\d.]+ m?s +[\\d,]+ +\\$0\\.00 +1/2 +work$`),
    )
    expect(lines[2]).toMatch(new RegExp(`^${done.runId} +COMPLETED +crew .* 2/2 +-$`))
    expect(lines.slice(1, 3).map((line) => line.indexOf('crew'))).toEqual(
      Array(2).fill(lines[0]?.indexOf('ENSEMBLE')),
    )
    expect(all.stdout + all.stderr).not.toContain('\x1b')
    expect(JSON.parse(json.stdout).total).toBe(2)
    expect(JSON.parse(json.stdout).runs[1]).toEqual((await runs.list()).runs[1])
    expect(tagged.stdout.trim().split('\n')).toEqual([
      expect.any(String),
      expect.stringContaining(done.runId),
    ])
    expect(none).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No matching runs. List all runs: tutti runs\n',
    })
    expect(limited.stdout.trim().split('\n')).toHaveLength(2)
    expect(limited.stderr).toBe('Showing the newest 1 of 2; use --limit or --all for more\n')
    await server.client().runs.cancel(runId)
    await readEvents(server, runId)
    files.release(2)
  })

  it('`tutti runs` shows one run with its tasks, and exits silently when its output is closed', async () => {
    const { runs } = server.client()
    const { runId } = await runs.run({ inputs: { topic: 'tea' }, tags: { team: 'b' } })
    const [shown, json, unfit] = await Promise.all([
      tutti(['runs', runId]),
      tutti(['runs', runId, '--json']),
      tutti(['runs', runId, '--status', 'RUNNING']),
    ])
    expect(shown.stdout).toMatch(new RegExp(`^${runId}  COMPLETED  crew, PARALLEL\n`))
    expect(shown.stdout).toMatch(
      /\n {2}inputs {3}topic=tea\n {2}tags {5}team=b\n {2}used .*4 tool calls/,
    )
    expect(shown.stdout).toMatch(/\nTASK +STATUS +TIME[^\n]+\nplan +COMPLETED .*\nwork +COMPLETED /)
    expect(shown.stdout).toMatch(/\nwork\n {2}All done\n$/)
    expect(JSON.parse(json.stdout)).toEqual(await runs.get(runId))
    expect(unfit).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--status filters the list'),
    })
    // The reader has exited before the command writes.
    const { stderr, stdout } = spawnSync(
      '/bin/sh',
      [
        '-c',
        `"${process.execPath}" "${PROGRAM}" runs ${runId}; echo "code $?" >&2) | true`.replace(
          /^/,
          '(',
        ),
      ],
      { env: { ...process.env, TUTTI_URL: server.url }, encoding: 'utf8' },
    )
    expect([stdout, stderr]).toEqual(['', 'code 0\n'])
  })
})

describe('tutti cancel', () => {
  it('`tutti cancel` cancels runs by id and by tag, and reports those that it cannot cancel', async () => {
    files.hold(2)
    const [one, other] = [await startHeldRun(), await startHeldRun()]
    const both = await tutti(['cancel', one, 'run-none', other, '--wait'])
    expect(both).toEqual({
      code: 4,
      stdout: `${one}  CANCELLED\n${other}  CANCELLED\n`,
      stderr: expect.stringMatching(
        /^run-none: .*RUN_NOT_FOUND.*\nList the runs of this server: tutti runs\n$/,
      ),
    })
    const { runs } = server.client()
    const { runId } = await runs.submit({ inputs: { topic: 'x' }, tags: { batch: '7' } })
    await files.untilBegun(runId, 2)
    const json = await tutti(['cancel', '-t', 'batch:7', '--json'])
    expect(JSON.parse(json.stdout)).toEqual({ runs: [{ runId, status: 'CANCELLING' }], total: 1 })
    await readEvents(server, runId)
    const [over, none, neither, mode] = await Promise.all([
      tutti(['cancel', runId]),
      tutti(['cancel', '--tag', 'batch:8']),
      tutti(['cancel']),
      tutti(['cancel', runId, '--mode', 'later']),
    ])
    expect(over).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('RUN_COMPLETED'),
    })
    expect(none).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('No unfinished run has the tag'),
    })
    expect(neither).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('tutti cancel --tag key:value'),
    })
    expect(mode).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--mode.*later.*abort, boundary/),
    })
  })

  it('`tutti cancel` lets the running task end with --mode boundary, and exits with 4 when the run completed', async () => {
    const runId = await startHeldRun()
    const cancelling = tutti(['cancel', runId, '-m', 'boundary', '-w'])
    await expect.poll(async () => (await server.client().runs.get(runId)).status).toBe('CANCELLING')
    files.release(2)
    expect(await cancelling).toMatchObject({ code: 4, stdout: `${runId}  COMPLETED\n` })
  })
})

describe('tutti deliver', () => {
  it('`tutti deliver` sends an event with JSON or a file, says where it went, and refuses data that is not JSON', async () => {
    writeFileSync(join(home.path, 'paid.json'), '{"amount":1}')
    const sent = ['deliver', 'paid', '--key', 'o-1', '--id', 'e-1', '--data', '{"amount":1}']
    expect(await tutti(sent)).toMatchObject({ code: 0, stdout: 'STORED  event e-1\n' })
    const [again, file, stdin, other, wrong, missing, unknown] = await Promise.all([
      tutti([...sent, '--json']),
      tutti([...sent.slice(0, -1), '@paid.json']),
      tutti([...sent.slice(0, -1), '-'], { input: '{"amount":1}' }),
      tutti(['deliver', 'paid', '--id', 'e-1']),
      tutti(['deliver', 'paid', '--data', '{amount']),
      tutti(['deliver', 'paid', '--data', '@none.json']),
      tutti(['deliver', 'paid', '--run', 'none']),
    ])
    expect(JSON.parse(again.stdout)).toEqual({ id: 'e-1', status: 'STORED' })
    // Other data under the same id would be refused.
    expect([file.stdout, stdin.stdout]).toEqual(['STORED  event e-1\n', 'STORED  event e-1\n'])
    expect(other.stderr).toContain('Another event has the id "e-1"')
    expect(wrong.stderr).toContain('--data must be JSON: ')
    expect(missing.stderr).toContain('Cannot read "none.json"')
    expect(unknown.stderr).toContain('none')
    expect([other, wrong, missing, unknown].every(({ code }) => code !== 0)).toBe(true)
  })
})

describe('subcommands', () => {
  it.each([
    [['schedules', 'pausse', 'x'], "Unknown subcommand 'pausse'", "Did you mean 'pause'?"],
    [['builds', 'shares'], "Unknown subcommand 'shares'", "Did you mean 'share'?"],
    [['tools', 'call', 'step'], "Unknown subcommand 'call'", 'Available: [invoke]'],
  ])('An unknown subcommand is named, with the known ones: %j', async (args, ...texts) => {
    const { code, stderr } = await tutti(args)
    expect(code).toBe(2)
    for (const text of texts) expect(stderr).toContain(text)
  })
})

describe('tutti tools', () => {
  it('`tutti tools` lists the tools, and calls one with values of the types in its schema', async () => {
    writeFileSync(join(home.path, 'input.json'), '{"n":3}')
    const [list, json, called, whole, file, stdin, failed, asJson] = await Promise.all([
      tutti(['tools']),
      tutti(['tools', '--json']),
      tutti(['tools', 'invoke', 'step', 'n=5']),
      tutti(['tools', 'invoke', 'step', '--input', '{"n":1}']),
      tutti(['tools', 'invoke', 'step', '--input', '@input.json']),
      tutti(['tools', 'invoke', 'step', '-i', '-'], { input: '{"n":4}' }),
      tutti(['tools', 'invoke', 'step', 'n=many']),
      tutti(['tools', 'invoke', 'step', 'n=6', '--json']),
    ])
    expect(list.stdout).toMatch(
      /^TOOL +INPUT +DESCRIPTION\nstep +\{ n: integer \} +Does one step\n$/,
    )
    expect(JSON.parse(json.stdout)).toEqual(await server.client().tools.list())
    for (const [ended, n] of [
      [called, 5],
      [whole, 1],
      [file, 3],
      [stdin, 4],
    ] as const) {
      expect(ended).toEqual({ code: 0, stdout: `did ${n}\n`, stderr: '' })
    }
    expect(failed).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'Invalid input of tool "step" (BAD_REQUEST)\n  /input/n: must be an integer, got "many"\n',
    })
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      tool: 'step',
      status: 'SUCCESS',
      output: 'did 6',
    })
  })

  it('`tutti tools` reports invalid names and inputs with the expected ones', async () => {
    const [name, key, both, missing] = await Promise.all([
      tutti(['tools', 'invoke', 'stpe']),
      tutti(['tools', 'invoke', 'step', 'm=5']),
      tutti(['tools', 'invoke', 'step', 'n=5', '--input', '{}']),
      tutti(['tools', 'invoke', 'step', '-i', '@none.json']),
    ])
    expect(name).toMatchObject({ code: 4, stderr: expect.stringContaining('Did you mean "step"?') })
    expect(key).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The tool takes { n: integer }'),
    })
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('either as key=value') })
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Cannot read "none.json"'),
    })
  })
})

describe('tutti review', () => {
  it('`tutti review` lists open reviews, and makes each kind of decision', async () => {
    const [none, unknown] = await Promise.all([tutti(['review']), tutti(['review', 'review-none'])])
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'No open reviews\n' })
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('tutti review') })
    writeFileSync(join(home.path, 'better.md'), 'Tea it is\n')
    const [first, second, third, fourth] = [
      await startReviewedRun(),
      await startReviewedRun(),
      await startReviewedRun(),
      await startReviewedRun(),
    ]
    const [list, json, shown, undecided] = await Promise.all([
      tutti(['review']),
      tutti(['review', '--json', '--run', first.runId]),
      tutti(['review', first.reviewId, '--json']),
      tutti(['review', first.reviewId]),
    ])
    expect(list.stdout).toMatch(/^REVIEW +TIME +TASK +ENSEMBLE +RUN\n/)
    expect(list.stdout).toMatch(
      new RegExp(`\n${first.reviewId} +9 min left +decide +panel +${first.runId}\n  Good\\?\n`),
    )
    expect(JSON.parse(json.stdout)).toEqual({ reviews: [first], total: 1 })
    expect(JSON.parse(shown.stdout)).toEqual(first)
    expect(undecided).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--approve | --edit'),
    })
    const decided = await Promise.all([
      tutti(['review', first.reviewId, '--approve']),
      tutti(['review', second.runId, '--edit', 'better.md']),
      tutti(['review', third.reviewId, '--exit', '--json']),
      tutti(['review', fourth.reviewId, '--reject', 'More tea']),
    ])
    expect(decided.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(decided[0]?.stdout).toBe(`${first.reviewId} CONTINUE\n`)
    expect(decided[1]?.stdout).toBe(`${second.reviewId} EDIT\n`)
    expect(JSON.parse(decided[2]?.stdout ?? '')).toMatchObject({ decision: 'EXIT_EARLY' })
    expect((await readEvents(server, second.runId)).at(-1)).toMatchObject({
      outputs: [{ output: 'Tea it is' }],
    })
    const again = await untilReviewed(server, fourth.runId)
    expect(again.attempt).toBe(2)
    const [twice, two] = await Promise.all([
      tutti(['review', first.reviewId, '--approve']),
      tutti(['review', again.reviewId, '--approve', '--exit']),
    ])
    expect(twice).toMatchObject({ code: 4, stderr: expect.stringContaining('REVIEW_RESOLVED') })
    expect(two).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--approve.*--exit|--exit.*--approve/),
    })
    await server.client().reviews.decide(again.reviewId, { decision: 'EXIT_EARLY' })
  })

  it('`tutti review` asks for all open reviews in turn on a terminal, and lists them with --list', async () => {
    const reviews = [await startReviewedRun(), await startReviewedRun()]
    const env = { TUTTI_URL: server.url }
    await using list = openTerminal(['review', '--list'], { env, cols: 80 })
    expect(await list.ended()).toBe(0)
    const listed = list.history()
    for (const { reviewId } of reviews) {
      const at = listed.findIndex((line) => line.startsWith(reviewId))
      expect(listed[at + 1]).toBe('  Good?')
    }
    await using terminal = openTerminal(['review'], { env })
    await terminal.until('Approve')
    terminal.write(KEYS.enter)
    await terminal.until(/ CONTINUE[^]*Approve/)
    terminal.write(KEYS.enter)
    expect(await terminal.ended()).toBe(0)
    for (const { runId, reviewId } of reviews) {
      expect(terminal.history()).toContain(`${reviewId} CONTINUE`)
      expect((await readEvents(server, runId)).at(-1)).toMatchObject({ status: 'COMPLETED' })
    }
  })

  it('`tutti review` asks for a decision on a terminal', async () => {
    const review = await startReviewedRun()
    const env = { TUTTI_URL: server.url }
    await using later = openTerminal(['review', review.reviewId], { env })
    await later.until('Approve')
    later.write(KEYS.escape)
    expect(await later.ended()).toBe(6)
    const other = await startReviewedRun()
    await using late = openTerminal(['review', other.reviewId], { env })
    await late.until('Approve')
    await server.client().reviews.decide(other.reviewId, { decision: 'CONTINUE' })
    expect(await late.ended()).toBe(4)
    expect(late.history().at(-1)).toBe(`Review "${other.reviewId}" is already closed`)
    await using terminal = openTerminal(['review', review.reviewId], { env })
    await terminal.until('Good?')
    await terminal.until('Approve')
    terminal.write(KEYS.enter)
    expect(await terminal.ended()).toBe(0)
    expect(terminal.history().at(-1)).toBe(`${review.reviewId} CONTINUE`)
    expect((await readEvents(server, review.runId)).at(-1)).toMatchObject({ status: 'COMPLETED' })
  })
})

async function startReviewedRun() {
  return untilReviewed(server, await submit(server, 'panel'))
}

describe('every command', () => {
  it('Every command fits its output into the terminal, and colors it unless NO_COLOR is set', async () => {
    const env = { TUTTI_URL: server.url }
    await using colored = openTerminal(['runs'], { env, cols: 40 })
    await using plain = openTerminal(['runs'], { env: { ...env, NO_COLOR: '1' }, cols: 40 })
    expect(await colored.ended()).toBe(0)
    expect(await plain.ended()).toBe(0)
    expect(colored.written).toContain('\x1b[32mCOMPLETED')
    expect(plain.written).not.toContain('\x1b[')
    expect(plain.history().every((line) => /^(?:RUN|run-)/.test(line))).toBe(true)
  })

  it('Every command reports errors with advice, and with an exit code for each kind', async () => {
    const nowhere = { TUTTI_URL: `http://127.0.0.1:${await freePort()}` }
    const [missing, gone, noUrl, command, helpOn, option, value, help, version] = await Promise.all(
      [
        tutti(['runs', 'run-none']),
        tutti(['runs'], { env: nowhere }),
        tutti(['runs', '--url', 'localhost:7329']),
        tutti(['cancle']),
        tutti(['help', 'cancle']),
        tutti(['runs', '--stats', 'FAILED']),
        tutti(['runs', '--status', 'BROKEN']),
        tutti(['help', 'runs']),
        tutti(['--version']),
      ],
    )
    expect(missing).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('tutti runs'),
    })
    expect(gone).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /^Cannot reach http:\/\/127\.0\.0\.1:\d+: connect ECONNREFUSED .*\n.*tutti dev\n/,
      ),
    })
    expect(noUrl).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--url must be an http'),
    })
    for (const ended of [command, helpOn]) {
      expect(ended).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Did you mean cancel?'),
      })
    }
    expect(option).toMatchObject({ code: 2, stderr: expect.stringContaining('--status') })
    expect(value).toMatchObject({ code: 2, stderr: expect.stringContaining('WAITING_REVIEW') })
    expect(help).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('--ensemble'),
    })
    expect(version).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/),
    })
  })

  it('Every command reports a missing key and a missing scope', async () => {
    using other = recordSteps()
    const reader = 'a-key-that-only-reads'
    await using guarded = await other.start({ TUTTI_API_KEYS: `reader:runs:read:${reader}` })
    const url = { TUTTI_URL: guarded.url }
    const [none, lacking, read] = await Promise.all([
      run(['runs'], { env: url }),
      run(['cancel', '--tag', 'a'], { env: { ...url, TUTTI_API_KEY: reader } }),
      run(['runs', '--json'], { env: { ...url, TUTTI_API_KEY: reader } }),
    ])
    expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('TUTTI_API_KEY') })
    expect(lacking).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/runs:control.*scope/s),
    })
    expect(read).toMatchObject({ code: 0, stdout: '{\n  "runs": [],\n  "total": 0\n}\n' })
  })
})
