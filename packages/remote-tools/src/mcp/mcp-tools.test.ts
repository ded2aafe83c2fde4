import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { runTool, type AgentTool, type RunToolOptions } from '@tutti/core'
import type { ToolProgress } from '@tutti/core/internal'
import { fakeClock, scriptedReviewer } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { mcpTools, type McpTools } from './mcp-tools.ts'

import type { McpProgram } from '@tutti/mcp/internal'
import type { McpToolsOptions } from './options.ts'

const SERVER = fileURLToPath(new URL('../../test/servers/mcp-server.ts', import.meta.url))
const PROGRAM: McpProgram = { command: process.execPath, args: [SERVER], killGraceMs: 0 }

/** The tools of one server, for tests that leave its process as it is. */
let shared: McpTools

beforeAll(async () => {
  shared = await mcpTools(PROGRAM)
})

afterAll(() => shared.close())

async function connect(
  options: McpToolsOptions = {},
  program: Partial<McpProgram> = {},
): Promise<McpTools> {
  const imported = await mcpTools({ ...PROGRAM, ...program }, options)
  onTestFinished(() => imported.close())
  return imported
}

function named({ tools }: Pick<McpTools, 'tools'>, name: string): AgentTool {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return tool
}

async function call(
  imported: Pick<McpTools, 'tools'>,
  name: string,
  { input = {}, ...options }: RunToolOptions & { readonly input?: object } = {},
) {
  const made = { id: 'c', name, arguments: JSON.stringify(input) }
  return runTool(named(imported, name), made, options)
}

describe('the tools of a server', () => {
  it('The tools of a server are imported from all pages, with valid and unique names', async () => {
    expect(shared.tools.map(({ name }) => name)).toEqual([
      'echo',
      'a_b_c',
      'a_b_c_2',
      'fail',
      'fail-silently',
      'throw',
      'media',
      'count',
      'progress',
      'wait',
      'cancelled',
      'env',
      'pid',
      'spawn',
      'noise',
      'crash',
      'grow',
    ])
    expect(shared.skipped).toEqual([])
    expect((await call(shared, 'a_b_c_2')).result.output).toBe('odd too')
  })

  it('The tools of a server have the schema and description of the server', async () => {
    expect(named(shared, 'echo')).toMatchObject({
      description: 'Repeats its input',
      kind: 'typed',
      inputSchema: {
        type: 'object',
        properties: { message: { type: 'string' }, times: { type: 'integer', minimum: 1 } },
        required: ['message'],
      },
    })
    expect(named(shared, 'count').outputSchema).toMatchObject({ required: ['n'] })
    expect(named(shared, 'fail').description).toBe('fail')
  })

  it('The tools of a server can be chosen and prefixed', async () => {
    const imported = await connect({
      prefix: 'test_',
      include: ['echo', 'fail', 'nope'],
      exclude: ['fail'],
    })
    expect(imported.tools.map(({ name }) => name)).toEqual(['test_echo'])
    expect(imported.skipped).toEqual([{ name: 'nope', reason: 'the server has no such tool' }])
    const { result } = await call(imported, 'test_echo', { input: { message: 'hi' } })
    expect(result.output).toBe('{"message":"hi"}')
  })

  it('The tools of a server are idempotent when their hints say that it is safe', async () => {
    const idempotent = shared.tools.filter((tool) => tool.idempotent).map(({ name }) => name)
    expect(idempotent).toEqual(['echo', 'a_b_c_2'])
  })

  it('The tools of a server need approval according to the option', async () => {
    const asked = async (approve: NonNullable<McpToolsOptions['approve']>): Promise<string> => {
      const imported = await connect({ approve, include: ['echo', 'count', 'fail'] })
      const asking = imported.tools.filter(({ requireApproval }) => requireApproval)
      return asking.map(({ name }) => name).join(' ')
    }
    expect(await asked('none')).toBe('')
    expect(await asked('all')).toBe('echo fail count')
    expect(await asked('destructive')).toBe('fail')
    expect(await asked(({ name }) => name === 'count')).toBe('count')
  })

  it('The tools of a server are not called before the reviewer approves', async () => {
    const imported = await connect({ approve: 'all', include: ['echo'] })
    const reviewer = scriptedReviewer(['REJECT'])
    const { result } = await call(imported, 'echo', { input: { message: 'hi' }, reviewer })
    expect(result.success).toBe(false)
    expect((await call(imported, 'echo', { input: { message: 'hi' } })).end).toBe('misconfigured')
  })

  it('The tools of a server are listed again when the server reports a change', async () => {
    const changed = Promise.withResolvers<void>()
    const imported = await connect({
      onChange() {
        changed.resolve()
      },
    })
    const before = imported.tools
    await call(imported, 'grow')
    await changed.promise
    expect(imported.tools).toBe(before)
    expect((await imported.refresh()).map(({ name }) => name)).toContain('grown')
    expect((await call(imported, 'grown')).result.output).toBe('grown')
  })
})

