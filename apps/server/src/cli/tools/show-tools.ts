/** Runs `tutti tools`. */
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines, printMessage } from '../../terminal/print.ts'
import { tableLines } from '../../terminal/table.ts'
import { schemaText } from './schema-text.ts'

import type { CommandContext } from '../command-context.ts'

const COLUMNS = [{ title: 'TOOL' }, { title: 'INPUT' }, { title: 'DESCRIPTION' }]

/** Lists the tools of the server. */
export async function showTools(
  options: TargetOptions & { readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const tools = await connectTo(options, context).tools.list()
  if (options.json === true) {
    printJson(tools, io)
  } else if (tools.length === 0) {
    printMessage('This server has no tools. Add them to "tools" in its config file', io)
  } else {
    const rows = tools.map(({ name, description, inputSchema = {} }) => [
      { text: name, style: 'bold' as const },
      { text: schemaText(inputSchema) },
      { text: description },
    ])
    printLines(tableLines(COLUMNS, rows), io)
  }
}
