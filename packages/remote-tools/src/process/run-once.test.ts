import { getEventListeners } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { toolContext, ToolResult, type Logger, type ToolCallOutcome } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

import { callTool } from '../../test/call-tool.ts'
import { interpreterOf, LANGUAGES } from '../../test/languages.ts'
import {
  children,
  isRunning,
  untilGone,
  untilWritten,
} from '../../../../tooling/test-kit/processes.ts'
import { processTool, type ProcessTool } from './process-tool.ts'

import type { ProgramOptions } from './options.ts'

const perl = interpreterOf('perl')
const { success, failure } = ToolResult

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tutti-process-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe.each(LANGUAGES)('a program in $name', ({ name, command, program }) => {
  describe.skipIf(command === undefined)('that is installed on this machine', () => {
    it.each([
      ['answer', success(`from ${name}`)],
      ['structured', success(`from ${name}`, { by: name })],
      ['failure', failure(`${name} would not`)],
      ['exit', failure('Process exited with code 3')],
      ['plain', success(`${name} says hello`)],
      ['empty', success('')],
      ['signal', failure('Process was killed by SIGKILL')],
      ['noise', success(`from ${name}`)],
      ['echo ä€😀', success('ä€😀')],
    ])('A program has the expected outcome for the request "%s"', async (request, result) => {
      expect((await run(request)).result).toEqual(result)
    })

    it('A program that complains fails with its own message', async () => {
      const { result, end } = await run('complain')
      expect({ result, end }).toEqual({ result: failure(`${name} broke`), end: 'finished' })
    })
  })

  function run(request: string): Promise<ToolCallOutcome> {
    return callTool(toolOf(command ?? '', [program]), request)
  }
})

describe('[REMOTE-O1] the request', () => {
  it('The request to a program is compact JSON without a newline, and stdin is closed after it', async () => {
    expect((await callTool(node(ECHO), 'say "hi"\n')).result).toEqual(
      success(JSON.stringify('{"input":"say \\"hi\\"\\n"}')),
    )
  })

  it('The request to a program is UTF-8 for any text of the model', async () => {
    const input = 'ä€😀\u2028\0\uD800'
    const { result } = await callTool(node(ECHO), input)
    expect(JSON.parse(String(JSON.parse(result.output)))).toEqual({ input })
  })

  it('The request to a program need not be read, even if it is long', async () => {
    const { result, end } = await callTool(toolOf('echo', ['done']), 'x'.repeat(5_000_000))
    expect({ result, end }).toEqual({ result: success('done'), end: 'finished' })
  })

  it('The request to a program is only logged when it was not read', async () => {
    const { logger, debug } = spiedLogger()
    const tool = shell('exec <&-; echo started; sleep 0.2')
    const { result } = await callTool(tool, 'x'.repeat(5_000_000), { logger })
    expect(result).toEqual(success('started'))
    expect(debug).toHaveBeenCalledWith('Program did not read its input', {
      command: 'sh',
      error: expect.objectContaining({ code: 'EPIPE' }) as unknown,
    })
  })

  it('The request to a program is the same when the tool is called directly', async () => {
    expect(await toolOf('cat').execute('hi', toolContext())).toEqual(success('{"input":"hi"}'))
  })
})

