import {
  createLimiter,
  createToolMetrics,
  toolContext,
  ToolResult,
  Type,
  type ApprovalRequest,
} from '@tutti/core'
import { DEFAULT_TOOL_TIMEOUT_MS, type ApprovalAnswer } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import { callTool } from '../../test/call-tool.ts'
import { processTool } from './process-tool.ts'

const { success, failure } = ToolResult

const BASE = { name: 'work', description: 'Works', command: 'sh' }
const CITY = Type.Object({ city: Type.String(), days: Type.Integer({ default: 1 }) })

describe('a process tool like every tool', () => {
  it('A process tool accepts the settings of every tool', () => {
    const limiter = createLimiter({ maxConcurrent: 2 })
    const tool = processTool({ ...BASE, timeoutMs: 5_000, idempotent: false, limiter })
    expect(tool).toMatchObject({
      name: 'work',
      description: 'Works',
      kind: 'text',
      timeoutMs: 5_000,
      idempotent: false,
      requireApproval: false,
      limiter,
    })
  })

  it('A process tool has the defaults of every tool', () => {
    const tool = processTool(BASE)
    expect(tool).toMatchObject({ timeoutMs: DEFAULT_TOOL_TIMEOUT_MS, idempotent: true })
    expect(tool.limiter).toBeUndefined()
  })

  it('A process tool is counted like every tool', async () => {
    const metrics = createToolMetrics()
    const tool = processTool({ ...BASE, args: ['-c', 'exit $(grep -c fail)'] })
    await callTool(tool, 'ok', { metrics, agentRole: 'Analyst' })
    await callTool(tool, 'fail', { metrics, agentRole: 'Analyst' })
    expect(metrics.snapshot()).toMatchObject([
      { toolName: 'work', agentRole: 'Analyst', success: 1, failure: 1, error: 0 },
    ])
  })

  it('A process tool rejects an invalid definition with every problem', () => {
    expect(() => processTool({ ...BASE, command: '', killGraceMs: 9_000 })).toThrow(
      'Cannot define process tool "work": command must name a program, got ""; ' +
        'killGraceMs must be from 0 to 4000, got 9000',
    )
    expect(() => processTool({ ...BASE, name: 'my tool', description: '' })).toThrow(TypeError)
  })
})

describe('a typed process tool', () => {
  const echo = { ...BASE, command: 'cat', input: CITY }

  it('A typed process tool passes the whole object to the program, with defaults filled in', async () => {
    const tool = processTool(echo)
    expect(tool).toMatchObject({ kind: 'typed', inputSchema: CITY })
    expect((await callTool(tool, { city: 'Bonn', more: true })).result.output).toMatch(
      /^\{"input":\{"city":"Bonn",.*"days":1.*\}\}$/,
    )
  })

  it('A typed process tool does not start the program for invalid input', async () => {
    const tool = processTool({ ...echo, command: 'no-such-program-7' })
    expect((await callTool(tool, { days: 'many' })).result.errorMessage).toMatch(
      /^Invalid input for "work": .*city/,
    )
  })

  describe('with an output schema', () => {
    const output = Type.Object({ degrees: Type.Number() })

    it.each([
      ['as output', '{"output":{"degrees":21}}', '{"degrees":21}'],
      ['as structured', '{"output":"21 °C","structured":{"degrees":21}}', '21 °C'],
      ['as all that it says', '{"degrees":21}', '{"degrees":21}'],
    ])(
      'A typed process tool with an output schema returns the value that the program provides %s',
      async (_, said, text) => {
        const tool = processTool({ ...saying(said), input: CITY, output })
        expect(tool.outputSchema).toBe(output)
        const { result } = await callTool(tool, { city: 'Bonn' })
        expect(result).toEqual(success(text, { degrees: 21 }))
      },
    )

    it('A typed process tool with an output schema fails with a value that does not match when the check is strict', async () => {
      const said = saying('{"output":{"degrees":"warm"}}')
      const tool = processTool({ ...said, input: CITY, output, outputCheck: 'strict' })
      const { result } = await callTool(tool, { city: 'Bonn' })
      expect(result.errorMessage).toMatch(/^Invalid output for "work": \/degrees/)
    })
  })

  it('A typed process tool works in worker mode', async () => {
    const script = `while read line; do
      case $line in *Bonn*) echo '{"id":1,"output":{"degrees":21}}' ;; esac; done`
    await using tool = processTool({
      ...BASE,
      args: ['-c', script],
      mode: 'worker',
      input: CITY,
      output: Type.Object({ degrees: Type.Number() }),
    })
    const { result } = await callTool(tool, { city: 'Bonn' })
    expect(result).toEqual(success('{"degrees":21}', { degrees: 21 }))
  })

  function saying(text: string) {
    return { ...BASE, command: 'echo', args: [text] }
  }
})

