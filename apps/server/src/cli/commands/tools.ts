/** `tutti tools`: lists the tools of a server and calls one. */
import { Option, type Command } from 'commander'

import { parseSeconds } from '../option-values.ts'
import { rejectUnknownSubcommands } from '../subcommands.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { InvokeSettings } from '../tools/invoke-tool.ts'

/** Default time limit of a call, in milliseconds. */
const TIMEOUT_MS = 600_000

const EXAMPLES = `
Values are converted to the types in the schema of the tool:
  tutti tools invoke to_fahrenheit celsius=21
  tutti tools invoke search query=tea sites=a.example sites=b.example
  tutti tools invoke search --input '{"query":"tea"}'`

/** Adds `tutti tools`. */
export function addToolsCommand(program: Command, context: CommandContext): void {
  const tools = program
    .command('tools')
    .description('list the tools of a server with their inputs, or call one')
    .option('--json', 'print the tools with their complete schemas as one JSON document')
  withTarget(tools).action(async (options: TargetOptions & { readonly json?: boolean }) => {
    const { showTools } = await import('../tools/show-tools.ts')
    await showTools(options, context)
  })
  const invoke = tools
    .command('invoke')
    .description('call a tool and print its output; exits with 1 if the tool fails')
    .argument('<name>', 'name of the tool')
    .argument('[pairs...]', 'input of the tool, as key=value')
    .option('-i, --input <input>', 'complete input: JSON, text, @file, or - for standard input')
    .addOption(
      new Option('--timeout <seconds>', 'time limit of the call')
        .argParser(parseSeconds)
        .default(TIMEOUT_MS, '600'),
    )
    .option('--json', 'print the API response as one JSON document')
    .addHelpText('after', EXAMPLES)
  withTarget(invoke).action(
    async (name: string, pairs: readonly string[], options: TargetOptions & InvokeSettings) => {
      const { invokeTool } = await import('../tools/invoke-tool.ts')
      await invokeTool({ name, pairs }, options, context)
    },
  )
  rejectUnknownSubcommands(tools)
}