describe('[REMOTE-O2] writing and reading overlap', () => {
  it('Writing and reading overlap with a program that writes megabytes before it reads', async () => {
    const tool = node(
      `import { writeSync, readFileSync } from 'node:fs'
      const line = 'x'.repeat(64 * 1024)
      for (let i = 0; i < 64; i++) writeSync(1, line)
      for (let i = 0; i < 64; i++) writeSync(2, line)
      const { input } = JSON.parse(readFileSync(0, 'utf8'))
      writeSync(1, '\\nread ' + input.length)`,
      { maxOutputBytes: 10_000_000 },
    )
    const { result } = await callTool(tool, 'y'.repeat(4_000_000))
    expect(result.output.length).toBe(64 * 64 * 1024 + 13)
    expect(result.output.endsWith('\nread 4000000')).toBe(true)
  })

  it('Output beyond the limit of a mebibyte is read and dropped', async () => {
    const { result } = await callTool(shell('yes ä | head -c 3000000'))
    const kept = 'ä\n'.repeat(349_525).trim()
    expect(result.output.slice(-50)).toBe(`${kept}\n[output truncated at 1048576 bytes]`.slice(-50))
    expect(result.output.length).toBe(kept.length + 36)
  })

  it('The limits for stdout and stderr are separate', async () => {
    const tool = shell('printf 12345678; printf abcdefgh >&2; exit $(cat | grep -c fail)', {
      maxOutputBytes: 4,
    })
    expect((await callTool(tool, 'ok')).result).toEqual(
      success('1234\n[output truncated at 4 bytes]'),
    )
    expect((await callTool(tool, 'fail')).result).toEqual(
      failure('abcd\n[output truncated at 4 bytes]\n1234\n[output truncated at 4 bytes]'),
    )
  })

  it.skipIf(perl === undefined)('Invalid UTF-8 does no harm', async () => {
    const tool = toolOf(perl ?? '', ['-e', 'print "a\\xff\\xe2\\x82"'])
    expect((await callTool(tool)).result).toEqual(success('a\uFFFD\uFFFD'))
  })
})

describe('the command line and environment of a program', () => {
  it('The command line and environment of a program contain its arguments unchanged, without a shell', async () => {
    const args = ['-e', 'console.log(JSON.stringify(process.argv.slice(1)))', '--']
    const words = ['$HOME', '`id`', '; exit 1', '*', 'a b', '', '"', "'"]
    const { result } = await callTool(toolOf(process.execPath, [...args, ...words]))
    expect(JSON.parse(result.output)).toEqual(words)
  })

  it('The command line and environment of a program have the configured working directory', async () => {
    expect((await callTool(shell('pwd -P', { cwd: folder }))).result).toEqual(success(folder))
  })

  it('The command line and environment of a program contain the run and a key that is the same when the call is repeated', async () => {
    const tool = shell('echo "$TUTTI_IDEMPOTENCY_KEY $TUTTI_RUN_ID"')
    const options = { idempotencyKey: 'run-1/a/1/0/call', runId: 'run-1' }
    expect((await callTool(tool, '', options)).result).toEqual(success('run-1/a/1/0/call run-1'))
    expect((await callTool(tool)).result).toEqual(success('call'))
  })

  it('The command line and environment of a program contain no variable of this process that it does not need or that was not listed', async () => {
    process.env['TUTTI_TEST_SECRET'] = 'secret'
    try {
      const printed = async (options: Partial<ProgramOptions>): Promise<string> =>
        (await callTool(shell('env | grep -c TUTTI_TEST || true', options))).result.output
      expect(await printed({})).toBe('0')
      expect(await printed({ env: { TUTTI_TEST_A: '1' } })).toBe('1')
      expect(await printed({ inheritEnv: ['TUTTI_TEST_SECRET'] })).toBe('1')
      expect(await printed({ inheritEnv: true, env: { TUTTI_TEST_A: '1' } })).toBe('2')
    } finally {
      delete process.env['TUTTI_TEST_SECRET']
    }
  })
})

