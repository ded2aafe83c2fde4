/** Tests that the output of a failed program reaches the model. */
import { describe, expect, it } from 'vitest'

import { callTool } from '../../test/call-tool.ts'
import { processTool } from './process-tool.ts'

const shell = (script: string, more: { readonly timeoutMs?: number } = {}) =>
  processTool({
    name: 'p',
    description: 'd',
    command: '/bin/sh',
    args: ['-c', script],
    killGraceMs: 0,
    ...more,
  })

describe('the failure of a program', () => {
  it.each([
    [
      'only stdout',
      'echo "a.ts: error TS2304"; exit 2',
      'Process exited with code 2: a.ts: error TS2304',
    ],
    ['only stderr', 'echo oops >&2; exit 2', 'oops'],
    ['stdout and stderr', 'echo found; echo oops >&2; exit 1', 'oops\nfound'],
    ['nothing', 'exit 2', 'Process exited with code 2'],
    ['blank lines', 'echo; echo >&2; exit 2', 'Process exited with code 2'],
    ['stdout before a signal', 'echo half; kill -9 $$', 'Process was killed by SIGKILL: half'],
    [
      'both before a signal',
      'echo half; echo oops >&2; kill -9 $$',
      'Process was killed by SIGKILL: oops\nhalf',
    ],
    ['the protocol', `echo '{"success":false,"error":"disk full"}'; exit 1`, 'disk full'],
    [
      'the protocol and stderr',
      `echo '{"success":false,"error":"disk full"}'; echo oops >&2; exit 1`,
      'oops\ndisk full',
    ],
    ['a success of the protocol', `echo '{"output":"ok"}'; exit 1`, 'Process exited with code 1'],
    [
      'other JSON',
      `echo '{"errors":["TS2304"]}'; exit 1`,
      'Process exited with code 1: {"errors":["TS2304"]}',
    ],
  ])('The failure of a program that has printed %s contains it', async (_, script, message) => {
    const { result } = await callTool(shell(script))
    expect(result).toMatchObject({ success: false, errorMessage: message })
  })

  it('The failure of a program contains at most `maxOutputBytes` of each stream', async () => {
    const args = ['-c', 'head -c 50000 /dev/zero | tr "\\0" a; exit 1']
    const tool = processTool({
      name: 'p',
      description: 'd',
      command: 'sh',
      args,
      maxOutputBytes: 100,
    })
    const { result } = await callTool(tool)
    expect(result.errorMessage).toBe(
      `Process exited with code 1: ${'a'.repeat(100)}\n[output truncated at 100 bytes]`,
    )
  })

  it('The failure of a program contains the value of the protocol', async () => {
    const { result } = await callTool(
      shell(`echo '{"success":false,"error":"x","structured":{"code":5}}'; exit 1`),
    )
    expect(result.structured).toEqual({ code: 5 })
  })

  it('The failure of a program contains the output before its time ran out', async () => {
    const { result, end } = await callTool(
      shell('echo compiling; echo slow >&2; sleep 300', { timeoutMs: 1_500 }),
    )
    expect(end).toBe('timed_out')
    expect(result.errorMessage).toBe(
      'Tool "p" timed out after 1500 ms. Output until then:\nslow\ncompiling',
    )
  })

  it('The failure of a program names the program without its path', async () => {
    const tool = shell('echo half; exec sleep 300')
    const controller = new AbortController()
    const running = callTool(tool, '', { signal: controller.signal })
    await tool.close()
    expect((await running).result.errorMessage).toMatch(/^Process "sh" was ended: Tool is closed/)
  })
})
