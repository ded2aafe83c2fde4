import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fakeClock } from '@tutti/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

import { interpreterOf } from '../../../remote-tools/test/languages.ts'
import { isRunning, untilGone, untilWritten } from '../../../../tooling/test-kit/processes.ts'
import { until } from '../../../../tooling/test-kit/wait.ts'
import { resolveProcessOptions, type ProcessOptions } from './options.ts'
import { DRAIN_MS, startProcess, type RunningProcess } from './running-process.ts'

const perl = interpreterOf('perl') ?? ''
const hasPerl = perl !== ''

/** Only Linux shows which processes have a mark. */
const isLinux = process.platform === 'linux'

let folder: string
let count = 0
/** Processes that a test leaves running on purpose. */
const leftovers: number[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tutti-process-'))
})
afterEach(() => {
  for (const pid of leftovers.splice(0)) process.kill(pid, 'SIGKILL')
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe('[NET-P1] ending a process', () => {
  it('The end of a process sends SIGTERM first, so that it can clean up', async () => {
    const path = newPath()
    const program = await shell(`trap 'echo cleaned > ${path}; exit 0' TERM
      echo ready; while :; do sleep 0.01; done`)
    await waitForOutput(program)
    await program.end()
    expect(await untilWritten(path)).toBe('cleaned')
    expect(await program.ended).toEqual({ code: 0, signal: null })
  })

  it.runIf(hasPerl)(
    'The end of a process kills a process that ignores SIGTERM after its time to clean up',
    async () => {
      const clock = fakeClock()
      const program = await startStubborn({ clock, killGraceMs: 700 })
      const ending = program.end()
      await clock.advance(699)
      expect(isRunning(program.pid)).toBe(true)
      await clock.advance(1)
      await ending
      expect(isRunning(program.pid)).toBe(false)
      expect(await program.ended).toEqual({ code: null, signal: 'SIGKILL' })
      expect(clock.pending).toBe(0)
    },
  )

  it.runIf(hasPerl)(
    'The end of a process kills it immediately without time to clean up',
    async () => {
      const clock = fakeClock()
      const program = await startStubborn({ clock, killGraceMs: 0 })
      await program.end()
      expect(isRunning(program.pid)).toBe(false)
    },
  )

  it('The end of a process happens once for repeated calls', async () => {
    const program = await shell('exec sleep 300')
    const first = program.end()
    expect(program.end()).toBe(first)
    await first
  })

  it('The end of a process ends its descendants', async () => {
    const path = newPath()
    const program = await shell(`sh -c 'sleep 300 & echo $$ $! > ${path}; wait' & wait`)
    const pids = (await untilWritten(path)).split(' ').map(Number)
    await program.end()
    await Promise.all(pids.map(untilGone))
  })

  it.runIf(hasPerl)(
    'The end of a process waits for descendants that clean up after the process has exited',
    async () => {
      const path = newPath()
      const child = `$SIG{TERM} = sub { select undef, undef, undef, 0.3; say_to("cleaned"); exit };
      sub say_to { open my $f, ">", "${path}"; print $f "$_[0]\\n" } say_to("ready"); sleep 300`
      const program = await shell(`perl -e '${child}' & wait`, { killGraceMs: 4_000 })
      expect(await untilWritten(path)).toBe('ready')
      await program.end()
      expect(await untilWritten(path)).toBe('cleaned')
    },
  )

  it.runIf(hasPerl && isLinux)(
    'The end of a process ends descendants that have left its group',
    async () => {
      const path = newPath()
      const program = await shell(`${daemon(path)}; exec sleep 300`)
      const pid = Number(await untilWritten(path))
      await program.end()
      expect(isRunning(program.pid)).toBe(false)
      await untilGone(pid)
    },
  )

  it.runIf(hasPerl && isLinux)(
    'The end of a process ends descendants that have left the group of many processes at once',
    async () => {
      const programs = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const path = newPath()
          return { path, program: await shell(`${daemon(path)}; exec sleep 300`) }
        }),
      )
      const pids = await Promise.all(
        programs.map(async ({ path }) => Number(await untilWritten(path))),
      )
      await Promise.all(programs.map(({ program }) => program.end()))
      await Promise.all(pids.map(untilGone))
    },
  )

  it('The end of a process does not end other processes', async () => {
    const other = await shell('exec sleep 300')
    await (await shell('exec sleep 300')).end()
    expect(isRunning(other.pid)).toBe(true)
    await other.end()
  })

  it.runIf(hasPerl)(
    'The end of a process does not wait for a descendant that cannot be found and holds its pipes',
    async () => {
      const path = newPath()
      const program = await shell(`${daemon(path, 'env -i')}; exec sleep 300`, { killGraceMs: 100 })
      leftovers.push(Number(await untilWritten(path)))
      await program.end()
      expect(isRunning(program.pid)).toBe(false)
    },
  )
})