describe('[NET-P4] a program that cannot be started is a failure with the reason', () => {
  it('A missing program is a failure with the reason', async () => {
    const { result, end } = await callTool(toolOf('no-such-program-7'))
    expect({ result, end }).toEqual({
      result: failure('Failed to start process: program "no-such-program-7" not found'),
      end: 'finished',
    })
  })

  it('A missing directory is a failure with the reason', async () => {
    const cwd = join(folder, 'gone')
    expect((await callTool(toolOf('echo', [], { cwd }))).result).toEqual(
      failure(`Failed to start process: working directory "${cwd}" does not exist`),
    )
  })

  it('A file as the directory is a failure with the reason', async () => {
    const cwd = join(folder, 'file')
    writeFileSync(cwd, '')
    expect((await callTool(toolOf('echo', [], { cwd }))).result).toEqual(
      failure(`Failed to start process: working directory "${cwd}" does not exist`),
    )
  })

  it('A file that is not executable is a failure with the reason', async () => {
    const path = join(folder, 'text')
    writeFileSync(path, 'hello', { mode: 0o644 })
    expect((await callTool(toolOf(path, [], { cwd: folder }))).result).toEqual(
      failure(`Failed to start process: "${path}" is not executable`),
    )
  })

  it('A script with a missing interpreter is a failure with the reason', async () => {
    const path = join(folder, 'script')
    writeFileSync(path, '#!/no/such/interpreter\n', { mode: 0o755 })
    const failed = (command: string): ToolResult =>
      failure(`Failed to start process: the interpreter of "${command}" does not exist`)
    expect((await callTool(toolOf(path))).result).toEqual(failed(path))
    expect((await callTool(toolOf('./script', [], { cwd: folder }))).result).toEqual(
      failed('./script'),
    )
  })

  it('A program that gets more arguments than the system accepts is a failure with the reason', async () => {
    const { result } = await callTool(toolOf('echo', ['x'.repeat(3_000_000)]))
    expect(result.errorMessage).toMatch(/^Failed to start process: spawn E2BIG/)
  })

  it('An empty directory name is a failure with the reason', async () => {
    const error = new Error('The current directory does not exist')
    const cwd = vi.spyOn(process, 'cwd').mockImplementation(() => {
      throw error
    })
    try {
      const { result } = await callTool(toolOf('echo'))
      expect(result.errorMessage).toMatch(
        /^Failed to start process: The current directory does not exist/,
      )
    } finally {
      cwd.mockRestore()
    }
  })
})

describe('the stderr of a program', () => {
  it('The stderr of a program is only logged when the program succeeds', async () => {
    const { logger, debug } = spiedLogger()
    const { result } = await callTool(shell('cat >/dev/null; echo careful >&2; echo fine'), '', {
      logger,
    })
    expect(result).toEqual(success('fine'))
    expect(debug).toHaveBeenCalledExactlyOnceWith('Program wrote to stderr', {
      command: 'sh',
      stderr: 'careful',
    })
  })

  it('The stderr of a program is the error when the program fails, and an answer that reports success is not', async () => {
    const { logger, debug } = spiedLogger()
    const tool = shell(`cat >/dev/null; echo '{"output":"x"}'; echo ' broken ' >&2; exit 1`)
    expect((await callTool(tool, '', { logger })).result).toEqual(failure('broken'))
    expect(debug).not.toHaveBeenCalled()
  })

  it('The stderr of a program follows the signal that killed the program', async () => {
    const tool = shell('echo "about to die" >&2; kill -SEGV $$')
    expect((await callTool(tool)).result).toEqual(
      failure('Process was killed by SIGSEGV: about to die'),
    )
  })

  it('The stderr of a program is not logged when it is empty', async () => {
    const { logger, debug } = spiedLogger()
    await callTool(shell('cat >/dev/null; echo fine'), '', { logger })
    expect(debug).not.toHaveBeenCalled()
  })

  it('The stderr of a program can be logged by a logger that throws', async () => {
    const debug = vi.fn<Logger['debug']>(() => {
      throw new Error('The log is full')
    })
    const { result } = await callTool(shell('cat >/dev/null; echo careful >&2; echo fine'), '', {
      logger: { ...silentLogger, debug },
    })
    expect(debug).toHaveBeenCalledOnce()
    expect(result).toEqual(success('fine'))
  })
})

