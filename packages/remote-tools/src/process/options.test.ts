import { pathToFileURL } from 'node:url'

import { systemClock } from '@tutti/core'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { resolveProgramOptions, type ProgramOptions } from './options.ts'

const GIVEN = { name: 'work', command: 'python3' }

describe('the options of a program', () => {
  it('The options of a program default to one program per call, a mebibyte and a second to clean up', () => {
    expect(resolveProgramOptions(GIVEN)).toEqual({
      command: 'python3',
      args: [],
      cwd: undefined,
      env: {},
      inheritEnv: [],
      maxOutputBytes: 1_048_576,
      killGraceMs: 1_000,
      worker: undefined,
      clock: systemClock,
      declaresOutput: false,
    })
  })

  it('The options of a program are used as given', () => {
    const clock = fakeClock()
    const options: ProgramOptions = {
      command: './tool',
      args: ['a b', '$HOME'],
      cwd: '/opt/tools',
      env: { A: '1' },
      inheritEnv: true,
      maxOutputBytes: 10,
      killGraceMs: 0,
      mode: 'once',
      clock,
    }
    const { mode: _, ...kept } = options
    expect(resolveProgramOptions({ name: 'work', ...options, output: {} })).toEqual({
      ...kept,
      worker: undefined,
      declaresOutput: true,
    })
  })

  it('The options of a program do not change when their arrays are changed later', () => {
    const args = ['a']
    const env = { A: '1' }
    const resolved = resolveProgramOptions({ ...GIVEN, args, env })
    args.push('b')
    env.A = '2'
    expect(resolved).toMatchObject({ args: ['a'], env: { A: '1' } })
  })

  it('The options of a program accept a file URL as the directory', () => {
    const { cwd } = resolveProgramOptions({ ...GIVEN, cwd: pathToFileURL('/opt/my tools/') })
    expect(cwd).toBe('/opt/my tools/')
  })
})

describe('the options of workers', () => {
  it('The options of workers default to one program, one concurrent call and a minute of idle time', () => {
    const defaults = {
      size: 1,
      concurrency: 1,
      maxCallsPerWorker: Infinity,
      idleTimeoutMs: 60_000,
      maxRestarts: 5,
      startTimeoutMs: undefined,
    }
    expect(workerOf({ mode: 'worker' })).toEqual(defaults)
    expect(workerOf({ mode: 'worker', worker: {} })).toEqual(defaults)
  })

  it('The options of workers are used as given', () => {
    const worker = {
      size: 2,
      concurrency: 3,
      maxCallsPerWorker: 4,
      idleTimeoutMs: Infinity,
      maxRestarts: 0,
      startTimeoutMs: 6,
    }
    expect(workerOf({ mode: 'worker', worker })).toEqual(worker)
  })

  it('The options of workers treat an infinite start timeout as none', () => {
    expect(workerOf({ mode: 'worker', worker: { startTimeoutMs: Infinity } })).toMatchObject({
      startTimeoutMs: undefined,
    })
  })
})

describe('invalid options are rejected', () => {
  const LONGEST = 2_147_483_647

  it.each<[object, string]>([
    [{ command: '' }, 'command must name a program, got ""'],
    [{ command: ' ' }, 'command must name a program, got " "'],
    [{ command: 'a\0b' }, 'command must name a program, got "a\\u0000b"'],
    [{ command: undefined }, 'command must name a program, got undefined'],
    [{ command: ['python3'] }, 'command must name a program, got ["python3"]'],
    [{ args: ['a', 'b\0', 3] }, 'args must be strings without NUL characters, got "b\\u0000", 3'],
    [{ args: '-c' }, 'args must be strings without NUL characters, got "-c"'],
    [{ cwd: '' }, 'cwd must be a path or a file: URL, got ""'],
    [
      { cwd: new URL('http://localhost/') },
      'cwd must be a path or a file: URL, got "http://localhost/"',
    ],
    [{ env: { A: 1 } }, 'env.A must be a string without NUL characters'],
    [{ maxOutputBytes: 0 }, 'maxOutputBytes must be an integer >= 1, got 0'],
    [{ maxOutputBytes: 1.5 }, 'maxOutputBytes must be an integer >= 1, got 1.5'],
    [{ killGraceMs: -1 }, 'killGraceMs must be from 0 to 4000, got -1'],
    [{ killGraceMs: 4_001 }, 'killGraceMs must be from 0 to 4000, got 4001'],
    [{ killGraceMs: Number.NaN }, 'killGraceMs must be from 0 to 4000, got NaN'],
    [{ mode: 'pool' }, 'mode must be "once" or "worker", got "pool"'],
    [{ worker: {} }, 'worker requires mode "worker"'],
    [{ mode: 'once', worker: {} }, 'worker requires mode "worker"'],
    [inWorker({ size: 0 }), 'worker.size must be an integer >= 1, got 0'],
    [inWorker({ size: Infinity }), 'worker.size must be an integer >= 1, got Infinity'],
    [inWorker({ concurrency: 1.5 }), 'worker.concurrency must be an integer >= 1, got 1.5'],
    [
      inWorker({ maxCallsPerWorker: 0 }),
      'worker.maxCallsPerWorker must be an integer >= 1 or Infinity, got 0',
    ],
    [
      inWorker({ maxRestarts: -1 }),
      'worker.maxRestarts must be an integer >= 0 or Infinity, got -1',
    ],
    [
      inWorker({ idleTimeoutMs: 0 }),
      `worker.idleTimeoutMs must be > 0 and <= ${LONGEST}, or Infinity, got 0`,
    ],
    [
      inWorker({ startTimeoutMs: LONGEST + 1 }),
      `worker.startTimeoutMs must be > 0 and <= ${LONGEST}, or Infinity, got ${LONGEST + 1}`,
    ],
  ])('The process options %j are rejected', (options, problem) => {
    expect(() => resolveProgramOptions({ ...GIVEN, ...options })).toThrow(
      new TypeError(`Cannot define process tool "work": ${problem}`),
    )
  })

  it('Invalid options of a process tool are rejected with every problem at once', () => {
    const options = { command: '', args: [''], killGraceMs: -1, ...inWorker({ size: 0 }) }
    expect(() => resolveProgramOptions({ name: 'work', ...options })).toThrow(
      new TypeError(
        'Cannot define process tool "work": command must name a program, got ""; ' +
          'killGraceMs must be from 0 to 4000, got -1; ' +
          'worker.size must be an integer >= 1, got 0',
      ),
    )
  })

  function inWorker(worker: object): object {
    return { mode: 'worker', worker }
  }
})

function workerOf(options: Omit<ProgramOptions, 'command'>): unknown {
  return resolveProgramOptions({ ...GIVEN, ...options }).worker
}