describe('[NET-P2] waiting for a process', () => {
  it('The wait for a process resolves with its exit code after its output has been read', async () => {
    const program = await shell('head -c 300000 /dev/zero; exit 7')
    let bytes = 0
    program.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    expect(await program.ended).toEqual({ code: 7, signal: null })
    expect(bytes).toBe(300_000)
  })

  it('The wait for a process resolves with the signal that killed it', async () => {
    const program = await shell('kill -HUP $$')
    program.stdout.resume()
    expect(await program.ended).toEqual({ code: null, signal: 'SIGHUP' })
  })

  it('The wait for a process waits only a moment for a descendant that holds its pipes, and ends it', async () => {
    const clock = fakeClock()
    const path = newPath()
    const program = await shell(`sleep 300 & echo $! > ${path}`, { clock })
    program.stdout.resume()
    const grandchild = Number(await untilWritten(path))
    await untilGone(program.pid)
    await until('the wait for its pipes', () => clock.pending > 0)
    await clock.advance(DRAIN_MS - 1)
    expect(isRunning(grandchild)).toBe(true)
    await clock.advance(1)
    expect(await program.ended).toEqual({ code: 0, signal: null })
    await untilGone(grandchild)
  })

  it('The wait for a process ends a descendant in its group that has other pipes', async () => {
    const path = newPath()
    const program = await shell(`sleep 300 >/dev/null 2>&1 </dev/null & echo $! > ${path}`)
    program.stdout.resume()
    await program.ended
    await untilGone(Number(await untilWritten(path)))
  })

  it.runIf(hasPerl)(
    'The wait for a process does not wait for a descendant in another session',
    async () => {
      const path = newPath()
      const program = await shell(daemon(path))
      program.stdout.resume()
      expect(await program.ended).toEqual({ code: 0, signal: null })
      const pid = Number(await untilWritten(path))
      leftovers.push(pid)
      expect(isRunning(pid)).toBe(true)
      expect(program.stdout.destroyed).toBe(true)
    },
  )

  it.runIf(hasPerl)(
    'The wait for a process resolves after the whole tree has ended when it is being ended',
    async () => {
      const clock = fakeClock()
      const child = '$SIG{TERM} = "IGNORE"; $| = 1; print "ready\\n"; sleep 300 while 1'
      const program = await shell(`${perl} -e '${child}' & wait`, { clock, killGraceMs: 1_000 })
      await waitForOutput(program)
      let hasEnded = false
      void program.ended.then(() => (hasEnded = true))
      const ending = program.end()
      await untilGone(program.pid)
      await clock.advance(999)
      expect(hasEnded).toBe(false)
      await clock.advance(1)
      await ending
      expect(await program.ended).toEqual({ code: null, signal: 'SIGTERM' })
    },
  )

  it('The wait for a process can have a time limit', async () => {
    const clock = fakeClock()
    const program = await shell('read line; exit 0', { clock })
    program.stdout.resume()
    const waiting = program.endedWithin(50)
    await clock.advance(50)
    expect(await waiting).toBe(false)
    program.stdin.end('\n')
    expect(await program.endedWithin(50)).toBe(true)
    expect(clock.pending).toBe(0)
  })
})

/** Returns a shell command that starts a process in another session and writes its id to `path`. */
function daemon(path: string, prefix = ''): string {
  const script = `use POSIX; exit if fork; POSIX::setsid(); exit if fork;
    open my $f, ">", "${path}"; print $f "$$\\n"; close $f; sleep 300`
  return `${prefix} ${perl} -e '${script}'`
}

/** Starts a program that ignores SIGTERM, and waits until it does. */
async function startStubborn(options: Partial<ProcessOptions>): Promise<RunningProcess> {
  const script = '$SIG{TERM} = "IGNORE"; $| = 1; print "ready\\n"; sleep 300 while 1'
  const program = await start(perl, ['-e', script], options)
  await waitForOutput(program)
  return program
}

function shell(script: string, options: Partial<ProcessOptions> = {}): Promise<RunningProcess> {
  return start('sh', ['-c', script], options)
}

async function start(
  command: string,
  args: readonly string[],
  options: Partial<ProcessOptions>,
): Promise<RunningProcess> {
  const resolved = resolveProcessOptions({ command, args, ...options })
  const started = await startProcess(resolved)
  if (!started.ok) throw new Error(started.message)
  return started.process
}

/** Waits until the program has written some output. */
async function waitForOutput({ stdout }: RunningProcess): Promise<void> {
  await new Promise((resolve) => {
    stdout.once('data', resolve)
  })
}

function newPath(): string {
  count += 1
  return join(folder, `file-${count}`)
}