describe('[REMOTE-O3] an aborted call ends when its program and its descendants have ended', () => {
  it('A call aborted at its time limit ends when its program has ended, which the caller sees immediately', async () => {
    const clock = fakeClock()
    const pids = join(folder, 'timed-out')
    const tool = shell(`sleep 300 & echo $$ $! > ${pids}; wait`, { timeoutMs: 250, clock })
    const running = callTool(tool, '', { clock })
    const [program, grandchild] = pidsOf(await untilWritten(pids))
    await clock.advance(250)
    const { result, end } = await running
    expect({ result, end }).toEqual({
      result: failure('Tool "sh" timed out after 250 ms'),
      end: 'timed_out',
    })
    await untilGone(program)
    await untilGone(grandchild)
  })

  it('A call aborted by its caller ends when its program and its descendants have ended', async () => {
    const controller = new AbortController()
    const pids = join(folder, 'cancelled')
    const tool = shell(`sleep 300 & echo $$ $! > ${pids}; wait`)
    const running = callTool(tool, '', { signal: controller.signal })
    const [program, grandchild] = pidsOf(await untilWritten(pids))
    controller.abort()
    expect((await running).end).toBe('cancelled')
    expect(isRunning(program)).toBe(false)
    await untilGone(grandchild)
  })

  it('An aborted call has the reason in the result of a direct call', async () => {
    const controller = new AbortController()
    const path = join(folder, 'direct')
    const context = toolContext<string>({ signal: controller.signal })
    const tool = shell(`echo $$ > ${path}; exec sleep 300`)
    // A context of the test has its own signal.
    const running = tool.execute('', { ...context, signal: controller.signal })
    await untilWritten(path)
    controller.abort(new Error('Enough'))
    expect(await running).toEqual(failure('Process "sh" was ended: Enough'))
  })

  it('A call that was aborted before ends without starting the program', async () => {
    const path = join(folder, 'never')
    const tool = shell(`echo $$ > ${path}`)
    const context = { ...toolContext<string>(), signal: AbortSignal.abort(new Error('Enough')) }
    expect(await tool.execute('', context)).toEqual(failure('Process "sh" was ended: Enough'))
    expect(() => writeFileSync(path, '', { flag: 'wx' })).not.toThrow()
  })

  it('A call that is not aborted leaves no listeners', async () => {
    const { signal } = new AbortController()
    const context = { ...toolContext<string>(), signal }
    expect(await toolOf('echo', ['hi']).execute('', context)).toEqual(success('hi'))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('A call aborted while the program is being started ends when its program has ended', async () => {
    const controller = new AbortController()
    const context = { ...toolContext<string>(), signal: controller.signal }
    const running = shell('exec sleep 300').execute('', context)
    controller.abort(new Error('Enough'))
    expect(await running).toEqual(failure('Process "sh" was ended: Enough'))
    expect(children()).toEqual([])
  })
})

describe('a closed tool', () => {
  it('A closed tool ends its programs and rejects later calls', async () => {
    const path = join(folder, 'closed')
    const tool = shell(`echo $$ > ${path}; exec sleep 300`)
    const running = callTool(tool)
    const pid = Number(await untilWritten(path))
    await tool.close()
    expect(isRunning(pid)).toBe(false)
    expect((await running).result).toEqual(failure('Process "sh" was ended: Tool is closed'))
    expect((await callTool(tool)).result).toEqual(failure('Tool is closed'))
    await tool.close()
  })

  it('A closed tool is closed at the end of a block with "await using"', async () => {
    let used: ProcessTool<string> | undefined
    {
      await using tool = toolOf('echo', ['hi'])
      used = tool
      expect((await callTool(tool)).result).toEqual(success('hi'))
    }
    expect((await callTool(used)).result).toEqual(failure('Tool is closed'))
  })
})

const ECHO = `let text = ''
for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
console.log(JSON.stringify(text))`

type Settings = Partial<ProgramOptions> & { readonly timeoutMs?: number }

function toolOf(
  command: string,
  args: readonly string[] = [],
  settings: Settings = {},
): ProcessTool<string> {
  const name = command.split('/').at(-1)?.replaceAll('.', '-') ?? ''
  return processTool({ name, description: 'Runs a program', command, args, ...settings })
}

function shell(script: string, settings: Settings = {}): ProcessTool<string> {
  return toolOf('sh', ['-c', script], settings)
}

function node(script: string, settings: Settings = {}): ProcessTool<string> {
  return toolOf(process.execPath, ['--input-type=module', '--eval', script], settings)
}

function spiedLogger() {
  const debug = vi.fn<Logger['debug']>()
  return { debug, logger: { ...silentLogger, debug } }
}

function pidsOf(text: string): readonly [number, number] {
  const [first = 0, second = 0] = text.split(' ').map(Number)
  return [first, second]
}
