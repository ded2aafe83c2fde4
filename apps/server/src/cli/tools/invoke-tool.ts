/** Runs `tutti tools invoke`. */
import { suggest } from '@tutti/protocol/internal'

import { CommandError } from '../command-error.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printText, printMessage } from '../../terminal/print.ts'
import { readGiven } from '../submit/read-given.ts'
import { toolInput } from './tool-input.ts'

import type { TuttiClient } from '@tutti/client'
import type { InvokeToolBody } from '@tutti/protocol/internal'
import type { CommandContext } from '../command-context.ts'

/** Options of `tutti tools invoke`. */
export interface InvokeSettings {
  readonly input?: string
  /** Time limit of the call, in milliseconds. */
  readonly timeout: number
  readonly json?: boolean
}

/** Name of a tool, and its input as `key=value` arguments. */
export interface NamedTool {
  readonly name: string
  readonly pairs: readonly string[]
}

/** Calls a tool and prints its output. @throws {CommandError} USAGE when the arguments do not match the tool. */
export async function invokeTool(
  named: NamedTool,
  options: TargetOptions & InvokeSettings,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const client = connectTo(options, context)
  const input = await readInput(named, { client, given: options.input, io })
  const called = await client.tools.invoke(named.name, input, { timeoutMs: options.timeout })
  const { status, output = '', errorMessage = 'The tool failed without a message' } = called
  if (status === 'FAILED') context.exit = 'FAILED'
  if (options.json === true) printJson(called, io)
  else if (status === 'FAILED') printMessage(errorMessage, io)
  else printText(output, io)
}

interface Source {
  readonly client: TuttiClient
  readonly given: string | undefined
  readonly io: CommandContext['io']
}

async function readInput(
  { name, pairs }: NamedTool,
  { client, given, io }: Source,
): Promise<InvokeToolBody['input']> {
  if (given === undefined) {
    const tools = await client.tools.list()
    const tool = tools.find((known) => known.name === name)
    if (tool === undefined) throw unknownTool(name, tools)
    return toolInput(pairs, tool.inputSchema ?? {})
  }
  if (pairs.length > 0) {
    throw new CommandError('USAGE', 'Specify the input either as key=value or with --input')
  }
  // The server parses the text if the tool takes an object.
  return readGiven(given, io)
}

function unknownTool(name: string, tools: readonly { readonly name: string }[]): CommandError {
  const near = suggest(
    name,
    tools.map((tool) => tool.name),
  )
  const hint = near === undefined ? '' : `. Did you mean "${near}"?`
  return new CommandError('REFUSED', `Unknown tool "${name}"${hint}`, [
    'List the tools of this server: tutti tools',
  ])
}