describe('a process tool that needs approval', () => {
  const asked: ApprovalRequest[] = []
  const reviewer = (answer: ApprovalAnswer) => ({
    decide(request: ApprovalRequest) {
      asked.push(request)
      return Promise.resolve(answer)
    },
  })
  const cat = { ...BASE, command: 'cat', args: ['-u', '--'], requireApproval: true }

  it('A process tool that needs approval shows the reviewer the command line and the start of the input', async () => {
    const yes = reviewer({ action: 'CONTINUE' })
    const { result } = await callTool(processTool(cat), 'hello', { reviewer: yes })
    expect(result).toEqual(success('{"input":"hello"}'))
    await callTool(processTool(cat), `${'x'.repeat(199)}😀`, { reviewer: yes })
    await callTool(
      processTool({ ...cat, input: CITY }),
      { city: 'Bonn', days: 2 },
      { reviewer: yes },
    )
    expect(asked.map(({ description }) => description)).toEqual([
      'Execute command: cat -u --\nInput: hello',
      `Execute command: cat -u --\nInput: ${'x'.repeat(199)}…`,
      'Execute command: cat -u --\nInput: {"city":"Bonn","days":2}',
    ])
  })

  it('A process tool that needs approval uses its own description and time limit', async () => {
    const tool = processTool({
      ...cat,
      requireApproval: { describe: (input) => `Send ${input}?`, timeoutMs: 7 },
    })
    await callTool(tool, 'mail', { reviewer: reviewer({ action: 'CONTINUE' }) })
    expect(asked.at(-1)).toMatchObject({ description: 'Send mail?', timeoutMs: 7 })
  })

  it('A process tool that needs approval shows the command line also when only the time limit is set', async () => {
    const tool = processTool({ ...cat, requireApproval: { timeoutMs: 7 } })
    await callTool(tool, 'mail', { reviewer: reviewer({ action: 'CONTINUE' }) })
    expect(asked.at(-1)).toMatchObject({
      description: 'Execute command: cat -u --\nInput: mail',
      timeoutMs: 7,
    })
  })

  it('A process tool that needs approval runs with the input that the reviewer has edited', async () => {
    const edit = reviewer({ action: 'EDIT', input: 'bye' })
    const { result } = await callTool(processTool(cat), 'hello', { reviewer: edit })
    expect(result).toEqual(success('{"input":"bye"}'))
  })

  it('A process tool that needs approval does not start the program after a rejection or without a reviewer', async () => {
    const tool = processTool({ ...cat, command: 'no-such-program-7' })
    const no = reviewer({ action: 'REJECT', feedback: 'not today' })
    expect((await callTool(tool, 'hello', { reviewer: no })).result).toEqual(
      failure('The reviewer rejected the call of "work": not today'),
    )
    expect((await callTool(tool, 'hello')).end).toBe('misconfigured')
  })

  it('A process tool that needs approval needs no approval when its body is called directly', async () => {
    expect(await processTool(cat).execute('hi', toolContext())).toEqual(success('{"input":"hi"}'))
  })
})
