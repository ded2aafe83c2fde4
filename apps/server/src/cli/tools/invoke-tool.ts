/** What `tutti tools invoke` does. */
import { suggest } from '@tutti/protocol'

import { CommandError } from '../command-error.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printText, say } from '../text/print.ts'
import { readGiven } from '../text/read-given.ts'
import { toolInput } from './tool-input.ts'

import type { TuttiClient } from '@tutti/client'
import type { InvokeToolBody } from '@tutti/protocol'
import type { CommandContext } from '../command-context.ts'

/** Settings of a call. */
export interface InvokeSettings {
  readonly input?: string
  /** In milliseconds. */
  readonly timeout: number
  readonly json?: boolean
}

/** The tool, and its input as words. */
export interface AskedTool {
  readonly name: string
  readonly pairs: readonly string[]
}

/** Calls a tool. @throws {CommandError} USAGE when the words do not fit the tool. */
export async function invokeTool(
  asked: AskedTool,
  options: TargetOptions & InvokeSettings,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const client = connectTo(options, context)
  const input = await inputOf(asked, { client, given: options.input, io })
  const called = await client.tools.invoke(asked.name, input, { timeoutMs: options.timeout })
  const { status, output = '', errorMessage = 'The tool has failed, and does not say why' } = called
  if (status === 'FAILED') context.exit = 'FAILED'
  if (options.json === true) printJson(called, io)
  else if (status === 'FAILED') say(errorMessage, io)
  else printText(output, io)
}

interface Source {
  readonly client: TuttiClient
  readonly given: string | undefined
  readonly io: CommandContext['io']
}

async function inputOf(
  { name, pairs }: AskedTool,
  { client, given, io }: Source,
): Promise<InvokeToolBody['input']> {
  if (given === undefined) {
    const tools = await client.tools.list()
    const tool = tools.find((known) => known.name === name)
    if (tool === undefined) throw unknownTool(name, tools)
    return toolInput(pairs, tool.inputSchema ?? {})
  }
  if (pairs.length > 0) {
    throw new CommandError('USAGE', 'Give the input either as key=value or with --input')
  }
  // The server knows whether the tool takes text or an object, which it reads from the text.
  return readGiven(given, io)
}

function unknownTool(name: string, tools: readonly { readonly name: string }[]): CommandError {
  const near = suggest(
    name,
    tools.map((tool) => tool.name),
  )
  const question = near === undefined ? '' : `; did you mean "${near}"?`
  return new CommandError('REFUSED', `The server has no tool "${name}"${question}`, [
    'Its tools: tutti tools',
  ])
}
