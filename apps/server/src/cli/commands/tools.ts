/** `tutti tools`: the tools of a server, and calling one by hand. */
import { Option, type Command } from 'commander'

import { parseSeconds } from '../option-values.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { InvokeSettings } from '../tools/invoke-tool.ts'

/** How long a tool may take when nothing is said, in milliseconds. */
const TIMEOUT_MS = 600_000

const EXAMPLES = `
Values get the type that the schema of the tool asks for:
  tutti tools invoke to_fahrenheit celsius=21
  tutti tools invoke search query=tea sites=a.example sites=b.example
  tutti tools invoke search --input '{"query":"tea"}'`

/** Adds `tutti tools`. */
export function addToolsCommand(program: Command, context: CommandContext): void {
  const tools = program
    .command('tools')
    .description('list the tools of a server with their inputs, or call one')
    .option('--json', 'with whole schemas, as one JSON document')
  withTarget(tools).action(async (options: TargetOptions & { readonly json?: boolean }) => {
    const { showTools } = await import('../tools/show-tools.ts')
    await showTools(options, context)
  })
  const invoke = tools
    .command('invoke')
    .description('call a tool by hand; its output is the result, and its failure ends with 1')
    .argument('<name>', 'the tool')
    .argument('[pairs...]', 'its input, as key=value')
    .option('-i, --input <input>', 'the whole input: JSON, text, @file, or - for standard input')
    .addOption(
      new Option('--timeout <seconds>', 'how long it may take')
        .argParser(parseSeconds)
        .default(TIMEOUT_MS, '600'),
    )
    .option('--json', 'what the API says, as one JSON document')
    .addHelpText('after', EXAMPLES)
  withTarget(invoke).action(
    async (name: string, pairs: readonly string[], options: TargetOptions & InvokeSettings) => {
      const { invokeTool } = await import('../tools/invoke-tool.ts')
      await invokeTool({ name, pairs }, options, context)
    },
  )
}