describe('a call of an imported tool', () => {
  it('A call of an imported tool does not reach the server with invalid input', async () => {
    const { result } = await call(shared, 'echo', { input: { times: 0 } })
    expect(result.errorMessage).toMatch(/^Invalid input for "echo": .*message is required/)
  })

  it('A call of an imported tool is a failure when it fails, and the next one works', async () => {
    expect((await call(shared, 'fail')).result).toMatchObject({
      success: false,
      errorMessage: 'no such file',
    })
    expect((await call(shared, 'fail-silently')).result.errorMessage).toBe(
      'The tool failed without a message',
    )
    expect((await call(shared, 'throw')).result.errorMessage).toMatch(
      /^MCP call failed: .*the tool broke/,
    )
    expect((await call(shared, 'pid')).result.success).toBe(true)
  })

  it('A call of an imported tool returns text, and describes other content', async () => {
    expect((await call(shared, 'media')).result.output.split('\n')).toEqual([
      'look',
      '[image: image/png, 10 bytes]',
      '[audio: audio/wav, 11 bytes]',
      '[resource file:///a: a (text/x)]',
      '[resource file:///b]',
      'bee',
      '[resource file:///c (x/y): 3 bytes]',
    ])
  })

  it('A call of an imported tool returns its value, also if it does not match the schema, unless the check is strict', async () => {
    expect((await call(shared, 'count', { input: { n: 1 } })).result).toEqual({
      success: true,
      output: '{"n":1}',
      structured: { n: 1 },
    })
    const wrong = { input: { n: null } }
    expect((await call(shared, 'count', wrong)).result.structured).toEqual({ n: null })
    const strict = await connect({ outputCheck: 'strict' })
    expect((await call(strict, 'count', wrong)).result.errorMessage).toMatch(/^Invalid output/)
  })

  it('A call of an imported tool reports its progress', async () => {
    const reported: ToolProgress[] = []
    const { result } = await call(shared, 'progress', {
      onProgress: (_, progress) => reported.push(progress),
    })
    expect(result.output).toBe('done')
    expect(reported).toEqual([
      { message: '1 of 4', fraction: 0.25 },
      { message: 'half' },
      { message: '9 of 4', fraction: 1 },
    ])
  })

  it('A call of an imported tool is cancelled at the server by its caller and by its time limit', async () => {
    const imported = await connect({ timeoutMs: 1000 })
    const controller = new AbortController()
    const waiting = call(imported, 'wait', { signal: controller.signal })
    await call(imported, 'pid')
    controller.abort()
    expect((await waiting).end).toBe('cancelled')
    const clock = fakeClock()
    const timed = call(imported, 'wait', { clock })
    await call(imported, 'pid')
    await clock.advance(1000)
    expect((await timed).end).toBe('timed_out')
    expect((await call(imported, 'cancelled')).result.output).toBe('2')
  })

  it('A call of an imported tool works with a server that writes logs to stdout', async () => {
    expect((await call(shared, 'noise')).result.output).toBe('after the noise')
  })
})

describe('[MCP-M1] a server that ends', () => {
  it('A server that ends fails the calls in flight with its stderr, and is restarted by the next call', async () => {
    const imported = await connect()
    const waiting = call(imported, 'wait')
    const first = (await call(imported, 'pid')).result.output
    const crashed = await call(imported, 'crash')
    const message = `MCP call failed: MCP server "node mcp-server.ts" ended: it exited with code 3: out of luck`
    expect(crashed.result.errorMessage).toBe(message)
    expect((await waiting).result.errorMessage).toBe(message)
    const [second, third] = await Promise.all([call(imported, 'pid'), call(imported, 'pid')])
    expect(second.result.output).toMatch(/^\d+$/)
    expect(second.result.output).not.toBe(first)
    expect(third.result.output).toBe(second.result.output)
  })

  it('A server that ends fails each call when it cannot be started again', async () => {
    const crash = `const fs = require('node:fs'); if (fs.existsSync(process.env.MARK)) { console.error('again'); process.exit(4) }; fs.writeFileSync(process.env.MARK, ''); import(process.argv[1])`
    const mark = `${import.meta.dirname}/.mark-${process.pid}-${Date.now()}`
    onTestFinished(() => import('node:fs/promises').then(({ rm }) => rm(mark, { force: true })))
    const imported = await connect({}, { args: ['-e', crash, SERVER], env: { MARK: mark } })
    await call(imported, 'crash')
    for (let count = 0; count < 2; count += 1) {
      const { result } = await call(imported, 'pid')
      expect(result.errorMessage).toBe(
        `MCP call failed: Cannot connect to MCP server "node": it exited with code 4: again`,
      )
    }
  })

  it('A server that ends is an error of the import with the reason when it never starts', async () => {
    await expect(mcpTools({ command: 'no-such-program' })).rejects.toThrow(
      'Cannot connect to MCP server "no-such-program": Failed to start process: program "no-such-program" not found',
    )
    const args = ['-e', 'console.error("bad config"); process.exit(2)']
    await expect(mcpTools({ ...PROGRAM, args })).rejects.toThrow(
      'it exited with code 2: bad config',
    )
    await expect(mcpTools({ command: '', args: ['\0'] })).rejects.toThrow(TypeError)
  })

  it('A server that ends is an error of the import and is ended when it does not respond in time', async () => {
    const args = ['-e', 'setInterval(() => {}, 1000)']
    const connecting = mcpTools({ ...PROGRAM, args }, { connectTimeoutMs: 300 })
    await expect(connecting).rejects.toThrow(/^Cannot connect to MCP server .*timed out/i)
  })
})

describe('the child process of a server', () => {
  it('The child process of a server gets the listed variables and no secrets', async () => {
    const imported = await connect({}, { env: { MY_TOKEN: 't' } })
    const { output } = (await call(imported, 'env')).result
    const names = output.split(' ')
    expect(names).toContain('MY_TOKEN')
    expect(names).toContain('PATH')
    expect(names).not.toContain('VITEST')
  })

  it('The child process of a server ends with the import, together with its descendants', async () => {
    const imported = await connect()
    const pids = [await call(imported, 'pid'), await call(imported, 'spawn')].map(({ result }) =>
      Number(result.output),
    )
    expect(pids.map(isAlive)).toEqual([true, true])
    await imported.close()
    expect(pids.map(isAlive)).toEqual([false, false])
    const message = `MCP call failed: The connection to MCP server "node mcp-server.ts" is closed`
    expect((await call(imported, 'pid')).result.errorMessage).toBe(message)
    await imported.close()
  })

  it('The child process of a server does not keep this process alive', async () => {
    const door = new URL('mcp-tools.ts', import.meta.url).href
    const program = `
      import { mcpTools } from ${JSON.stringify(door)}
      import { runTool } from '@tutti/core'
      const { tools } = await mcpTools(${JSON.stringify(PROGRAM)})
      const tool = tools.find(({ name }) => name === 'pid')
      const { result } = await runTool(tool, { id: 'c', name: 'pid', arguments: '' })
      console.log(result.output)`
    const args = ['-C', '@tutti/source', '--input-type=module', '-e', program]
    const child = spawn(process.execPath, args, { cwd: import.meta.dirname })
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += String(chunk)
    })
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    expect(output).toMatch(/^\d+\n$/)
  })
})

/** Returns whether a process runs; a zombie does not. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return (
      process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    )
  } catch {
    return false
  }
}
